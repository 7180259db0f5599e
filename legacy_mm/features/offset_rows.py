"""Flags for consumers that go on at the other cluster: heartbeats, offset syncs, checkpoints, offsets of groups."""

from __future__ import annotations

from legacy_mm.config.option import Option, boolean, count_or_default, whole_number
from legacy_mm.features.feature import Feature, Relation, seconds, switch

_HEARTBEATS = "legacy_mm.features.heartbeats.emitter"
_SYNCS = "legacy_mm.features.offset_syncs.writer"
_CHECKPOINTS = "legacy_mm.features.checkpoints.rounds"
_GROUP_SYNC = "legacy_mm.features.checkpoints.target_groups"


def _replication_factor(topic: str, owner: str) -> Option:
    return Option(
        f"{topic}.topic.replication.factor",
        "-1",
        "number",
        f"Of the topic of {topic}; -1 is what the brokers have. (MirrorMaker 2 has 3.)",
        owner,
        type=count_or_default,
    )


_HEARTBEAT_ROWS = (
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
            "Read and DescribeConfigs on the topics of heartbeats",
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
            "The source's heartbeats topics, copies of copies too (their names end with .heartbeats), are mirrored "
            "whatever the pattern says, under the source's alias; where this is not given, as emit.heartbeats.enabled. "
            "(MirrorMaker 2: true.)",
            "legacy_mm.flow.names",
            type=boolean,
        ),
        synonyms=("heartbeats.replication",),
        needs=(Relation("source.cluster.alias", "the copies' names begin with it"),),
    ),
)
_SYNC_ROWS = (
    Feature(
        switch(
            "emit.offset-syncs.enabled",
            "Pairs of offsets, a record's at the source and its copy's at the target, are written down for those who "
            "translate offsets. (MirrorMaker 2: true.)",
            _SYNCS,
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
    Feature(
        Option(
            "offset-syncs.topic.location",
            "source",
            "cluster",
            "Where the topic of offset syncs is: source or target.",
            _SYNCS,
            choices=("source", "target"),
        )
    ),
    Feature(_replication_factor("offset-syncs", _SYNCS)),
    Feature(
        Option(
            "offset.lag.max",
            "100",
            "number",
            "The most records of a partition between two offset syncs; 0: one for each record.",
            _SYNCS,
            type=whole_number,
        )
    ),
)
_CHECKPOINT_ROWS = (
    Feature(
        switch(
            "emit.checkpoints.enabled",
            "Offsets of the source's groups are translated and written down at the target. (MirrorMaker 2: true.)",
            _CHECKPOINTS,
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
    Feature(
        seconds("emit.checkpoints.interval.seconds", 60, "Between two looks at the groups' offsets.", _CHECKPOINTS)
    ),
    Feature(_replication_factor("checkpoints", _CHECKPOINTS)),
    Feature(
        Option(
            "groups",
            ".*",
            "pattern,...",
            "Java patterns; only groups of the source that match one of them have checkpoints.",
            _CHECKPOINTS,
        )
    ),
    Feature(
        Option(
            "groups.exclude",
            "console-consumer-.*, connect-.*, __.*",
            "pattern,...",
            "Java patterns; groups that match one of them have none.",
            _CHECKPOINTS,
        ),
        synonyms=("groups.blacklist",),
    ),
    Feature(
        Option(
            "refresh.groups.enabled",
            "true",
            "true|false",
            "With emit.checkpoints.enabled: look again for new groups.",
            _CHECKPOINTS,
            type=boolean,
        ),
        synonyms=("refresh.groups",),
    ),
    Feature(seconds("refresh.groups.interval.seconds", 600, "Between two such looks.", _CHECKPOINTS)),
    Feature(
        switch(
            "sync.group.offsets.enabled",
            "Groups without members at the target get the translated offsets, and never go back.",
            _GROUP_SYNC,
        ),
        synonyms=("sync.group.offsets",),
        needs=(Relation("emit.checkpoints.enabled", "they are the offsets that are brought over"),),
        rights=("", "Describe and Read on the groups, Read on the topics"),
        step=10,
        changes="groups appear at the target, and their offsets move; they stay",
    ),
    Feature(seconds("sync.group.offsets.interval.seconds", 60, "Between two comparisons.", _GROUP_SYNC)),
)
OFFSET_FEATURES = (*_HEARTBEAT_ROWS, *_SYNC_ROWS, *_CHECKPOINT_ROWS)
