"""The clusters upstream of a cluster, read from the names of its topics, as MirrorMaker 2's client does."""

from __future__ import annotations

from collections.abc import Iterable

from legacy_mm.policies.topic_naming import ReplicationPolicy, sources

UNREACHABLE = -1
"""Hops from a cluster of which no heartbeats have come."""


def hops_of(policy: ReplicationPolicy, topic: str, alias: str) -> int:
    """Count the copies of a topic on its way from that cluster: 1 for `alias.topic`, -1 if it never was there."""
    passed = list(sources(policy, topic))
    return passed.index(alias) + 1 if alias in passed else UNREACHABLE


def replication_hops(policy: ReplicationPolicy, topics: Iterable[str], alias: str) -> int:
    """Return the shortest way on which heartbeats have come from that cluster; -1 if there is none."""
    ways = [hops_of(policy, topic, alias) for topic in heartbeat_topics(policy, topics)]
    return min((hops for hops in ways if hops != UNREACHABLE), default=UNREACHABLE)


def heartbeat_topics(policy: ReplicationPolicy, topics: Iterable[str]) -> set[str]:
    """Return topics with heartbeats: the cluster's own and copies, however many hops away they were written."""
    return set(filter(policy.is_heartbeats_topic, topics))


def checkpoint_topics(policy: ReplicationPolicy, topics: Iterable[str]) -> set[str]:
    """Return topics with checkpoints."""
    return set(filter(policy.is_checkpoints_topic, topics))


def upstream_clusters(policy: ReplicationPolicy, topics: Iterable[str]) -> set[str]:
    """Return aliases of all clusters that heartbeats have passed."""
    return {alias for topic in heartbeat_topics(policy, topics) for alias in sources(policy, topic)}


def remote_topics(policy: ReplicationPolicy, topics: Iterable[str], source: str | None = None) -> set[str]:
    """Return copies, including heartbeats; of one cluster, where its alias is given (the last hop counts)."""
    data = [topic for topic in topics if not policy.is_internal_topic(topic)]
    of = {topic: policy.topic_source(topic) for topic in data}
    return {topic for topic, alias in of.items() if alias is not None and source in (None, alias)}
