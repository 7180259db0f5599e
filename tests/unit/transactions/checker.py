"""A search through all states of the model, breadth first: the first violation is a shortest one."""

from __future__ import annotations

from array import array
from collections import deque
from typing import NamedTuple

from tests.fakes.transactions import Brokers
from tests.unit.transactions.steps import Label, Violation, check, is_done, steps
from tests.unit.transactions.world import NOBODY, Setting, World, begin

OTHER = {0: 1, 1: 0, NOBODY: NOBODY}
"""Who is who where two owners have changed places."""


class Verdict(NamedTuple):
    """How a search ended."""

    states: int
    steps: int
    violation: str
    """Empty: none."""
    trace: tuple[Label, ...]
    """The way to it."""
    is_whole: bool
    """Every state was seen."""


def search(setting: Setting, most: int = 5_000_000) -> Verdict:
    """Search until a property does not hold, or all states were seen, or too many."""
    first = begin(setting)
    numbers = {name(setting, first): 0}
    parents, places = array("q", [-1]), array("q", [-1])
    """How each was found: from which state, by which of its steps."""
    sources, targets = array("q"), array("q")
    ends: dict[Brokers, bool] = {}
    """Clusters that were checked, and whether everything is copied: many states have the same one."""
    done = set()
    queue: deque[tuple[int, World]] = deque([(0, first)])
    while queue:
        number, world = queue.popleft()
        place = -1
        try:
            if world.brokers not in ends:
                check(setting, world.brokers)
                ends[world.brokers] = is_done(setting, world.brokers)
            if ends[world.brokers]:
                done.add(number)
            for place, (_, after) in enumerate(steps(setting, world)):
                if after == world:
                    continue
                known = numbers.setdefault(name(setting, after), len(numbers))
                if known == len(parents):
                    parents.append(number)
                    places.append(place)
                    queue.append((known, after))
                sources.append(number)
                targets.append(known)
        except Violation as violation:
            trace = way(setting, parents, places, number)
            return Verdict(len(numbers), len(sources), str(violation), trace, False)
        if len(numbers) > most:
            return Verdict(len(numbers), len(sources), "", (), False)
    stuck = cannot_end(len(numbers), sources, targets, done)
    if stuck is not None:
        trace = way(setting, parents, places, stuck)
        return Verdict(len(numbers), len(sources), "from here on, not everything can be copied", trace, True)
    return Verdict(len(numbers), len(sources), "", (), True)


def name(setting: Setting, world: World) -> int:
    """A hash of 64 bits stands for a state, and for that in which two equal owners have changed places."""
    owners, faults, wire, brokers, owned_by, ended_by = world
    hashes = tuple(map(hash, owners))
    sent = [(each.owner, hash(each.request), each.sequence, each.copy) for each in wire]
    same = hash((faults, brokers))
    here = hash((same, hashes, frozenset(sent), owned_by, ended_by))
    if setting.owners not in ((1, 1), (2, 2)):
        return here
    swapped = frozenset([(OTHER[owner], *rest) for owner, *rest in sent])
    by = (tuple([(each, OTHER[owner]) for each, owner in pairs]) for pairs in (owned_by, ended_by))
    return min(here, hash((same, hashes[::-1], swapped, *by)))


def way(setting: Setting, parents: array, places: array, number: int) -> tuple[Label, ...]:
    """The labels of the steps that lead to a state."""
    taken = []
    while number:
        taken.append(places[number])
        number = parents[number]
    world, labels = begin(setting), []
    for place in reversed(taken):
        label, world = list(steps(setting, world))[place]
        labels.append(label)
    return tuple(labels)


def cannot_end(states: int, sources: array, targets: array, done: set[int]) -> int | None:
    """The first state from which no way leads to one where everything is copied."""
    before: list[list[int]] = [[] for _ in range(states)]
    for source, target in zip(sources, targets, strict=True):
        before[target].append(source)
    can = bytearray(states)
    queue = deque(done)
    for number in done:
        can[number] = 1
    while queue:
        for source in before[queue.popleft()]:
            if not can[source]:
                can[source] = 1
                queue.append(source)
    place = can.find(0)
    return None if place < 0 else place
