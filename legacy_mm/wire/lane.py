"""What waits for one target partition, in order. No socket, no thread: `appender.py` holds the lock.

A lane sends its batches in order and never lets a retry change it. When one fails, nothing more is sent until every
request under way has been answered; then what was not acknowledged goes back to the front, and sequence numbers go on
from the first of it, so a batch that the broker has after all is recognised as a duplicate. Until the first batch
under a producer id is acknowledged, again after a failure, and after a long rest, only one is under way: a broker that
knows nothing of the id, or no more, takes any first sequence number, also of a second batch whose first one failed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

from legacy_mm.model import TopicPartition
from legacy_mm.protocol.record_batch import NO_PRODUCER, Producer, RecordBatch
from legacy_mm.wire import failures
from legacy_mm.wire.errors import ProducerForgotten

_SEQUENCES = 1 << 31
_REMEMBERED_SECONDS = 600.0
"""So long a broker keeps sequence numbers in any case; its `producer.id.expiration.ms` is a day unless set lower."""


@dataclass(slots=True, eq=False)
class Entry:
    """A batch on its way; `receipt` is whatever the caller wants back when it is acknowledged or refused."""

    lane: Lane
    batch: RecordBatch
    receipt: Any
    size: int
    since: float
    deadline: float
    """When the target has had long enough (`delivery.timeout.ms`)."""
    sequence: int = 0
    refusal: int = 0
    """The error code with which the broker refused it for good."""
    reason: str = ""
    """Why, in the broker's own words, if it told any."""
    blamed: Mapping[int, str] = field(default_factory=dict)
    """Why, by the place of a record in the batch, if it named any."""
    attempts: int = 0
    """How often it was sent again."""
    damaged: int = 0
    """How often in a row the broker called it damaged, or what it was a part of."""
    doubtful: bool = False
    """Once it failed in a way that leaves open whether the broker has it."""
    denied: bool = False
    """The last time the broker certainly did not take it."""

    @property
    def may_have_arrived(self) -> bool:
        """Whether the broker, for all we know, has what was given up, and with it its sequence numbers."""
        return self.doubtful or self.refusal == failures.TIMED_OUT

    def part(self, batch: RecordBatch, receipt: Any) -> Entry:
        """Some of its records, to be sent in its place."""
        made = Entry(self.lane, batch, receipt, len(batch.buffer), self.since, self.deadline)
        made.damaged, made.doubtful = self.damaged, self.doubtful
        return made


class Trouble(NamedTuple):
    """Why nothing gets through to a target partition, and since when."""

    reason: str
    since: float


class Lane:
    """The way to one target partition."""

    def __init__(self, partition: TopicPartition, producer: tuple[int, int] | None, in_flight: int) -> None:
        """`producer`: id and epoch, None without idempotence. `in_flight`: the most batches under way at once."""
        self.partition = partition
        self.pending: deque[Entry] = deque()
        self.under_way: deque[Entry] = deque()
        self.unanswered = 0
        self.recovering = False
        self.paused = False
        self.line: deque[Lane] | None = None
        """Where its broker's channel has it in line."""
        self.held: Entry | None = None
        """The refused batch that the lane waits for a decision about."""
        self.trouble: Trouble | None = None
        """Why nothing gets through; gone with the next batch that does."""
        self._limit = in_flight
        self._used = 0.0
        self._sequence = 0
        self._use(producer)

    @property
    def size(self) -> int:
        """Bytes of what the target does not have yet."""
        held = () if self.held is None else (self.held,)
        return sum(entry.size for entry in (*self.pending, *self.under_way, *held))

    def hindered(self, reason: str, now: float) -> None:
        """Its batches do not get through, and why."""
        self.trouble = Trouble(reason, now if self.trouble is None else self.trouble.since)

    def can_send(self) -> bool:
        """Whether the next batch may go now."""
        if not self.pending or self.paused or self.recovering or self.held is not None:
            return False
        return len(self.under_way) < (self._limit if self._proven else 1)

    def begin(self) -> Entry:
        """The next batch, to be sent at once, with its sequence number written into it."""
        entry = self.pending.popleft()
        entry.refusal, entry.reason, entry.blamed, entry.denied = 0, "", {}, False
        if entry.since - self._used > _REMEMBERED_SECONDS:
            self._doubt()
        self._used = entry.since
        producer = NO_PRODUCER
        if self._producer is not None:
            entry.sequence = self._sequence
            producer = Producer(*self._producer, self._sequence)
            self._sequence = (self._sequence + entry.batch.header.records) % _SEQUENCES
        entry.batch = entry.batch.restamp(producer)
        self.under_way.append(entry)
        self.unanswered += 1
        return entry

    def acknowledged(self, entry: Entry) -> list[Entry]:
        """The broker has it, and with it all that failed before it under the same producer id: those, and it itself.

        A broker takes no sequence number before those in front of it. Sent again, such a batch would pull the numbers
        of new batches back to those that the broker has given to others. None, where an answer to a later one that came
        first, from a new leader, has said so. Raises ProducerForgotten where one of them certainly is not there.
        """
        self.unanswered -= 1
        self._proven = True
        self.trouble = None
        if entry not in self.under_way:
            return []
        earlier = takewhile(lambda each: each is not entry, self.under_way) if self._producer is not None else ()
        known = [*earlier, entry]
        if any(each.denied for each in known):
            raise ProducerForgotten(f"the broker of {self.partition} has taken a batch without those before it")
        for each in known:
            self.under_way.remove(each)
        return known

    def failed(self, entry: Entry, *, denied: bool) -> None:
        """It was certainly not taken, or nobody knows; its `refusal` tells whether trying again helps."""
        entry.denied = denied
        entry.doubtful = entry.doubtful or not denied
        self.unanswered -= 1
        self.recovering = True

    def recovered(self) -> bool:
        """Once all is answered: put what failed back to the front, in order. True when that has been done."""
        if not self.recovering or self.unanswered:
            return False
        if self.under_way:
            self._sequence = self.under_way[0].sequence
        self.pending.extendleft(reversed(self.under_way))
        self.under_way.clear()
        self.recovering = False
        self._doubt()
        if self.pending and self.pending[0].refusal:
            self.held = self.pending.popleft()
        return True

    def replace_held(self, batches: Iterable[Entry]) -> None:
        """Go on with these in the place of the refused one."""
        self.held = None
        self.pending.extendleft(reversed(list(batches)))

    def drop_held(self, producer: tuple[int, int] | None) -> None:
        """Go on without the refused one: under a new producer id if nobody knows whether it arrived."""
        self.held = None
        if producer is not None:
            self._use(producer)

    def may_start_anew(self) -> bool:
        """Whether the refused one and all behind it are certainly not at the broker, which has lost the producer id.

        Then another id repeats nothing. The first batch under an id is refused for another reason.
        """
        assert self.held is not None
        return self.held.sequence > 0 and not any(entry.doubtful for entry in (self.held, *self.pending))

    def start_anew(self, producer: tuple[int, int]) -> None:
        """Send the refused one and all behind it under a new producer id."""
        assert self.held is not None
        self.pending.appendleft(self.held)
        self.drop_held(producer)

    def _use(self, producer: tuple[int, int] | None) -> None:
        self._producer = producer
        self._sequence = 0
        self._doubt()

    def _doubt(self) -> None:
        """The broker may not know the producer id."""
        self._proven = self._producer is None
