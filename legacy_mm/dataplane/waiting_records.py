"""Records that cannot be copied, in a flow that nobody starts again by hand: each waits, and holds up its partition.

Made only for MirrorMaker 2's files. A record that the target refuses stays at the front of its queue and is sent again
at growing pauses; one on which the transforms fail, or that is corrupt, is read again at such pauses. What comes after
it in its source partition waits with it, in order; others are copied meanwhile. So a failure that lasts copies nothing
again, and one that is mended (a limit, a right, a service that a transform asks) ends by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import CorruptRecords, HandlerFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.dataplane.acks import Part
from legacy_mm.dataplane.send_failure import WITHOUT_TIME, date, in_our_words, remedy, time_of
from legacy_mm.logs import events
from legacy_mm.policies.growing_pauses import pause_after
from legacy_mm.protocol import error_codes

_HANDLER_REMEDY = "see to what the transforms need; or set errors.tolerance=all to leave such records out"
_CORRUPT_REMEDY = "see to the log at the source: another replica of the partition may be intact"


@dataclass(slots=True)
class _Waiting:
    refused: ProducerBatch | None
    """None: it was sent again, and has no answer yet."""
    source: TopicPartition
    offset: int
    reason: str
    tries: int
    retry_at: float


class _Failed(NamedTuple):
    """A record that cannot be read or handled."""

    offset: int
    topic: str
    reason: str
    tries: int


class WaitingRecords:
    """The waiting records of one copy job."""

    def __init__(self, appender: BatchAppender) -> None:
        self._appender = appender
        self._waiting: dict[TopicPartition, _Waiting] = {}
        self._failed: dict[TopicPartition, _Failed] = {}
        """By source partition."""
        self._is_over = False

    def add(self, refused: ProducerBatch) -> bool:
        """Let a refused batch wait, which is one record or is refused for a reason that concerns all of its records.

        Return False at the end of copying, which waits for none.
        """
        if self._is_over:
            return False
        part: Part = refused.opaque
        place, source, offset = refused.queue.partition, part.piece.partition, part.offsets[0]
        tries = _tries(self._waiting.get(place), offset)
        pause = pause_after(tries)
        reason = f"{error_codes.name(refused.refusal)}: {in_our_words(refused.why)}"
        self._waiting[place] = _Waiting(refused, source, offset, reason, tries, monotonic() + pause)
        refused.queue.hindered(reason, monotonic())
        events.emit(
            events.RECORD_WAITS,
            partition=source,
            offset=offset,
            time=time_of(refused.batch.header),
            topic=place.topic,
            reason=reason,
            remedy=remedy(refused.refusal, place.topic),
            seconds=f"{pause:g}",
        )
        return True

    def failed(self, source: TopicPartition, offset: int, topic: str, error: CorruptRecords | HandlerFailure) -> float:
        """Note that the record at this offset cannot be copied; return the seconds until it is to be tried again."""
        tries = _tries(self._failed.get(source), offset)
        self._failed[source] = _Failed(offset, topic, str(error), tries)
        pause = pause_after(tries)
        timestamp = error.timestamp if isinstance(error, HandlerFailure) else None
        events.emit(
            events.PARTITION_WAITS,
            partition=source,
            offset=offset,
            time=WITHOUT_TIME if timestamp is None else date(timestamp),
            reason=str(error),
            remedy=_HANDLER_REMEDY if isinstance(error, HandlerFailure) else _CORRUPT_REMEDY,
            seconds=f"{pause:g}",
        )
        return pause

    def passed(self, source: TopicPartition, next_offset: int) -> None:
        """Say that a record that could not be copied is behind us."""
        known = self._failed.get(source)
        if known is not None and known.offset < next_offset:
            del self._failed[source]
            events.emit(events.PARTITION_GOES_ON, partition=source, offset=known.offset)

    def forget(self, source: TopicPartition) -> None:
        """Forget a partition that goes on elsewhere."""
        self._failed.pop(source, None)

    def poll(self) -> None:
        """Send those again whose pause is over."""
        now = monotonic()
        for waiting in self._waiting.values():
            if waiting.refused is not None and waiting.retry_at <= now:
                refused, waiting.refused = waiting.refused, None
                self._appender.replace(refused, [(refused.batch, refused.opaque)])

    def acknowledged(self, part: Part) -> None:
        """Say that a record that waited is at the target."""
        if not self._waiting:
            return
        for place, waiting in list(self._waiting.items()):
            if waiting.source == part.piece.partition and waiting.refused is None and waiting.offset in part.offsets:
                del self._waiting[place]
                events.emit(events.RECORD_GOES_ON, partition=waiting.source, offset=waiting.offset)

    def give_up(self) -> list[ProducerBatch]:
        """Wait for none of them any more; return those to abandon, so that the next copy job begins at them."""
        self._is_over = True
        return [waiting.refused for waiting in self._waiting.values() if waiting.refused is not None]

    def places(self) -> Collection[TopicPartition]:
        """Return the target partitions that are held up."""
        return self._waiting.keys()

    def reasons(self) -> Mapping[str, str]:
        """Return target topic -> a record that waits, and why."""
        failed = {
            each.topic: f"{source} waits at offset {each.offset}: {each.reason}"
            for source, each in self._failed.items()
        }
        return failed | {
            place.topic: f"{waiting.source} waits at offset {waiting.offset}: {waiting.reason}"
            for place, waiting in self._waiting.items()
        }


def _tries(known: _Waiting | _Failed | None, offset: int) -> int:
    """Return how often the record at this offset was tried again."""
    return known.tries + 1 if known is not None and known.offset == offset else 0
