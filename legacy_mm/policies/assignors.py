"""Java's assignors `range` and `roundrobin`, by which the leader of a group shares partitions out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import cycle
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition


class Subscriber(NamedTuple):
    """A member of the group and what it wants."""

    member: str
    instance: str | None
    """`group.instance.id` of a static member."""
    topics: Collection[str]


Assignment = dict[str, list[TopicPartition]]
Assignor = Callable[[Iterable[Subscriber], Mapping[str, int]], Assignment]
"""Subscribers, and the number of partitions of each topic -> what every member gets, also those that get nothing."""


def by_range(subscribers: Iterable[Subscriber], counts: Mapping[str, int]) -> Assignment:
    """Assign topic by topic, neighbouring partitions to one member; the first members get one more where it is
    uneven.
    """
    ordered = _ordered(subscribers)
    shared: Assignment = {each.member: [] for each in ordered}
    for topic in sorted(counts):
        takers = [each.member for each in ordered if topic in each.topics]
        if not takers:
            continue
        least, more = divmod(counts[topic], len(takers))
        first = 0
        for number, member in enumerate(takers):
            end = first + least + (number < more)
            shared[member] += [TopicPartition(topic, partition) for partition in range(first, end)]
            first = end
    return shared


def by_turns(subscribers: Iterable[Subscriber], counts: Mapping[str, int]) -> Assignment:
    """Assign all partitions of all topics, one after the other, to the next member that wants the topic."""
    ordered = _ordered(subscribers)
    shared: Assignment = {each.member: [] for each in ordered}
    turns = cycle(ordered)
    for topic in sorted(counts):
        if not any(topic in each.topics for each in ordered):
            continue
        for partition in range(counts[topic]):
            taker = next(each for each in turns if topic in each.topics)
            shared[taker.member].append(TopicPartition(topic, partition))
    return shared


ASSIGNORS: Mapping[str, Assignor] = {"range": by_range, "roundrobin": by_turns}
"""Protocol name in the group -> assignor."""


def _ordered(subscribers: Iterable[Subscriber]) -> list[Subscriber]:
    """Sort static members first, by their instance ids, so that a restart changes nothing."""
    return sorted(subscribers, key=lambda each: (each.instance is None, each.instance or each.member))
