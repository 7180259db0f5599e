"""The tables of the contract on names (sections 1 and 2.3), and what Apache's own tests say about them (13.1, 13.3)."""

from __future__ import annotations

import pytest

from legacy_mm.policies.topic_naming import (
    Compatibility,
    DefaultReplicationPolicy,
    IdentityReplicationPolicy,
    LegacyReplicationPolicy,
    ReplicationPolicy,
    has_left,
    is_cycle,
    left_behind,
    sources,
)

COMPATIBILITIES: tuple[Compatibility, ...] = ("3.9", "4")


class Nowhere(DefaultReplicationPolicy):
    """Knows where a topic came from, and not its name there."""

    def topic_source(self, topic: str) -> str | None:
        return "somewhere"

    def upstream_topic(self, topic: str) -> str | None:
        return None


# --- LegacyReplicationPolicy


@pytest.mark.parametrize("topic", ["orders", "us-east.orders", "a-b_c.d", "heartbeats"])
def test_the_legacy_policy_keeps_names_which_tell_nothing_of_their_origin(topic: str) -> None:
    policy = LegacyReplicationPolicy()
    assert policy.format_remote_topic("us-east", topic) == topic
    assert policy.topic_source(topic) is None
    assert policy.upstream_topic(topic) == topic
    assert policy.original_topic(topic) == topic
    assert not is_cycle(policy, topic, "us-east")


@pytest.mark.parametrize(
    ("topic", "internal"),
    [
        ("__consumer_offsets", True),
        ("__transaction_state", True),
        ("__share_group_state", True),
        ("_schemas", False),
        ("__mine", False),
        (".hidden", False),
        ("x-internal", False),
        ("mm2-offsets.A.internal", False),
    ],
)
def test_only_the_broker_s_own_topics_are_internal_to_the_legacy_policy(topic: str, internal: bool) -> None:
    assert LegacyReplicationPolicy().is_internal_topic(topic) is internal


# --- DefaultReplicationPolicy: 1.2


@pytest.mark.parametrize(
    ("topic", "separator", "source", "upstream", "original"),
    [
        ("t", ".", None, None, "t"),
        ("A.t", ".", "A", "t", "t"),
        ("A.B.t", ".", "A", "B.t", "t"),
        ("foo.bar", ".", "foo", "bar", "bar"),
        (".hidden", ".", "", "hidden", "hidden"),
        ("A..t", ".", "A", ".t", "t"),
        ("A.", ".", None, None, "A."),
        ("A..", ".", None, None, "A.."),
        ("A.t.", ".", "A", "t.", "t."),
        (".", ".", None, None, "."),
        ("", ".", None, None, ""),
        ("__x", "_", "", "_x", "x"),
        ("foo_bar", "_", "foo", "bar", "bar"),
        ("foo.bar", "_", None, None, "foo.bar"),
        ("A__t", "__", "A", "t", "t"),
        ("A_t", "__", None, None, "A_t"),
        ("A___t", "__", "A", "_t", "_t"),
        ("AxtB", "x", "A", "tB", "tB"),
        ("abc", "", "a", "bc", "c"),
    ],
)
def test_what_the_default_policy_reads_out_of_a_name(
    topic: str, separator: str, source: str | None, upstream: str | None, original: str
) -> None:
    policy = DefaultReplicationPolicy(separator=separator)
    assert policy.topic_source(topic) == source
    assert policy.upstream_topic(topic) == upstream
    assert policy.original_topic(topic) == original


@pytest.mark.parametrize(("separator", "name"), [(".", "A.t"), ("__", "A__t")])
def test_the_default_policy_puts_the_alias_before_the_name(separator: str, name: str) -> None:
    policy = DefaultReplicationPolicy(separator=separator)
    assert policy.format_remote_topic("A", "t") == name
    assert policy.format_remote_topic("B", name) == f"B{separator}{name}"


# --- IdentityReplicationPolicy: 1.3, 13.1 (:169, :198)


def test_the_identity_policy_takes_every_topic_for_a_copy() -> None:
    policy = IdentityReplicationPolicy(source_alias="primary")
    assert policy.format_remote_topic("primary", "topic1") == "topic1"
    assert policy.format_remote_topic("primary", "A.t") == "A.t"
    assert policy.topic_source("topic1") == "primary"
    assert policy.topic_source("A.t") == "primary"
    assert policy.upstream_topic("A.t") == "A.t"
    assert policy.original_topic("A.t") == "A.t"
    assert IdentityReplicationPolicy().topic_source("topic1") is None


def test_the_identity_policy_gives_heartbeats_the_alias() -> None:
    policy = IdentityReplicationPolicy(source_alias="primary")
    assert policy.format_remote_topic("backup", "heartbeats") == "backup.heartbeats"
    assert policy.topic_source("backup.heartbeats") == "backup"
    assert policy.upstream_topic("backup.heartbeats") == "heartbeats"
    assert policy.original_topic("a.backup.heartbeats") == "heartbeats"
    assert policy.topic_source("heartbeats") is None


def test_the_identity_policy_goes_by_the_ending_of_a_name() -> None:
    policy = IdentityReplicationPolicy(source_alias="primary")
    assert policy.format_remote_topic("A", "myheartbeats") == "A.myheartbeats"
    assert policy.topic_source("myheartbeats") is None
    assert policy.upstream_topic("myheartbeats") is None
    assert not policy.is_heartbeats_topic("myheartbeats")


# --- names of internal topics: 1.4, 13.1 (:56, :70, :84)


@pytest.mark.parametrize("compatibility", COMPATIBILITIES)
@pytest.mark.parametrize("kind", [LegacyReplicationPolicy, IdentityReplicationPolicy, DefaultReplicationPolicy])
@pytest.mark.parametrize(
    ("separator", "flag", "offset_syncs", "checkpoints"),
    [
        (".", True, "mm2-offset-syncs.B.internal", "A.checkpoints.internal"),
        (".", False, "mm2-offset-syncs.B.internal", "A.checkpoints.internal"),
        ("_", True, "mm2-offset-syncs_B_internal", "A_checkpoints_internal"),
        ("_", False, "mm2-offset-syncs.B.internal", "A.checkpoints.internal"),
        ("__", True, "mm2-offset-syncs__B__internal", "A__checkpoints__internal"),
        ("__", False, "mm2-offset-syncs.B.internal", "A.checkpoints.internal"),
        ("-", True, "mm2-offset-syncs-B-internal", "A-checkpoints-internal"),
        ("-", False, "mm2-offset-syncs.B.internal", "A.checkpoints.internal"),
    ],
)
def test_names_of_internal_topics(
    kind: type[ReplicationPolicy],
    separator: str,
    flag: bool,
    offset_syncs: str,
    checkpoints: str,
    compatibility: Compatibility,
) -> None:
    policy = kind(separator=separator, internal_separator=flag, compatibility=compatibility)
    assert policy.offset_syncs_topic("B") == offset_syncs
    assert policy.checkpoints_topic("A") == checkpoints
    assert policy.heartbeats_topic() == "heartbeats"
    assert policy.is_checkpoints_topic(checkpoints)
    assert policy.is_mm2_internal_topic(checkpoints)
    assert policy.is_mm2_internal_topic(offset_syncs)


@pytest.mark.parametrize("kind", [IdentityReplicationPolicy, DefaultReplicationPolicy])
@pytest.mark.parametrize(
    ("topic", "is_one"),
    [
        ("heartbeats", True),
        ("source1.heartbeats", True),
        ("source2.source1.heartbeats", True),
        ("heartbeats!", False),
        ("!heartbeats", False),
        ("source1heartbeats", False),
        ("source1-heartbeats", False),
    ],
)
def test_what_counts_as_a_heartbeats_topic(kind: type[ReplicationPolicy], topic: str, is_one: bool) -> None:
    assert kind(source_alias="source1").is_heartbeats_topic(topic) is is_one


@pytest.mark.parametrize(
    ("topic", "is_one"),
    [
        ("source1.checkpoints.internal", True),
        ("checkpoints.internal", False),
        ("checkpoints-internal", False),
        ("checkpoints.internal!", False),
        ("!checkpoints.internal", False),
        ("source1checkpointsinternal", False),
    ],
)
def test_what_counts_as_a_checkpoints_topic(topic: str, is_one: bool) -> None:
    assert DefaultReplicationPolicy().is_checkpoints_topic(topic) is is_one


# --- what counts as internal: 1.5, 13.1 (ReplicationPolicyTest:40)


@pytest.mark.parametrize("kind", [IdentityReplicationPolicy, DefaultReplicationPolicy])
@pytest.mark.parametrize(
    ("topic", "separator", "in_3_9", "in_4"),
    [
        ("__consumer_offsets", ".", True, True),
        (".hiddentopic", ".", True, True),
        ("mm2-offsets.CLUSTER.internal", ".", True, True),
        ("mm2-offsets-CLUSTER-internal", ".", True, False),
        ("mm2-offsets_CLUSTER_internal", ".", False, False),
        ("mm2-offsets_CLUSTER_internal", "_", True, True),
        ("foo.internal", ".", True, False),
        ("x-internal", ".", True, False),
        ("x_internal", "_", True, False),
        ("foo.internal", "_", True, False),
        ("A.checkpoints.internal", ".", True, True),
        ("checkpoints.internal", ".", True, False),
        ("mm2-configs.A.internal", "_", True, False),
        ("internal", ".", False, False),
        ("t", ".", False, False),
        ("A.t", ".", False, False),
        ("heartbeats", ".", False, False),
    ],
)
def test_what_counts_as_internal(
    kind: type[ReplicationPolicy], topic: str, separator: str, in_3_9: bool, in_4: bool
) -> None:
    assert kind(separator=separator).is_internal_topic(topic) is in_3_9
    assert kind(separator=separator, compatibility="4").is_internal_topic(topic) is in_4


@pytest.mark.parametrize(
    ("topic", "in_3_9", "in_4"),
    [
        ("foo.internal", True, False),
        ("mm2foo.internal", True, True),
        ("A.checkpoints.internal", True, True),
        ("x-internal", False, False),
        ("__x", False, False),
    ],
)
def test_which_internal_topics_are_mirror_maker_2_s_own(topic: str, in_3_9: bool, in_4: bool) -> None:
    assert DefaultReplicationPolicy().is_mm2_internal_topic(topic) is in_3_9
    assert DefaultReplicationPolicy(compatibility="4").is_mm2_internal_topic(topic) is in_4


# --- where a topic has been: 1.7, 13.1 (:82, :114, :124, :139, :156, :183), 13.3 (:132, :145, :506)


@pytest.mark.parametrize(
    ("topic", "found"),
    [
        ("topic", []),
        ("source", []),
        ("sourcetopic", []),
        ("source1.topic", ["source1"]),
        ("source2.source1.topic", ["source2", "source1"]),
        ("source3.source2.source1.topic", ["source3", "source2", "source1"]),
    ],
)
def test_the_clusters_a_topic_came_through_the_last_one_first(topic: str, found: list[str]) -> None:
    assert list(sources(DefaultReplicationPolicy(), topic)) == found


@pytest.mark.parametrize("kind", [IdentityReplicationPolicy, DefaultReplicationPolicy])
def test_heartbeats_name_all_clusters_upstream(kind: type[ReplicationPolicy]) -> None:
    policy = kind(source_alias="source")
    topics = ["heartbeats", "source1.heartbeats", "source1.source2.heartbeats", "source3.source4.source5.heartbeats"]
    assert {alias for topic in topics for alias in sources(policy, topic)} == {
        f"source{number}" for number in range(1, 6)
    }


@pytest.mark.parametrize("separator", [".", "__"])
def test_only_what_has_the_alias_is_remote_to_the_default_policy(separator: str) -> None:
    policy = DefaultReplicationPolicy(separator=separator)
    remote = [f"source{number}{separator}topic{number}" for number in (1, 2, 3)]
    assert [name for name in ("topic1", "topic2", *remote) if policy.topic_source(name)] == remote


def test_every_topic_but_the_own_heartbeats_is_remote_to_the_identity_policy() -> None:
    policy = IdentityReplicationPolicy(source_alias="primary")
    names = ["topic1", "topic2", "topic3", "heartbeats", "backup.heartbeats"]
    assert [name for name in names if policy.topic_source(name)] == ["topic1", "topic2", "topic3", "backup.heartbeats"]


@pytest.mark.parametrize(
    ("topic", "cycle"),
    [
        ("B.t", True),
        ("C.B.t", True),
        ("A.B.C.t", True),
        ("B.heartbeats", True),
        ("t", False),
        ("A.t", False),
        ("C.t", False),
        ("Bt", False),
    ],
)
def test_cycles(topic: str, cycle: bool) -> None:
    assert is_cycle(DefaultReplicationPolicy(), topic, "B") is cycle


@pytest.mark.parametrize(
    ("topic", "accepted"),
    [
        ("target.topic1", False),
        ("target.source.topic1", False),
        ("source.target.topic1", False),
        ("target.source.target.topic1", False),
        ("topic1", True),
        ("source.topic1", True),
    ],
)
def test_a_topic_that_has_been_at_the_target_is_refused(topic: str, accepted: bool) -> None:
    assert is_cycle(DefaultReplicationPolicy(), topic, "target") is not accepted


@pytest.mark.parametrize(
    ("topic", "accepted"),
    [
        ("target.topic1", True),
        ("source.target.topic1", True),
        ("topic1", True),
        ("target.heartbeats", False),
        ("source.target.heartbeats", False),
        ("source.heartbeats", True),
        ("heartbeats", True),
    ],
)
def test_the_identity_policy_knows_cycles_of_heartbeats_only(topic: str, accepted: bool) -> None:
    policy = IdentityReplicationPolicy(source_alias="source")
    assert is_cycle(policy, topic, "target") is not accepted


def test_a_policy_that_knows_no_upstream_name_makes_no_endless_walk() -> None:
    assert not is_cycle(Nowhere(), "t", "target")
    assert is_cycle(Nowhere(), "t", "somewhere")


# --- which topics are mirrored: 2.3, 13.3 (:94, :102, :116, :124)


@pytest.mark.parametrize(
    ("topic", "in_3_9", "in_4"),
    [
        ("t", True, True),
        ("A.t", True, True),
        ("heartbeats", True, True),
        ("B.t", False, False),
        ("C.B.t", False, False),
        ("A.B.C.t", False, False),
        ("B.heartbeats", False, False),
        ("x-internal", False, True),
        ("foo.internal", False, True),
        ("__x", False, False),
        (".x", False, False),
        ("mm2-configs.A.internal", False, False),
        ("A.checkpoints.internal", False, False),
    ],
)
def test_what_is_mirrored_from_a_to_b_when_the_filter_accepts_all(topic: str, in_3_9: bool, in_4: bool) -> None:
    for compatibility, expected in zip(COMPATIBILITIES, (in_3_9, in_4), strict=True):
        policy = DefaultReplicationPolicy(source_alias="A", compatibility=compatibility)
        assert (not policy.is_internal_topic(topic) and not is_cycle(policy, topic, "B")) is expected


def test_another_separator_makes_no_heartbeats_of_a_dotted_name() -> None:
    policy = DefaultReplicationPolicy(separator="_")
    assert not policy.is_heartbeats_topic("us-west.heartbeats")
    assert policy.is_heartbeats_topic("us-west_heartbeats")


@pytest.mark.parametrize(
    ("policy", "topic", "left"),
    [
        (DefaultReplicationPolicy(), "A.orders", True),  # two aliases for one cluster, or a way back of another name
        (DefaultReplicationPolicy(), "X.A.orders", True),
        (DefaultReplicationPolicy(), "X.orders", False),
        (DefaultReplicationPolicy(), "orders", False),
        (IdentityReplicationPolicy(source_alias="A"), "orders", False),  # each is said to come from A
        (IdentityReplicationPolicy(source_alias="A"), "A.heartbeats", True),
        (LegacyReplicationPolicy(source_alias="A"), "A.orders", False),
    ],
)
def test_what_left_the_source_before(policy: ReplicationPolicy, topic: str, left: bool) -> None:
    """Whatever the target is said to be called: MirrorMaker 2 copies these."""
    assert has_left(policy, topic, "A") is left
    assert not is_cycle(policy, topic, "B")


@pytest.mark.parametrize(
    ("names", "target", "separator", "found"),
    [
        ({"t": "t"}, {"t", "other", "A.other"}, ".", []),
        ({"t": "t"}, {"t", "A.t"}, ".", ["A.t"]),
        ({"t": "A.t"}, {"t", "A.t", "B.t"}, ".", ["B.t", "t"]),
        ({"a.b": "a.b", "b": "b"}, {"a.b", "b"}, ".", []),
        ({"t": "A_t"}, {"A.t", "A_t", "B_t"}, "_", ["B_t"]),
        ({"a.b": "a.b"}, {"a.b", "X.a.b"}, ".", ["X.a.b"]),
    ],
)
def test_what_is_left(names: dict[str, str], target: set[str], separator: str, found: list[str]) -> None:
    assert [line.split()[1] for line in left_behind(names, target, separator)] == found


def test_the_line() -> None:
    (line,) = left_behind({"t": "A.t"}, {"t"}, ".")
    assert line == (
        "topic t is named as a copy of t would be under other flags; "
        "the copy is called A.t now, and this mirror writes nothing to t"
    )
