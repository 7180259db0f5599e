"""All five methods of KIP-382's interface, for the policy that keeps names."""

from __future__ import annotations

import pytest

from legacy_mm.policies.topic_naming import LegacyReplicationPolicy, ReplicationPolicy


@pytest.fixture
def policy() -> ReplicationPolicy:
    return LegacyReplicationPolicy()


@pytest.mark.parametrize("topic", ["orders", "us-east.orders", "a-b_c.d", "heartbeats"])
def test_names_are_kept_and_tell_nothing_of_their_origin(policy: ReplicationPolicy, topic: str) -> None:
    assert policy.format_remote_topic("us-east", topic) == topic
    assert policy.topic_source(topic) is None
    assert policy.upstream_topic(topic) == topic
    assert policy.original_topic(topic) == topic


@pytest.mark.parametrize(
    ("topic", "internal"),
    [("__consumer_offsets", True), ("__transaction_state", True), ("__share_group_state", True), ("_schemas", False)],
)
def test_only_the_broker_s_own_topics_are_internal(policy: ReplicationPolicy, topic: str, internal: bool) -> None:
    assert policy.is_internal_topic(topic) is internal
