"""What flags make of names: heartbeats, which are mirrored whatever the pattern says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from legacy_mm.base.errors import EndlessCopy
from legacy_mm.base.settings import TopicSettings
from legacy_mm.features import flags
from legacy_mm.features.rows import FLAGS
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.logs import events
from tests.unit.policies.expression import Expression

TOPICS = (
    *("orders", "other", "heartbeats", "C.heartbeats", "D.C.heartbeats"),
    *("B.heartbeats", "C.B.heartbeats", "heartbeats!", "myheartbeats", "__heartbeats"),
)


ALIASES = {"source.cluster.alias": ["A"], "target.cluster.alias": ["B"]}


def names(pattern: str = "orders", **words: str) -> FlowTopics:
    """Of a flow A -> B."""
    given = {name.replace("_", "."): [text] for name, text in words.items()}
    return FlowTopics(TopicSettings(pattern, pattern), flags.settings(given, ALIASES), Expression)


@pytest.mark.parametrize("policy", ["LegacyReplicationPolicy", "IdentityReplicationPolicy", "DefaultReplicationPolicy"])
def test_heartbeats_of_any_depth_are_mirrored_under_the_alias(policy: str) -> None:
    """Not those that have been at the target, and not what the pattern does not name otherwise."""
    flow = names(replication_policy_class=policy, heartbeats_replication_enabled="true", topics_exclude=".*beats")
    found = flow.choice().select(TOPICS)
    renamed = "A.orders" if policy.startswith("Default") else "orders"
    assert {topic: flow.at_target(topic) for topic in found} == {
        "orders": renamed,
        "heartbeats": "A.heartbeats",
        "C.heartbeats": "A.C.heartbeats",
        "D.C.heartbeats": "A.D.C.heartbeats",
    }
    assert {topic for topic in TOPICS if flow.brings_heartbeats(topic)} == found - {"orders"}
    assert {flow.remote(topic) for topic in found} == {flow.at_target(topic) for topic in found}


def test_outside_a_canary_heartbeats_have_the_alias_too() -> None:
    flow = names(heartbeats_replication_enabled="true", feature_topics="orders", rename_topics="true")
    flow.scope.inspect(TOPICS)
    assert [flow.at_target(topic) for topic in ("orders", "other", "heartbeats")] == [
        "A.orders",
        "other",
        "A.heartbeats",
    ]


@pytest.mark.parametrize(("renames", "found"), [("true", ["B.orders", "B.A.orders"]), ("false", [])])
def test_copies_of_topics_of_the_target_are_known_by_their_names(renames: str, found: list[str]) -> None:
    flow = names(rename_topics=renames)
    topics = ("orders", "B.orders", "B.A.orders", "C.orders", "B.checkpoints.internal", "__consumer_offsets")
    assert [topic for topic in topics if flow.is_from_target(topic)] == found


KEPT = ("B.old", "billing-internal", "bills.internal", "__own", ".hidden")
"""The legacy tool mirrors these; DefaultReplicationPolicy knows them for copies of the target's topics, or internal."""


@pytest.mark.parametrize(
    ("canary", "mirrored"),
    [("", {"orders"}), ("orders", {"orders", *KEPT}), ("orders|__.*", {"orders", *KEPT} - {"__own"})],
)
def test_what_is_outside_a_canary_is_mirrored_as_without_features(canary: str, mirrored: set[str]) -> None:
    flow = names(pattern=".*", feature_topics=canary, rename_topics="true", heartbeats_replication_enabled="false")
    found = flow.choice().select(["orders", *KEPT, "__consumer_offsets", "__transaction_state"])
    flow.scope.inspect(found)
    assert found == mirrored
    assert {topic for topic in found if flow.at_target(topic) == topic} == mirrored - {"orders"}


FROM_HERE = ("A.orders", "X.A.orders", "A.heartbeats")


def told(lines: pytest.LogCaptureFixture) -> list[str]:
    assert all(vars(line)["event"] == events.FROM_HERE for line in lines.records)
    return sorted(vars(line)["fields"]["topic"] for line in lines.records)


def test_a_name_with_the_alias_of_the_source_is_left_out_which_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    flow = names(pattern=".*", rename_topics="true", heartbeats_replication_enabled="true")
    for _ in range(2):
        assert flow.choice().select(["orders", "B.orders", *FROM_HERE]) == {"orders"}
    assert told(caplog) == sorted(FROM_HERE)
    assert not flow.brings_heartbeats("A.heartbeats")


def test_what_the_pattern_leaves_out_is_not_worth_a_word(caplog: pytest.LogCaptureFixture) -> None:
    assert names(rename_topics="true").choice().select(["orders", *FROM_HERE]) == {"orders"}
    canary = names(pattern=".*", rename_topics="true", feature_topics="orders")
    assert canary.choice().select(["orders", "A.orders"]) == {"orders", "A.orders"}
    assert told(caplog) == []


def of_mirror_maker_2(
    given: Mapping[str, list[str]], leaves_out: Callable[[str], bool] = lambda topic: False
) -> FlowTopics:
    given = {**given, "replication.policy.class": ["DefaultReplicationPolicy"]}
    return FlowTopics(TopicSettings(".*", ".*"), flags.of_mirror_maker_2(given), Expression, leaves_out)


def test_a_file_of_mirror_maker_2_copies_names_with_the_alias_of_the_source(caplog: pytest.LogCaptureFixture) -> None:
    flow = of_mirror_maker_2(ALIASES)
    found = flow.choice().select(["orders", "B.orders", *FROM_HERE])
    assert sorted(map(flow.at_target, found)) == ["A.A.heartbeats", "A.A.orders", "A.X.A.orders", "A.orders"]
    assert told(caplog) == []


def test_copies_that_have_come_back_round_after_round_are_an_error() -> None:
    flow = of_mirror_maker_2(ALIASES)
    flow.inspect(["orders", "A.orders", "X.A.orders"])
    with pytest.raises(EndlessCopy, match="under a longer name each time: orders, X.A.orders, X.A.X.A.orders;"):
        flow.inspect(["orders", "X.A.orders", "X.A.X.A.orders"])


def test_heartbeats_that_other_flows_forbid_are_left_out() -> None:
    flow = of_mirror_maker_2({**ALIASES, "heartbeats.replication.enabled": ["true"]}, "C.heartbeats".__eq__)
    assert flow.choice().select(["heartbeats", "C.heartbeats"]) == {"heartbeats"}
    assert not flow.brings_heartbeats("C.heartbeats")


@pytest.mark.parametrize(("alias", "tells"), [("A", True), ("A-1", True), ("A.1", False)])
def test_an_alias_that_holds_the_separator_is_not_told(alias: str, tells: bool) -> None:
    assert of_mirror_maker_2({**ALIASES, "source.cluster.alias": [alias]}).tell_origin() == tells
    assert names().tell_origin(), "names are kept"


@pytest.mark.parametrize("flags", [{}, {"emit_heartbeats_enabled": "true", "heartbeats_replication_enabled": "false"}])
def test_otherwise_they_are_topics_like_any_other(flags: dict[str, str]) -> None:
    flow = names(**flags)
    assert flow.choice().select(TOPICS) == {"orders"}
    assert flow.at_target("heartbeats") == "heartbeats"
    assert not flow.brings_heartbeats("heartbeats")
    assert names(pattern="orders|heartbeats", **flags).choice().select(TOPICS) == {"orders", "heartbeats"}


def test_the_topic_of_heartbeats_is_kept_at_the_target() -> None:
    assert names().own_topics("target") == {}
    emitting = names(emit_heartbeats_enabled="true", heartbeats_topic_replication_factor="3")
    assert (emitting.own_topics("source"), emitting.own_topics("target")) == ({}, {"heartbeats": 3})


@pytest.mark.parametrize("location", ["source", "target"])
def test_the_rights_name_every_topic_of_its_own(location: str) -> None:
    syncs = {"emit_offset-syncs_enabled": "true", "offset-syncs_topic_location": location}
    others = dict.fromkeys(("preserve_partitions", "emit_checkpoints_enabled", "emit_heartbeats_enabled"), "true")
    flow = names(**syncs, **others)
    for rights, place in enumerate(("source", "target")):
        told = " ".join(row.rights[rights] for row in FLAGS).replace("SOURCE", "A").replace("TARGET", "B")
        assert [topic for topic in flow.own_topics(place) if topic not in told] == []
