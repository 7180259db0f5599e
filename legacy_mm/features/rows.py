"""The feature flags: one row each, with MirrorMaker 2's names, what they need and what they exclude.

A flag is given on the command line, in the environment, in `--features.config`, in the producer file or in the
consumer file; the first of these that has it decides. `feature_flags.py` makes `FeatureSettings` of the outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from legacy_mm.config.option import Option, boolean, count_or_default
from legacy_mm.features.feature import Feature, Relation, seconds, switch
from legacy_mm.features.offset_rows import OFFSET_FEATURES

DEFAULT_EXCLUDE = (
    r"follower\.replication\.throttled\.replicas",
    r"leader\.replication\.throttled\.replicas",
    r"message\.timestamp\.difference\.max\.ms",
    r"message\.timestamp\.type",
    r"unclean\.leader\.election\.enable",
    r"min\.insync\.replicas",
)
"""`config.properties.exclude` where it is not set."""
_CREATION = "legacy_mm.features.topic_creation.creation"
_CONFIGS = "legacy_mm.features.topic_configs.config_sync"
_ACLS = "legacy_mm.features.topic_acls.acl_sync"
_NAMING = "legacy_mm.policies.topic_naming"
_ALIAS = Relation("source.cluster.alias", "the names at the target begin with it")

FEATURES = (
    Feature(
        switch(
            "preserve.partitions",
            "A record goes to the partition it has at the source, not to the one its key says.",
            "legacy_mm.dataplane.routes",
        ),
        step=1,
        changes="records arrive in the partition of their source; where the target has fewer partitions the mirror "
        "ends with an error",
    ),
    Feature(
        switch(
            "topic.creation",
            "Missing target topics are created with the source's partitions and configuration, and grow with it; "
            "implies preserve.partitions.",
            _CREATION,
        ),
        rights=("DescribeConfigs on the topics", "Create on the cluster or the topics, Alter on the topics"),
        step=2,
        changes="topics and partitions appear at the target; they stay",
    ),
    Feature(
        Option(
            "replication.factor",
            "-1",
            "number",
            "Of topics that topic.creation makes; -1 is what the target's brokers have. (MirrorMaker 2 has 2.)",
            _CREATION,
            type=count_or_default,
        )
    ),
    Feature(
        Option(
            "topic.creation.fewer.partitions",
            "grow",
            "reaction",
            "A target topic with fewer partitions than its source: grow adds them, refuse ends the mirror.",
            _CREATION,
            choices=("grow", "refuse"),
        )
    ),
    Feature(
        Option(
            "refresh.topics.enabled",
            "true",
            "true|false",
            "With topic.creation: look again for new topics and partitions. What the legacy tool does by itself, "
            "finding topics that match, goes on in any case.",
            _CREATION,
            type=boolean,
        ),
        synonyms=("refresh.topics",),
    ),
    Feature(seconds("refresh.topics.interval.seconds", 600, "Between two such looks.", _CREATION)),
    Feature(
        switch(
            "sync.topic.configs.enabled", "Bring the configuration of source topics over to their copies.", _CONFIGS
        ),
        synonyms=("sync.topic.configs",),
        rights=("DescribeConfigs on the topics", "DescribeConfigs and AlterConfigs on the topics"),
        step=3,
        changes="properties of target topics follow the source's; the last values stay",
    ),
    Feature(seconds("sync.topic.configs.interval.seconds", 600, "Between two comparisons.", _CONFIGS)),
    Feature(
        Option(
            "config.properties.exclude",
            ",".join(DEFAULT_EXCLUDE),
            "pattern,...",
            "Topic properties that are not brought over.",
            _CONFIGS,
        ),
        synonyms=("config.properties.blacklist",),
    ),
    Feature(
        Option(
            "use.defaults.from",
            "target",
            "cluster",
            "Whose defaults a property has that the source topic does not set: target or source.",
            _CONFIGS,
        )
    ),
    Feature(
        switch("sync.topic.acls.enabled", "Bring access rules for source topics over to their copies.", _ACLS),
        synonyms=("sync.topic.acls",),
        rights=("Describe on the cluster", "Describe and Alter on the cluster"),
        step=4,
        changes="access rules appear at the target; they stay",
    ),
    Feature(seconds("sync.topic.acls.interval.seconds", 600, "Between two comparisons.", _ACLS)),
    Feature(
        switch("sync.topic.acls.prefixed", "Also rules for prefixes of topic names.", _ACLS),
        needs=(Relation("sync.topic.acls.enabled", "it says which rules that brings over"),),
    ),
    Feature(
        switch(
            "sync.topic.acls.remove",
            "Rules that this mirror has added go when the source has them no more; it keeps a file of them.",
            _ACLS,
        ),
        needs=(Relation("sync.topic.acls.enabled", "it says which rules were added"),),
    ),
    Feature(
        switch(
            "rename.topics",
            "Names at the target begin with the source's alias: DefaultReplicationPolicy.",
            _NAMING,
        ),
        needs=(
            _ALIAS,
            Relation("target.cluster.alias", "only that name tells which topics come back from there", by_name=True),
        ),
        step=5,
        changes="new topics appear under the new names and begin where the group stands; the old copies stay",
    ),
    Feature(
        switch(
            "detect.loops",
            "Records carry a header, mirror.path, with the aliases they have passed; one that comes back where it was "
            "ends the mirror. For mirrors in both directions that keep names.",
            "legacy_mm.handlers.built_in",
        ),
        needs=(
            Relation("source.cluster.alias", "it stands in the path"),
            Relation("target.cluster.alias", "a path with it in it is a circle", by_name=True),
        ),
        step=6,
        changes="records at the target have one header more; they are copied one by one, which is slower",
    ),
    *OFFSET_FEATURES,
    Feature(Option("source.cluster.alias", "", "alias", "What the source is called in names.", _NAMING)),
    Feature(Option("target.cluster.alias", "target", "alias", "What the target is called in names.", _NAMING)),
    Feature(
        Option(
            "replication.policy.class",
            "LegacyReplicationPolicy",
            "class",
            "How topics are called at the target: LegacyReplicationPolicy, IdentityReplicationPolicy or "
            "DefaultReplicationPolicy, with Java's packages or without, or module:Class in Python.",
            _NAMING,
        ),
    ),
    Feature(Option("replication.policy.separator", ".", "text", "Between an alias and a name.", _NAMING)),
    Feature(
        Option(
            "replication.policy.internal.topic.separator.enabled",
            "true",
            "true|false",
            "false: MirrorMaker 2's own topics keep their dots.",
            _NAMING,
            type=boolean,
        )
    ),
    Feature(
        Option(
            "mm2.compatibility",
            "3.9",
            "release",
            "Which topics count as internal: as in MirrorMaker 2 of 3.9, or of 4 and later.",
            _NAMING,
            choices=("3.9", "4"),
        )
    ),
    Feature(
        Option(
            "topics",
            "",
            "pattern,...",
            "Java patterns; only topics that match one of them, and the old pattern, are mirrored.",
            "legacy_mm.policies.topic_filter",
        )
    ),
    Feature(
        Option(
            "topics.exclude",
            "",
            "pattern,...",
            "Java patterns; topics that match one of them are not mirrored.",
            "legacy_mm.policies.topic_filter",
        ),
        synonyms=("topics.blacklist",),
    ),
    Feature(
        Option(
            "feature.topics",
            "",
            "pattern",
            "A Java pattern: features concern only the source topics that match (canary).",
            "legacy_mm.policies.topic_choice",
        )
    ),
    Feature(
        Option(
            "source.admin",
            None,
            "name=value",
            "A Java property over the consumer file's, for clients of the features; also --source.admin.NAME=VALUE.",
            "legacy_mm.clients.librdkafka.admin",
            repeated=True,
        ),
        synonyms=("admin",),
    ),
    Feature(
        Option(
            "target.admin",
            None,
            "name=value",
            "The same for the producer file.",
            "legacy_mm.clients.librdkafka.admin",
            repeated=True,
        ),
        synonyms=("remote.admin",),
    ),
)
BY_NAME: Mapping[str, Feature] = {name: row for row in FEATURES for name in (row.name, *row.synonyms)}
"""Every spelling."""

_REASONS: Mapping[str, str] = {
    "readahead.queue.capacity": "the consumer always works ahead of the producer, as far as buffer.memory allows",
    "tasks.max": "--num.streams says how many streams copy",
    "consumer.poll.timeout.ms": "nothing waits for a poll here",
    "use.incremental.alter.configs": "topic properties are always altered one by one",
    "admin.timeout.ms": "default.api.timeout.ms of the files holds",
}
WITHOUT_EFFECT: Mapping[str, Option] = {
    name: Option(name, None, "value", f"Accepted from MirrorMaker 2, has no effect: {why}.", "legacy_mm.features.rows")
    for name, why in _REASONS.items()
}
"""Names of MirrorMaker 2 that are accepted and do nothing, which is said once."""
_FAMILIES: Mapping[str, str] = {
    f"{spelling}.": row.name for row in FEATURES if row.option.repeated for spelling in (row.name, *row.synonyms)
}
"""Prefixes of keys that are Java properties of a client."""


def spelled_today(name: str) -> str | None:
    """Return today's name of a flag in any spelling; `admin.x` belongs to `source.admin`. None: it is no flag."""
    if name in BY_NAME:
        return BY_NAME[name].name
    return None if name in WITHOUT_EFFECT else next((_FAMILIES[start] for start in _started_by(name)), None)


def is_flag(name: str) -> bool:
    """Return True for a name that may stand in a client's properties file although it is for us."""
    return name in WITHOUT_EFFECT or spelled_today(name) is not None


def as_pair(name: str, value: str) -> str:
    """Return what `--name value` is for its row: `--admin.x 1` is `--source.admin x=1`."""
    if name in BY_NAME or name in WITHOUT_EFFECT:
        return value
    return next((f"{name.removeprefix(start)}={value}" for start in _started_by(name)), value)


def _started_by(name: str) -> Iterator[str]:
    return (start for start in _FAMILIES if name.startswith(start))
