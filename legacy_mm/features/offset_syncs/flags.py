"""Flags of offset syncs, and their settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from legacy_mm.base.option import Option, whole_number
from legacy_mm.features.flag import Flag, Relation, replication_factor, switch
from legacy_mm.features.flag_values import FlagValues

_OWNER = "legacy_mm.features.offset_syncs.writer"


FLAGS = (
    Flag(
        switch(
            "emit.offset-syncs.enabled",
            "Pairs of offsets, a record's at the source and its copy's at the target, are written down for those who "
            "translate offsets. (MirrorMaker 2: true.)",
            _OWNER,
        ),
        synonyms=("emit.offset-syncs",),
        needs=(
            Relation("preserve.partitions", "the records of a partition must stay in one partition"),
            Relation("source.cluster.alias", "names of topics tell whose offsets they hold"),
            Relation("target.cluster.alias", "two targets of one source must not share them", by_name=True),
        ),
        rights=(
            "Create on the cluster or on topics mm2-offset-syncs.TARGET.internal and mm2-offset-map.TARGET.internal, "
            "Write on both, Read on the map",
            "with offset-syncs.topic.location=target, and not at the source: Create on the cluster or on topics "
            "mm2-offset-syncs.SOURCE.internal and mm2-offset-map.SOURCE.internal, Write on both, Read on the map",
        ),
        step=8,
        changes="a topic of offset syncs and a map of offsets appear where offset-syncs.topic.location says; they stay",
    ),
    Flag(
        Option(
            "offset-syncs.topic.location",
            "source",
            "cluster",
            "Where the topic of offset syncs is: source or target.",
            _OWNER,
            choices=("source", "target"),
        )
    ),
    Flag(replication_factor("offset-syncs", _OWNER)),
    Flag(
        Option(
            "offset.lag.max",
            "100",
            "number",
            "The most records of a partition between two offset syncs; 0: one for each record.",
            _OWNER,
            type=whole_number,
        )
    ),
)


@dataclass(frozen=True, slots=True)
class OffsetSyncSettings:
    """Pairs of offsets, a record's at the source and its copy's at the target, are written to a topic."""

    location: Literal["source", "target"]
    """The cluster that has the topic."""
    replication_factor: int
    """-1: as that cluster's brokers have it."""
    lag_max: int
    """The most records of a partition between two pairs."""


def read(values: FlagValues) -> OffsetSyncSettings | None:
    """Return the settings, or None if the feature is off."""
    if not values["emit.offset-syncs.enabled"]:
        return None
    return OffsetSyncSettings(
        values["offset-syncs.topic.location"],
        values["offset-syncs.topic.replication.factor"],
        values["offset.lag.max"],
    )
