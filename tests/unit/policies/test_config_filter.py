"""MirrorMaker 2's table of origins, at the creation of a topic and at each later look."""

from __future__ import annotations

import re

import pytest

from legacy_mm.features.topic_configs.flags import DEFAULT_EXCLUDE
from legacy_mm.policies.changes import DeleteConfig, SetConfig
from legacy_mm.policies.config_filter import ConfigPropertyFilter, TopicProperty

OVERRIDE, STATIC, DEFAULT = "DYNAMIC_TOPIC_CONFIG", "STATIC_BROKER_CONFIG", "DEFAULT_CONFIG"
ELSEWHERE = ["DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG", "UNKNOWN_CONFIG"]


def made(*exclude: str, source_defaults: bool = False) -> ConfigPropertyFilter:
    pattern = re.compile("|".join(exclude))
    return ConfigPropertyFilter(lambda name: pattern.fullmatch(name) is not None, source_defaults=source_defaults)


# (origin at the source, use.defaults.from=source, set at creation, at a look where the target has an override of 5)
TABLE = [
    *((origin, flag, True, "set") for origin in [OVERRIDE, *ELSEWHERE] for flag in (False, True)),
    *((STATIC, flag, False, "nothing") for flag in (False, True)),
    (DEFAULT, False, False, "delete"),
    (DEFAULT, True, True, "set"),
]


@pytest.mark.parametrize(("origin", "source_defaults", "created", "synced"), TABLE)
def test_the_table(origin: str, source_defaults: bool, created: bool, synced: str) -> None:
    decide = made("x.*", source_defaults=source_defaults)
    source = [TopicProperty("retention.ms", "7", origin)]
    assert decide.at_creation(source, None) == ({"retention.ms": "7"} if created else {}, [])
    expected = {
        "set": [SetConfig("t", "retention.ms", "5", "7")],
        "delete": [DeleteConfig("t", "retention.ms", "5")],
        "nothing": [],
    }
    assert decide.at_sync("t", source, [TopicProperty("retention.ms", "5", OVERRIDE)]) == (expected[synced], [])


@pytest.mark.parametrize("origin", [DEFAULT, STATIC, *ELSEWHERE])
def test_only_an_override_at_the_target_counts_as_there(origin: str) -> None:
    """What happens to be the value there may change any day; an override with the right value is left alone."""
    target = [TopicProperty("retention.ms", "7", origin)]
    source = [TopicProperty("retention.ms", "7", OVERRIDE)]
    assert made("x").at_sync("t", source, target) == ([SetConfig("t", "retention.ms", None, "7")], [])
    assert made("x").at_sync("t", source, source) == ([], [])
    assert made("x").at_sync("t", [TopicProperty("retention.ms", "7", DEFAULT)], target) == ([], [])


def test_what_is_excluded_is_left_alone() -> None:
    source = [TopicProperty("exclude_param.param1", "1", OVERRIDE), TopicProperty("min.insync.replicas", "2", OVERRIDE)]
    decide = made("exclude_param.*")
    assert decide.at_creation(source, None) == ({"min.insync.replicas": "2"}, [])
    target = [TopicProperty(each.name, "9", OVERRIDE) for each in source]
    assert decide.at_sync("t", source, target) == ([SetConfig("t", "min.insync.replicas", "9", "2")], [])


@pytest.mark.parametrize(
    ("name", "copied"),
    [
        ("follower.replication.throttled.replicas", False),
        ("leader.replication.throttled.replicas", False),
        ("message.timestamp.difference.max.ms", False),
        ("message.timestamp.type", False),
        ("unclean.leader.election.enable", False),
        ("min.insync.replicas", False),
        ("minxinsync.replicas", True),
        ("min.insync.replicas.x", True),
        ("message.timestamp.before.max.ms", True),
        ("message.timestamp.after.max.ms", True),
        ("cleanup.policy", True),
    ],
)
def test_the_default_exclusions(name: str, copied: bool) -> None:
    configs, _ = made(*DEFAULT_EXCLUDE).at_creation([TopicProperty(name, "1", OVERRIDE)], None)
    assert (name in configs) is copied


@pytest.mark.parametrize(
    "untold",
    [
        TopicProperty("a", "1", OVERRIDE, read_only=True),
        TopicProperty("a", None, OVERRIDE, sensitive=True),
        TopicProperty("a", None, OVERRIDE),
    ],
)
def test_what_cannot_be_written_or_is_not_told(untold: TopicProperty) -> None:
    decide = made("x", source_defaults=True)
    assert decide.at_creation([untold], set()) == ({}, [])
    assert decide.at_sync("t", [untold], [TopicProperty("a", "5", OVERRIDE)]) == ([], [])


def test_a_property_that_the_target_does_not_know() -> None:
    """It would be refused with all others of the topic."""
    source = [TopicProperty("gone", "1", OVERRIDE), TopicProperty("also.gone", "1", DEFAULT)]
    assert made("x").at_sync("t", source, []) == ([], ["gone"])
    assert made("x").at_creation(source, set()) == ({}, ["gone"])
    assert made("x", source_defaults=True).at_creation(source, {"gone"}) == ({"gone": "1"}, ["also.gone"])
    assert made("x").at_creation(source, None) == ({"gone": "1"}, []), "nobody can tell"
