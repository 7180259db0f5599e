"""Flags of exactly once, and their settings."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.option import Option, boolean, positive_number
from legacy_mm.features.flag import Flag, switch
from legacy_mm.features.flag_values import FlagValues

_OWNER = "legacy_mm.transactions.transactional_delivery"


FLAGS = (
    Flag(
        switch(
            "exactly.once",
            "A read_committed reader of the target sees each committed source record once and in order, whatever is "
            "killed or cut; readers must set isolation.level=read_committed.",
            _OWNER,
        ),
        synonyms=("transaction.producer",),
        rights=(
            "Describe on the group",
            "Write and Describe on transactional ids that begin with legacy-mm.; Create, Describe, DescribeConfigs, "
            "Read and Write on topics that begin with legacy-mm-positions.",
        ),
        step=11,
        changes="a compacted topic of positions appears at the target, records there belong to transactions, and their "
        "markers take offsets; its members join the group under a protocol of their own",
    ),
    Flag(
        Option(
            "exactly.once.interval.ms",
            "1000",
            "ms",
            "How long a transaction takes records before it is committed; so far are read_committed readers behind.",
            _OWNER,
            type=positive_number,
        )
    ),
    Flag(
        Option(
            "exactly.once.transaction.timeout.ms",
            "60000",
            "ms",
            "After so long the target's coordinator gives an open transaction up; it must be longer than a broker may "
            "keep a follower in the ISR (replica.lag.time.max.ms), and at most transaction.max.timeout.ms.",
            _OWNER,
            type=positive_number,
        )
    ),
    Flag(
        Option(
            "exactly.once.on.gap",
            "stop",
            "what",
            "What to do when source offsets cannot be read any more: stop ends with 255, go-on commits the jump.",
            "legacy_mm.controlplane.positions",
            choices=("stop", "go-on"),
        )
    ),
    Flag(
        Option(
            "exactly.once.old.brokers",
            "false",
            "true|false",
            "Also start with a target before Kafka 2.5, on which exactly once is not tested.",
            "legacy_mm.transactions.start_refusals",
            type=boolean,
        )
    ),
)


@dataclass(frozen=True, slots=True)
class ExactlyOnceFlags:
    """Exactly once is on. Times are seconds."""

    interval: float
    transaction_timeout: float
    stops_at_gap: bool
    old_brokers: bool


def read(values: FlagValues) -> ExactlyOnceFlags | None:
    """Return the settings, or None if the feature is off."""
    if not values["exactly.once"]:
        return None
    return ExactlyOnceFlags(
        interval=values["exactly.once.interval.ms"] / 1000,
        transaction_timeout=values["exactly.once.transaction.timeout.ms"] / 1000,
        stops_at_gap=values["exactly.once.on.gap"] == "stop",
        old_brokers=values["exactly.once.old.brokers"],
    )
