"""Flags of checkpoints and of the offsets of groups, and their settings."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.option import Option, boolean, split_list
from legacy_mm.features.flag import Flag, Relation, replication_factor, seconds, switch
from legacy_mm.features.flag_values import FlagValues

_OWNER = "legacy_mm.features.checkpoints.rounds"


_GROUPS = "legacy_mm.features.checkpoints.target_groups"


FLAGS = (
    Flag(
        switch(
            "emit.checkpoints.enabled",
            "Offsets of the source's groups are translated and written down at the target. (MirrorMaker 2: true.)",
            _OWNER,
        ),
        synonyms=("emit.checkpoints",),
        needs=(Relation("emit.offset-syncs.enabled", "offsets are translated by them"),),
        rights=(
            "Describe on the groups and on the topics; Read on the topic of offset syncs",
            "Create on the cluster or on topic SOURCE.checkpoints.internal, Read and Write on that topic",
        ),
        step=9,
        changes="topic SOURCE.checkpoints.internal appears at the target; it stays",
    ),
    Flag(seconds("emit.checkpoints.interval.seconds", 60, "Between two looks at the groups' offsets.", _OWNER)),
    Flag(replication_factor("checkpoints", _OWNER)),
    Flag(
        Option(
            "groups",
            ".*",
            "pattern,...",
            "Java patterns; only groups of the source that match one of them have checkpoints.",
            _OWNER,
        )
    ),
    Flag(
        Option(
            "groups.exclude",
            "console-consumer-.*, connect-.*, __.*",
            "pattern,...",
            "Java patterns; groups that match one of them have none.",
            _OWNER,
        ),
        synonyms=("groups.blacklist",),
    ),
    Flag(
        Option(
            "refresh.groups.enabled",
            "true",
            "true|false",
            "With emit.checkpoints.enabled: look again for new groups.",
            _OWNER,
            type=boolean,
        ),
        synonyms=("refresh.groups",),
    ),
    Flag(seconds("refresh.groups.interval.seconds", 600, "Between two such looks.", _OWNER)),
    Flag(
        switch(
            "sync.group.offsets.enabled",
            "Groups without members at the target get the translated offsets, and never go back.",
            _GROUPS,
        ),
        synonyms=("sync.group.offsets",),
        needs=(Relation("emit.checkpoints.enabled", "they are the offsets that are brought over"),),
        rights=("", "Describe and Read on the groups, Read on the topics"),
        step=10,
        changes="groups appear at the target, and their offsets move; they stay",
    ),
    Flag(seconds("sync.group.offsets.interval.seconds", 60, "Between two comparisons.", _GROUPS)),
)


@dataclass(frozen=True, slots=True)
class GroupFilterSettings:
    """The groups of the source that have checkpoints."""

    include: tuple[str, ...]
    """Java regular expressions; an id must match one of them as a whole."""
    exclude: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckpointSettings:
    """Offsets of the source's groups are translated and written to a topic of the target."""

    interval: float
    replication_factor: int
    """-1: as the target's brokers have it."""
    groups: GroupFilterSettings
    refresh_interval: float | None
    """Between two looks for groups; None: only one at the start."""
    sync_interval: float | None
    """Between two comparisons with the groups at the target, which follow; None: they do not."""


def read(values: FlagValues) -> CheckpointSettings | None:
    """Return the settings, or None if the feature is off."""
    if not values["emit.checkpoints.enabled"]:
        return None
    refreshes, syncs = values["refresh.groups.enabled"], values["sync.group.offsets.enabled"]
    return CheckpointSettings(
        values.seconds("emit.checkpoints"),
        values["checkpoints.topic.replication.factor"],
        GroupFilterSettings(split_list(values["groups"]), values.extended("groups.exclude")),
        refresh_interval=values.seconds("refresh.groups") if refreshes else None,
        sync_interval=values.seconds("sync.group.offsets") if syncs else None,
    )
