"""The feature flags: one row each, with MirrorMaker 2's names, what they need and what they exclude.

A flag is given on the command line, in the environment, in `--features.config`, in the producer file or in the
consumer file; the first of these that has it decides. `flags.py` makes `FeatureSettings` of the outcome. A feature with
a folder of its own has its rows there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from legacy_mm.config.option import Option
from legacy_mm.features.checkpoints import flags as checkpoints
from legacy_mm.features.feature import Feature, Relation, switch
from legacy_mm.features.heartbeats import flags as heartbeats
from legacy_mm.features.naming import flags as naming
from legacy_mm.features.offset_syncs import flags as offset_syncs
from legacy_mm.features.topic_acls import flags as topic_acls
from legacy_mm.features.topic_configs import flags as topic_configs
from legacy_mm.features.topic_creation import flags as topic_creation

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
    *topic_creation.ROWS,
    *topic_configs.ROWS,
    *topic_acls.ROWS,
    *naming.ROWS,
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
        changes="records at the target have one header more; every batch is opened for it, which is slower",
    ),
    *heartbeats.ROWS,
    *offset_syncs.ROWS,
    *checkpoints.ROWS,
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
            "legacy_mm.clients.native.admin",
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
            "legacy_mm.clients.native.admin",
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
