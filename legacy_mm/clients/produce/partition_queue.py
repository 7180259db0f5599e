"""The batches that wait for one target partition, in order. No socket, no thread: `appender.py` holds the lock.

A queue sends its batches in order and never lets a retry change it. When one fails, nothing more is sent until every
request under way has been answered; then what was not acknowledged goes back to the front, and sequence numbers go on
from the first of it, so a batch that the broker has after all is recognised as a duplicate. Until the first batch under
a producer id is acknowledged, again after a failure, and where the last one is old, only one is under way: a broker
that knows nothing of the id, or no more, takes any first sequence number, also of a second batch whose first one
failed.

What a broker knows of a producer is as old as the records of its last batch, not as old as the request that brought
them. So it may forget a batch of old records at once, and take it a second time. Before such a batch is sent, where its
log ends is known; before it is sent again without an answer, that log is asked (`question`; `log_inquiry.py` asks). It
is asked, too, where the broker calls a number wrong that it may have: after a clean restart it knows the last one only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import ProducerForgotten
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import NO_PRODUCER, Header, ProducerStamp, RecordBatch

_SEQUENCES = 1 << 31
REMEMBERED_TIME = 1800.0
"""The time, counted from the last records, for which a broker surely remembers their producer:
`producer.id.expiration.ms` is a day, before 3.4 `transactional.id.expiration.ms` a week, and few clusters set them
below an hour.
"""
_UNKNOWN = -1
_NEVER = float("-inf")


def newest_time(header: Header, now: float, wall_ms: int) -> float:
    """Return the time of the youngest record on the clock of `now`, which is `wall_ms` on the wall; -inf if it has
    none.
    """
    return now - (wall_ms - header.max_timestamp) / 1000 if header.has_time else _NEVER


@dataclass(slots=True, eq=False)
class ProducerBatch:
    """A batch on its way; `opaque`, librdkafka's word, is what the caller wants back with the answer."""

    queue: PartitionQueue
    batch: RecordBatch
    opaque: Any
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
    """The number of retries."""
    damaged: int = 0
    """The number of times in a row the broker called the batch, or the batch that held it, damaged."""
    doubtful: bool = False
    """Once it failed in a way that leaves open whether the broker has it."""
    lost: bool = False
    """It was sent in its current form, and it is unknown if the broker has it."""
    disputed: bool = False
    """The broker calls its sequence number wrong, perhaps because it has it."""
    denied: bool = False
    """The last time the broker certainly did not take it."""
    dated: float = _NEVER
    """The time of its youngest record, on the clock of `since`."""

    @property
    def why(self) -> str:
        """The reason why it was refused, in the broker's words if it has any."""
        return self.reason or error_text.meaning(self.refusal)

    @property
    def may_have_arrived(self) -> bool:
        """Return True if the broker may have the abandoned batch, and with it its sequence numbers."""
        return self.doubtful or self.refusal == ErrorCode.REQUEST_TIMED_OUT

    def part(self, batch: RecordBatch, opaque: Any) -> ProducerBatch:
        """Return a new entry with some of the records, to be sent instead."""
        made = ProducerBatch(self.queue, batch, opaque, len(batch.buffer), self.since, self.deadline, dated=self.dated)
        made.damaged, made.doubtful = self.damaged, self.doubtful
        return made


class Question(NamedTuple):
    """A question to a log: its end, and if it holds a batch from `since` on (None: only its end)."""

    partition: TopicPartition
    since: int
    entry: ProducerBatch | None


class QueueTrouble(NamedTuple):
    """Why nothing gets through to a target partition, and since when."""

    reason: str
    since: float


class PartitionQueue:
    """The way to one target partition."""

    transactional_id: str | None = None
    """The id of the transactions that its batches belong to; a Produce request names one at most."""
    adds_partitions = False
    """A Produce request adds the partition to the transaction; all queues of a transactional id do the same."""
    not_retried: frozenset[int] = frozenset()
    """Errors that are handed to the caller although a later try may succeed."""
    abandoned = False
    """True once nobody waits for its answers any more."""

    def __init__(
        self,
        partition: TopicPartition,
        producer: tuple[int, int] | None,
        in_flight: int,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Create a queue; `producer` is id and epoch, None without idempotence; `in_flight` limits the batches in
        flight.
        """
        self.partition = partition
        self.pending: deque[ProducerBatch] = deque()
        self.under_way: deque[ProducerBatch] = deque()
        self.unanswered = 0
        self.recovering = False
        self.paused = False
        self.asking = False
        """Nothing is sent until the log has answered."""
        self.line: deque[PartitionQueue] | None = None
        """The queue of the broker's sender that holds this queue."""
        self.held: ProducerBatch | None = None
        """The refused batch that the queue waits for a decision about."""
        self.trouble: QueueTrouble | None = None
        """Why nothing gets through; gone with the next batch that does."""
        self._limit = in_flight
        self._clock = clock
        self._dated = _NEVER
        """The time of the last acknowledged batch, as in an entry: the age of the broker's knowledge."""
        self._end, self._end_known = _UNKNOWN, _NEVER
        """The offset after our records in the log (-1: unknown), and the time since when it is known."""
        self._sequence = 0
        self._use(producer)

    @property
    def unacknowledged(self) -> tuple[ProducerBatch, ...]:
        """The batches that the target does not have yet, in no order."""
        held = () if self.held is None else (self.held,)
        return (*self.pending, *self.under_way, *held)

    @property
    def size(self) -> int:
        """Bytes of what the target does not have yet."""
        return sum(entry.size for entry in self.unacknowledged)

    def hindered(self, reason: str, now: float) -> None:
        """Note that the batches do not get through, and the reason."""
        self.trouble = QueueTrouble(reason, now if self.trouble is None else self.trouble.since)

    def can_send(self) -> bool:
        """Return True if the next batch may be sent now."""
        if not self.pending or self.paused or self.recovering or self.asking or self.held is not None:
            return False
        return not self.under_way or len(self.under_way) < (self._limit if self._is_certain() else 1)

    def begin(self) -> ProducerBatch:
        """Return the next batch, with its sequence number written into it, to be sent at once."""
        entry = self.pending.popleft()
        entry.refusal, entry.reason, entry.blamed, entry.denied, entry.disputed = 0, "", {}, False, False
        producer = NO_PRODUCER
        if self._producer is not None:
            entry.sequence = self._sequence
            producer = ProducerStamp(*self._producer, self._sequence)
            self._sequence = (self._sequence + entry.batch.header.records) % _SEQUENCES
        entry.batch = entry.batch.restamp(producer, is_transactional=self.transactional_id is not None)
        self.under_way.append(entry)
        self.unanswered += 1
        return entry

    def question(self) -> Question | None:
        """Return the question the log must answer before the next batch is sent; None if there is none."""
        if not self.pending or self.under_way or self.asking or self.held is not None or self._producer is None:
            return None
        entry, old = self.pending[0], not self._is_remembered(self.pending[0].dated)
        if (old or entry.disputed) and self._is_in_doubt(entry):
            return Question(self.partition, self._end, entry)
        stale = self._clock() - self._end_known > REMEMBERED_TIME
        return Question(self.partition, self._end, None) if old and stale and not entry.lost else None

    def disputes(self, entry: ProducerBatch) -> bool:
        """Record that the broker calls the sequence number wrong; return True if the log can tell if it has the
        batch.
        """
        entry.disputed = self._is_in_doubt(entry)
        return entry.disputed

    def answered(self, question: Question, end: int, base_offset: int | None) -> bool:
        """Handle the end of the log (-1: unknown) and the entry's offset in it (-1: it is absent, None: unknown).

        Return True if this acknowledges the entry.
        """
        self.asking = False
        entry = question.entry
        if entry is None:
            self._knows(end)
            return False
        if not self.pending or self.pending[0] is not entry:
            return False  # it was given up meanwhile
        entry.lost = False
        entry.doubtful = entry.doubtful and base_offset is None
        if base_offset is None or base_offset == _UNKNOWN:
            return False
        self.pending.popleft()
        if self._producer == entry.batch.header.producer[:2]:
            self._sequence = (entry.sequence + entry.batch.header.records) % _SEQUENCES
        self._knows(base_offset + entry.batch.header.records)
        self.trouble = None
        return True

    def acknowledged(self, entry: ProducerBatch, base_offset: int = _UNKNOWN) -> list[ProducerBatch]:
        """Acknowledge the entry, and all that failed before it under the same producer id; return those and it.

        A broker takes no sequence number before those in front of it. Sent again, such a batch would pull the numbers
        of new batches back to those that the broker has given to others. Return an empty list where the earlier answer
        to a later entry, from a new leader, has acknowledged it. Raise ProducerForgotten where one of them certainly is
        absent.
        """
        self.unanswered -= 1
        self._proven = True
        self._dated = entry.dated
        self.trouble = None
        if base_offset != _UNKNOWN:
            self._knows(base_offset + entry.batch.header.records)
        if entry not in self.under_way:
            return []
        earlier = takewhile(lambda each: each is not entry, self.under_way) if self._producer is not None else ()
        known = [*earlier, entry]
        if any(each.denied for each in known):
            raise ProducerForgotten(f"the broker of {self.partition} has taken a batch without those before it")
        for each in known:
            self.under_way.remove(each)
        return known

    def failed(self, entry: ProducerBatch, *, denied: bool) -> None:
        """Mark the entry as refused or of unknown outcome; its `refusal` tells if a retry helps."""
        entry.denied = denied
        entry.doubtful = entry.doubtful or not denied
        entry.lost = entry.lost or not denied
        self.unanswered -= 1
        self.recovering = True

    def recovered(self) -> bool:
        """Put failed batches back to the front, in order, once all are answered. Return True when that was done."""
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

    def replace_held(self, batches: Iterable[ProducerBatch]) -> None:
        """Replace the refused batch by these."""
        self.held = None
        self.pending.extendleft(reversed(list(batches)))

    def drop_held(self, producer: tuple[int, int] | None) -> None:
        """Drop the refused batch; take a new producer id if it may have arrived."""
        self.held = None
        if producer is not None:
            self._use(producer)

    def may_start_anew(self) -> bool:
        """Return True if the refused batch and all after it certainly did not arrive, and the broker lost the producer
        id.

        Then a new id repeats nothing. The first batch under an id is refused for another reason.
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

    def _is_in_doubt(self, entry: ProducerBatch) -> bool:
        return entry.lost and self._end != _UNKNOWN

    def _is_remembered(self, dated: float) -> bool:
        """Return True if a broker still knows the producer of a batch with records of that time."""
        return self._clock() - dated <= REMEMBERED_TIME

    def _is_certain(self) -> bool:
        """Return True if the broker knows the producer id, even if nothing more of the batches in flight arrives."""
        if self._producer is None:
            return True
        return self._proven and self._is_remembered(min(self._dated, *(entry.dated for entry in self.under_way)))

    def _knows(self, end: int) -> None:
        self._end, self._end_known = end, self._clock()

    def _doubt(self) -> None:
        """Note that the broker may not know the producer id."""
        self._proven = self._producer is None
