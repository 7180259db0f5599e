"""The clusters upstream of a cluster, read from the names of its topics, as MirrorMaker 2's client does.

Names also tell that topics come back as copies of their copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from legacy_mm.policies.topic_naming import ReplicationPolicy, sources

UNREACHABLE = -1
"""Hops from a cluster of which no heartbeats have come."""
_ROUNDS, _ROUNDS_OF_OUR_OWN = 2, 3
"""Number of rounds that prove it; more where only our own prefix is added: a user's topics may have it, too."""


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


def endless_copies(mirrored: Iterable[str], remote: Callable[[str], str]) -> tuple[str, ...]:
    """Return topics of which each is a copy of the one before that has come back; none where nothing goes round.

    `mirrored`: the topics that a flow copies; `remote` returns the name of the copy.
    """
    copies = {copy: topic for topic in mirrored if (copy := remote(topic)) != topic}
    come_back = {topic: copied for topic in copies.values() for copied in _copied(topic, copies)}
    for topic, (_, added) in sorted(come_back.items()):
        rounds = tuple(_rounds(topic, come_back))
        if len(rounds) >= (_ROUNDS if added else _ROUNDS_OF_OUR_OWN):
            return (*reversed(rounds), topic)
    return ()


def _copied(topic: str, copies: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the topic whose copy this one is by its name, and what stands before the name of that copy."""
    for begin in range(len(topic)):
        copied = copies.get(topic[begin:])
        if copied is not None and copied != topic:
            yield copied, topic[:begin]
            return


def _rounds(topic: str, come_back: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Yield the topic that this one is a copy of, the one that that one is a copy of, and so on, as long as the same
    was added.
    """
    _, added = come_back[topic]
    while (found := come_back.get(topic)) is not None and found[1] == added:
        topic = found[0]
        yield topic
