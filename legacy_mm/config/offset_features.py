"""Flags for those who move from one cluster to the other: heartbeats."""

from __future__ import annotations

from legacy_mm.config.feature import Feature, Relation, seconds, switch
from legacy_mm.config.option import Option, boolean, count_or_default

_HEARTBEATS = "legacy_mm.controlplane.heartbeats"


def _replication_factor(topic: str, owner: str) -> Option:
    return Option(
        f"{topic}.topic.replication.factor",
        "-1",
        "number",
        f"Of the topic of {topic}; -1 is what the brokers have. (MirrorMaker 2 has 3.)",
        owner,
        type=count_or_default,
    )


HEARTBEATS = (
    Feature(
        switch(
            "emit.heartbeats.enabled",
            "A record in the target's topic heartbeats says again and again that this flow is alive. "
            "(MirrorMaker 2: true.)",
            _HEARTBEATS,
        ),
        synonyms=("emit.heartbeats",),
        needs=(Relation("source.cluster.alias", "a heartbeat says which flow it is of"),),
        rights=(
            "Read on the topics of heartbeats",
            "Create on the cluster or on topic heartbeats, Write on topic heartbeats",
        ),
        step=7,
        changes="topic heartbeats appears at the target, and the source's heartbeats topics are mirrored under its "
        "alias; they stay",
    ),
    Feature(seconds("emit.heartbeats.interval.seconds", 1, "Between two heartbeats.", _HEARTBEATS)),
    Feature(_replication_factor("heartbeats", _HEARTBEATS)),
    Feature(
        Option(
            "heartbeats.replication.enabled",
            "false",
            "true|false",
            "The source's heartbeats topics, copies of copies too, are mirrored whatever the pattern says, under the "
            "source's alias; where this is not given, as emit.heartbeats.enabled. (MirrorMaker 2: true.)",
            "legacy_mm.features",
            type=boolean,
        ),
        synonyms=("heartbeats.replication",),
        needs=(Relation("source.cluster.alias", "the copies' names begin with it"),),
    ),
)
