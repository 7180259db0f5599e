"""The assignor of exactly once: a member of the group at the source gets whole bundles. Pure.

Its protocol has a name of its own (`BUNDLES_PROTOCOL`), so the coordinator lets nobody join who copies in another mode.
(1) A member keeps what it has. (2) What is nobody's goes to the member with the fewest partitions. (3) A bundle moves
from the member with the most partitions to the one with the fewest while that brings them closer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import by_bundle


class BundleSubscriber(NamedTuple):
    """A member of the group, what it wants, and what it has."""

    member: str
    topics: frozenset[str]
    generation: int
    """The last one in which it had bundles; -1: none."""
    held: frozenset[int]


@dataclass(frozen=True, slots=True)
class SharedOut:
    """The assignment of a generation."""

    bundles: Mapping[str, tuple[int, ...]]
    """Member -> its bundles. A bundle without partitions is nobody's."""
    partitions: Mapping[str, list[TopicPartition]]
    left_out: frozenset[str]
    """Topics that not all members want. They wait until all do: a bundle has one owner, who copies all of it."""


class _Share:
    """The bundles of a member while they are shared out."""

    def __init__(self, rank: int, member: str) -> None:
        self.member = member
        self.bundles: set[int] = set()
        self.partitions = 0
        self._rank = rank

    def take(self, bundle: int, partitions: int) -> None:
        self.bundles.add(bundle)
        self.partitions += partitions

    def give(self, bundle: int, partitions: int, other: _Share) -> None:
        self.bundles.remove(bundle)
        self.partitions -= partitions
        other.take(bundle, partitions)

    @property
    def load(self) -> tuple[int, int, int]:
        """Sort by partitions, then by bundles; the rank makes it certain."""
        return self.partitions, len(self.bundles), self._rank


def share_out(subscribers: Collection[BundleSubscriber], counts: Mapping[str, int], bundles: int) -> SharedOut:
    """Return what each member gets; `counts` is topic -> the number of its partitions."""
    wanted = frozenset[str]().union(*(each.topics for each in subscribers))
    common = wanted.intersection(*(each.topics for each in subscribers))
    partitions = (TopicPartition(topic, number) for topic in common for number in range(counts.get(topic, 0)))
    contents = by_bundle(partitions, bundles)
    weights = {bundle: len(content) for bundle, content in contents.items()}
    shares = {each.member: _Share(rank, each.member) for rank, each in enumerate(sorted(subscribers))}
    _keep(shares, subscribers, weights)
    _give_away(shares.values(), weights)
    _even_out(shares.values(), weights)
    return SharedOut(
        {member: tuple(sorted(share.bundles)) for member, share in shares.items()},
        {
            member: [partition for bundle in sorted(share.bundles) for partition in contents[bundle]]
            for member, share in shares.items()
        },
        wanted - common,
    )


def _keep(shares: Mapping[str, _Share], subscribers: Iterable[BundleSubscriber], weights: Mapping[int, int]) -> None:
    """Let members keep what they have; of two that name a bundle, the one with the later generation."""
    taken: set[int] = set()
    for each in sorted(subscribers, key=lambda each: (-each.generation, each.member)):
        for bundle in sorted(each.held & weights.keys() - taken):
            shares[each.member].take(bundle, weights[bundle])
            taken.add(bundle)


def _give_away(shares: Collection[_Share], weights: Mapping[int, int]) -> None:
    free = weights.keys() - {bundle for share in shares for bundle in share.bundles}
    for bundle in sorted(free):
        if shares:
            min(shares, key=lambda share: share.load).take(bundle, weights[bundle])


def _even_out(shares: Collection[_Share], weights: Mapping[int, int]) -> None:
    """End, because each move makes the sum of the squares smaller."""
    while shares:
        most, least = max(shares, key=lambda share: share.load), min(shares, key=lambda share: share.load)
        difference = most.partitions - least.partitions
        helpful = [bundle for bundle in most.bundles if weights[bundle] < difference]
        if not helpful:
            return
        # The nearest to the half: one move instead of several.
        best = min(helpful, key=lambda bundle: (abs(difference - 2 * weights[bundle]), bundle))
        most.give(best, weights[best], least)
