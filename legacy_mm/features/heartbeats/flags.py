"""Flags of heartbeats, and their settings."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.option import Option, boolean
from legacy_mm.features.flag import Flag, Relation, replication_factor, seconds, switch
from legacy_mm.features.flag_values import FlagValues

_OWNER = "legacy_mm.features.heartbeats.emitter"


FLAGS = (
    Flag(
        switch(
            "emit.heartbeats.enabled",
            "A record in the target's topic heartbeats says again and again that this flow is alive. "
            "(MirrorMaker 2: true.)",
            _OWNER,
        ),
        synonyms=("emit.heartbeats",),
        needs=(Relation("source.cluster.alias", "a heartbeat says which flow it is of"),),
        rights=(
            "Read and DescribeConfigs on the topics of heartbeats",
            "Create on the cluster or on topic heartbeats, Write on topic heartbeats",
        ),
        step=7,
        changes="topic heartbeats appears at the target, and the source's heartbeats topics are mirrored under its "
        "alias; they stay",
    ),
    Flag(seconds("emit.heartbeats.interval.seconds", 1, "Between two heartbeats.", _OWNER)),
    Flag(replication_factor("heartbeats", _OWNER)),
    Flag(
        Option(
            "heartbeats.replication.enabled",
            "false",
            "true|false",
            "The source's heartbeats topics, copies of copies too (their names end with .heartbeats), are mirrored "
            "whatever the pattern says, under the source's alias; where this is not given, as emit.heartbeats.enabled. "
            "(MirrorMaker 2: true.)",
            "legacy_mm.flow.flow_topics",
            type=boolean,
        ),
        synonyms=("heartbeats.replication",),
        needs=(Relation("source.cluster.alias", "the copies' names begin with it"),),
    ),
)


@dataclass(frozen=True, slots=True)
class HeartbeatSettings:
    """A record in the target's topic of heartbeats says that the flow is alive; or those of the source are mirrored."""

    interval: float | None
    """Between two heartbeats; None: none are emitted."""
    replication_factor: int
    """-1: as the target's brokers have it."""
    replicated: bool = False
    """The source's heartbeats topics are mirrored whatever the pattern says."""


def imply(values: FlagValues) -> None:
    """Mirror the source's heartbeats where heartbeats are emitted, unless a flag says otherwise."""
    if not values.given("heartbeats.replication.enabled"):
        values["heartbeats.replication.enabled"] = values["emit.heartbeats.enabled"]


def read(values: FlagValues) -> HeartbeatSettings | None:
    """Return the settings, or None if the feature is off."""
    emitted, replicated = values["emit.heartbeats.enabled"], values["heartbeats.replication.enabled"]
    if not emitted and not replicated:
        return None
    return HeartbeatSettings(
        values.seconds("emit.heartbeats") if emitted else None,
        values["heartbeats.topic.replication.factor"],
        replicated=replicated,
    )
