"""Flags of topic creation, and their settings."""

from __future__ import annotations

from dataclasses import dataclass

from legacy_mm.config.option import Option, boolean, count_or_default
from legacy_mm.features.feature import Feature, seconds, switch
from legacy_mm.features.flag_values import FlagValues
from legacy_mm.features.topic_configs.flags import ConfigFilterSettings

_OWNER = "legacy_mm.features.topic_creation.creation"
ROWS = (
    Feature(
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
    Feature(
        Option(
            "replication.factor",
            "-1",
            "number",
            "Of topics that topic.creation makes; -1 is what the target's brokers have. (MirrorMaker 2 has 2.)",
            _OWNER,
            type=count_or_default,
        )
    ),
    Feature(
        Option(
            "topic.creation.fewer.partitions",
            "grow",
            "reaction",
            "A target topic with fewer partitions than its source: grow adds them, refuse ends the mirror.",
            _OWNER,
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
            _OWNER,
            type=boolean,
        ),
        synonyms=("refresh.topics",),
    ),
    Feature(seconds("refresh.topics.interval.seconds", 600, "Between two such looks.", _OWNER)),
)


@dataclass(frozen=True, slots=True)
class CreationSettings:
    """Target topics are made, and grow, as the source's are."""

    replication_factor: int
    """-1: as the target's brokers have it."""
    filter: ConfigFilterSettings


def read(values: FlagValues, properties: ConfigFilterSettings) -> CreationSettings | None:
    """Return the settings, or None if the feature is off."""
    return CreationSettings(values["replication.factor"], properties) if values["topic.creation"] else None


def grows(values: FlagValues) -> bool:
    """Return True if a target topic gets the partitions that it lacks."""
    return bool(values["topic.creation"]) and values["topic.creation.fewer.partitions"] == "grow"


def refresh_interval(values: FlagValues) -> float | None:
    """Return the seconds between two looks for new topics and partitions; None: only before copying."""
    return values.seconds("refresh.topics") if values["topic.creation"] and values["refresh.topics.enabled"] else None
