"""A check that target topics can hold the partitions of their sources (`preserve.partitions`), and its messages.

The `batches` engine checks with the metadata of both clusters; the `records` engine has `PartitionCounts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from legacy_mm.clock import Deadline
from legacy_mm.errors import StreamFailure

GROWTH_TIMEOUT = 10.0
"""The time a target topic may take to get its missing partitions."""
Move = tuple[str, int, str]
"""Source topic, partition, target topic."""


def too_few(topic: str, count: int, wanted: int) -> StreamFailure:
    """Return the failure that ends the mirror before a record is sent to a wrong partition."""
    return StreamFailure(
        f"preserve.partitions: {topic} has {count} partitions at the target and {wanted} at the source; "
        f"give it {wanted}, or leave preserve.partitions off"
    )


class NamedPartitions:
    """A check that target topics have the partitions which a handler names."""

    def __init__(self, at_target: Callable[[str], int | None], seconds: float) -> None:
        """Create the check; `at_target` as for `PartitionCounts`; `seconds` is the wait for a missing partition."""
        self._at_target = at_target
        self._seconds = seconds
        self._known: dict[str, int] = {}

    def are_there(self, named: Iterable[tuple[str, int]], go_on_waiting: Callable[[], bool]) -> bool:
        """Return True if records for these partitions may be sent; False when waiting was given up.

        A partition that stays away is let through: the producer reports it in the legacy tool's words.
        """
        return all(
            self._is_there(topic, number, go_on_waiting)
            for topic, number in named
            if number >= self._known.get(topic, 0)
        )

    def _is_there(self, topic: str, number: int, go_on_waiting: Callable[[], bool]) -> bool:
        deadline = Deadline.after(self._seconds)
        while number >= self._count(topic) and not deadline.expired():
            if not go_on_waiting():
                return False
        return True

    def _count(self, topic: str) -> int:
        self._known[topic] = self._at_target(topic) or 0
        return self._known[topic]


class PartitionCounts:
    """Compares the two topics before the first record moves, and again when the source has grown."""

    def __init__(
        self, at_source: Callable[[str], int | None], at_target: Callable[[str], int | None], missing_seconds: float
    ) -> None:
        """Create the check; the functions return the number of partitions: 0 for a missing topic, None without an
        answer.

        `missing_seconds`: the wait for a topic that is missing at the target.
        """
        self._at_source = at_source
        self._at_target = at_target
        self._missing_seconds = missing_seconds
        self._proven: dict[tuple[str, str], int] = {}

    def suffice(self, moves: Iterable[Move], go_on_waiting: Callable[[], bool]) -> bool:
        """Return True if these may be sent; False when waiting was given up. Raise StreamFailure when there are too
        few.

        A topic that stays away is let through: the producer reports in the legacy tool's words that it is missing.
        """
        return all(
            self._is_enough(source, target, number + 1, go_on_waiting)
            for source, number, target in moves
            if number >= self._proven.get((source, target), 0)
        )

    def _is_enough(self, source: str, target: str, least: int, go_on_waiting: Callable[[], bool]) -> bool:
        missing = Deadline.after(self._missing_seconds)
        growing: Deadline | None = None
        while True:
            there = self._at_source(source)
            count = None if there is None else self._at_target(target)
            if count is None:  # no answer, or the topic is not created yet
                missing = Deadline.after(self._missing_seconds)
            elif there is not None:
                least = max(least, there)
                if count >= least or (not count and missing.expired()):
                    self._proven[source, target] = least
                    return True
                if count:
                    growing = growing or Deadline.after(GROWTH_TIMEOUT)
                    if growing.expired():
                        raise too_few(target, count, least)
            if not go_on_waiting():
                return False
