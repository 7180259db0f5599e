"""Values that every layer uses. Frozen, without behaviour beyond their own meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class TopicPartition(NamedTuple):
    """A partition of a topic at the source; printed as Kafka prints it: `orders-3`."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


Offsets = Mapping[TopicPartition, int]
"""Partition -> the *next* offset to read: one past the last one that counts."""


class CommittedOffset(NamedTuple):
    """The offset a group has committed for a partition."""

    offset: int
    """The next record to read; -1: another client has taken the offset away."""
    metadata: str = ""


class GroupMember(NamedTuple):
    """A member of a consumer group, as the coordinator describes it."""

    client_id: str
    host: str


GroupOffsets = Mapping[TopicPartition, CommittedOffset]


class Lacking(NamedTuple):
    """Partitions without a position that counts."""

    partitions: Sequence[TopicPartition]
    foreign: Mapping[TopicPartition, tuple[int, str]]
    """One partition of each topic whose positions are of another log -> its position, and why."""


class OffsetPair(NamedTuple):
    """One position at the source and at the target."""

    upstream: int
    downstream: int


class OffsetRun(NamedTuple):
    """Records at consecutive source offsets that were written at consecutive target offsets.

    Several of them may be joined into one. Its source offsets may have holes, and its target offsets are too small, but
    never by more than `slack`.
    """

    upstream: int
    downstream: int
    length: int
    slack: int = 0

    @property
    def end(self) -> OffsetPair:
        """One past the last record of the run."""
        return OffsetPair(self.upstream + self.length, self.downstream + self.length)


class OffsetMapChunk(NamedTuple):
    """A part of everything that was ever added to an offset map, in that order."""

    number: int
    copied_until: int
    """Source offset up to which records had been copied before the chunk: one past the greatest."""
    follows: OffsetRun | None
    """The last run of the chunk before; None: nothing before counts any more."""
    runs: tuple[OffsetRun, ...]
    """A run of length 0 marks a stretch until the next run that was copied to unknown offsets."""


class JoinedChunk(NamedTuple):
    """A part of what has left the chunks of an offset map, in runs that are joined where that costs little."""

    number: int
    until: int
    """The last chunk that has left."""
    until_run: OffsetRun
    """The last run of that chunk, as the next one says in `follows`."""
    follows: OffsetRun | None
    """The last run of the joined chunk before; None: nothing before counts any more."""
    runs: tuple[OffsetRun, ...]


Outgoing = tuple[str, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...], int | None, int | None]
"""A record for the target: topic, key, value, headers, partition (None: by its key), timestamp (None: now)."""

EARLIEST = -2
LATEST = -1
"""Logical start offsets, with the numbers Kafka's ListOffsets uses."""
UNDEFINED = -3
"""No start offset: the group has none, and `auto.offset.reset=none` leaves it to a person, unless the target knows."""


_TIMES = -10
"""Lower numbers are times. Kafka's own ones end at -6."""


def at_time(milliseconds: int) -> int:
    """Return the logical start offset of the first record of this time (ms since 1970) or later; the end if there is
    none.
    """
    return _TIMES - milliseconds


def time_of(offset: int) -> int | None:
    """Return the time of such a logical start offset; None for any other."""
    return _TIMES - offset if offset <= _TIMES else None


def is_logical(offset: int) -> bool:
    """Return True for a start offset that the log of its partition must be asked for."""
    return offset in (EARLIEST, LATEST) or offset <= _TIMES


def start_within(found: int, low: int, end: int) -> int:
    """Return where reading begins in a log from `low` to `end` for its answer about a time; -1: none is so late."""
    return end if found < 0 else min(max(found, low), end)


def describe_partitions(partitions: Iterable[TopicPartition]) -> str:
    """Return `[orders-0, orders-1]`, sorted, as Kafka's log lines have it."""
    return "[" + ", ".join(str(partition) for partition in sorted(partitions)) + "]"


def describe_offsets(offsets: Offsets) -> str:
    """Return `{orders-0=17, orders-1=4}`, sorted."""
    return "{" + ", ".join(f"{partition}={offsets[partition]}" for partition in sorted(offsets)) + "}"
