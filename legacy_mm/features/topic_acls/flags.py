"""Flags of the sync of access rules, and their settings."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.features.flag import Flag, Relation, seconds, switch
from legacy_mm.features.flag_values import FlagValues

_OWNER = "legacy_mm.features.topic_acls.acl_sync"
FLAGS = (
    Flag(
        switch("sync.topic.acls.enabled", "Bring access rules for source topics over to their copies.", _OWNER),
        synonyms=("sync.topic.acls",),
        rights=("Describe on the cluster", "Describe and Alter on the cluster"),
        step=4,
        changes="access rules appear at the target; they stay",
    ),
    Flag(seconds("sync.topic.acls.interval.seconds", 600, "Between two comparisons.", _OWNER)),
    Flag(
        switch("sync.topic.acls.prefixed", "Also rules for prefixes of topic names.", _OWNER),
        needs=(Relation("sync.topic.acls.enabled", "it says which rules that brings over"),),
    ),
    Flag(
        switch(
            "sync.topic.acls.remove",
            "Rules that this mirror has added go when the source has them no more; it keeps a file of them.",
            _OWNER,
        ),
        needs=(Relation("sync.topic.acls.enabled", "it says which rules were added"),),
    ),
)


@dataclass(frozen=True, slots=True)
class AclSyncSettings:
    """Access rules for topics are brought over again and again."""

    interval: float
    prefixed: bool = False
    """Also rules for prefixes of names."""
    remove: bool = False
    """Rules that we made and that the source has no more are removed."""


def read(values: FlagValues) -> AclSyncSettings | None:
    """Return the settings, or None if the feature is off."""
    if not values["sync.topic.acls.enabled"]:
        return None
    return AclSyncSettings(
        values.seconds("sync.topic.acls"),
        prefixed=values["sync.topic.acls.prefixed"],
        remove=values["sync.topic.acls.remove"],
    )
