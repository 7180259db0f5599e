"""Flags of topic creation, and their settings."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.option import Option, boolean, count_or_default
from legacy_mm.features.flag import Flag, seconds, switch
from legacy_mm.features.flag_values import FlagValues
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings, config_filter

_OWNER = "legacy_mm.features.topic_creation.creation"
FLAGS = (
    Flag(
        switch(
            "topic.creation",
            "Missing target topics are created with the source's partitions and configuration, and grow with it; "
            "implies preserve.partitions.",
            _OWNER,
        ),
        rights=("DescribeConfigs on the topics", "Create on the cluster or the topics, Alter on the topics"),
        step=2,
        changes="topics and partitions appear at the target; they stay",
    ),
    Flag(
        Option(
            "replication.factor",
            "-1",
            "number",
            "Of topics that topic.creation makes; -1 is what the target's brokers have. (MirrorMaker 2 has 2.)",
            _OWNER,
            type=count_or_default,
        )
    ),
    Flag(
        Option(
            "topic.creation.fewer.partitions",
            "grow",
            "reaction",
            "A target topic with fewer partitions than its source: grow adds them, refuse ends the mirror.",
            _OWNER,
            choices=("grow", "refuse"),
        )
    ),
    Flag(
        Option(
            "refresh.topics.enabled",
            "true",
            "true|false",
            "With topic.creation: look again for new topics and partitions. What the legacy tool does by itself, "
            "finding topics that match, goes on in any case.",
            _OWNER,
            type=boolean,
        ),
        synonyms=("refresh.topics",),
    ),
    Flag(seconds("refresh.topics.interval.seconds", 600, "Between two such looks.", _OWNER)),
)


@dataclass(frozen=True, slots=True)
class CreationSettings:
    """Target topics are made, and grow, as the source's are."""

    replication_factor: int
    """-1: as the target's brokers have it."""
    filter: ConfigFilterSettings
    grow: bool = False
    """A target topic with fewer partitions than its source grows; else that is an error."""
    refresh_interval: float | None = None
    """Between two looks for new topics and partitions; None: only before copying."""


def imply(values: FlagValues) -> None:
    """Set preserve.partitions where topics are created."""
    if values["topic.creation"] and not values.imply("preserve.partitions"):
        raise ConfigurationError(
            "topic.creation=true and preserve.partitions=false exclude each other, because a topic that grows with its "
            "source must be filled like it"
        )


def read(values: FlagValues) -> CreationSettings | None:
    """Return the settings, or None if the feature is off."""
    if not values["topic.creation"]:
        return None
    return CreationSettings(
        values["replication.factor"],
        config_filter(values),
        grow=values["topic.creation.fewer.partitions"] == "grow",
        refresh_interval=values.seconds("refresh.topics") if values["refresh.topics.enabled"] else None,
    )
