"""The features, a line each, and the flags: a row each, with MirrorMaker 2's names, what they need and exclude.

A flag is given on the command line, in the environment, in `--features.config`, in the producer file or in the
consumer file; the first of these that has it decides. `flags.py` makes `FeatureSettings` of the outcome. A feature with
a folder of its own has its rows there, and its line here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from legacy_mm.base.option import Option, milliseconds
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.feature import Feature
from legacy_mm.features.flag import Flag, Relation, switch
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.naming import flags as naming
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.features.quotas.feature import QUOTAS
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.features.topic_acls.feature import TOPIC_ACLS
from legacy_mm.features.topic_configs.feature import TOPIC_CONFIGS
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION

_LINES: tuple[Feature[Any] | Flag, ...] = (
    Flag(
        switch(
            "preserve.partitions",
            "A record goes to the partition it has at the source, not to the one its key says.",
            "legacy_mm.dataplane.routes",
        ),
        step=1,
        changes="records arrive in the partition of their source; where the target has fewer partitions the mirror "
        "ends with an error",
    ),
    TOPIC_CREATION,
    TOPIC_CONFIGS,
    TOPIC_ACLS,
    *naming.FLAGS,
    Flag(
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
    HEARTBEATS,
    OFFSET_SYNCS,
    CHECKPOINTS,
    CONNECT_OFFSETS,
    EXACTLY_ONCE,
    START_FROM,
    QUOTAS,
    Flag(
        Option(
            "feature.topics",
            "",
            "pattern",
            "A Java pattern: features concern only the source topics that match (canary).",
            "legacy_mm.policies.topic_choice",
        )
    ),
    Flag(
        Option(
            "admin.timeout.ms",
            "60000",
            "ms",
            "How long a feature may look at source and target each time, with the changes that it makes: a run of a "
            "duty, a round of checkpoints.",
            "legacy_mm.features.duties",
            type=milliseconds,
        )
    ),
    Flag(
        Option(
            "source.admin",
            None,
            "name=value",
            "A Java property over the consumer file's, for clients of the features; also --source.admin.NAME=VALUE.",
            "legacy_mm.clients.admin.admin",
            repeated=True,
        ),
        synonyms=("admin",),
    ),
    Flag(
        Option(
            "target.admin",
            None,
            "name=value",
            "The same for the producer file.",
            "legacy_mm.clients.admin.admin",
            repeated=True,
        ),
        synonyms=("remote.admin",),
    ),
)
"""The line of each feature, and flags that belong to none."""
FEATURES = tuple(each for each in _LINES if isinstance(each, Feature))
FLAGS = tuple(flag for each in _LINES for flag in (each.flags if isinstance(each, Feature) else (each,)))
BY_NAME: Mapping[str, Flag] = {name: row for row in FLAGS for name in (row.name, *row.synonyms)}
"""Every spelling."""

_REASONS: Mapping[str, str] = {
    "readahead.queue.capacity": "the consumer always works ahead of the producer, as far as buffer.memory allows",
    "tasks.max": "--num.streams says how many streams copy",
    "consumer.poll.timeout.ms": "nothing waits for a poll here",
    "use.incremental.alter.configs": "topic properties are always altered one by one",
}
WITHOUT_EFFECT: Mapping[str, Option] = {
    name: Option(name, None, "value", f"Accepted from MirrorMaker 2, has no effect: {why}.", "legacy_mm.features.rows")
    for name, why in _REASONS.items()
}
"""Names of MirrorMaker 2 that are accepted and do nothing, which is said once."""
_FAMILIES: Mapping[str, str] = {
    f"{spelling}.": row.name for row in FLAGS if row.option.repeated for spelling in (row.name, *row.synonyms)
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
