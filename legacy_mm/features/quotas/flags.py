"""Flags of the sync of client quotas, and their settings."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.features.flag import Flag, seconds, switch
from legacy_mm.features.flag_values import FlagValues

_OWNER = "legacy_mm.features.quotas.quota_sync"
FLAGS = (
    Flag(
        switch(
            "sync.quotas.enabled",
            "Bring client quotas over to the target, and name SCRAM users that it lacks: nobody can read their "
            "passwords. Quotas of the mirror's own clients are left out.",
            _OWNER,
        ),
        rights=(
            "DescribeConfigs and Describe on the cluster",
            "DescribeConfigs, AlterConfigs and Describe on the cluster",
        ),
        step=12,
        changes="quotas of users, client ids and addresses appear at the target, or get the source's value; they stay",
    ),
    Flag(seconds("sync.quotas.interval.seconds", 600, "Between two comparisons.", _OWNER)),
)


@dataclass(frozen=True, slots=True)
class QuotaSyncSettings:
    """Client quotas are brought over again and again."""

    interval: float


def read(values: FlagValues) -> QuotaSyncSettings | None:
    """Return the settings, or None if the feature is off."""
    return QuotaSyncSettings(values.seconds("sync.quotas")) if values["sync.quotas.enabled"] else None
