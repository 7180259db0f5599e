"""Records that the target refuses for their own sake, set aside instead of ending the mirror or being lost.

Made only with `--send.on.error quarantine`. Such a record goes to the topic for quarantined ones, where one is named;
what that topic does not take, whatever the reason, goes to the file. Invariant A: its source offset is safe when the
topic has acknowledged it, or when the file is on the disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from legacy_mm import events
from legacy_mm.config.settings import QuarantineSettings
from legacy_mm.handlers.api import Record, TargetRecord
from legacy_mm.handlers.quarantine import QuarantineFile, quarantine_of
from legacy_mm.kafka.reader import columns
from legacy_mm.kafka.sender import FailedSend
from legacy_mm.model import Outgoing, TopicPartition

Send = Callable[[Sequence[Outgoing], int, Sequence[Any]], int]
"""(records, index of the first, what they were made of) -> index of the first that did not fit."""


class SetAside:
    """Puts refused records away, tells of each in a line, and counts them."""

    def __init__(self, settings: QuarantineSettings) -> None:
        self._settings = settings
        self._first = quarantine_of(settings)
        self._file = QuarantineFile(settings.file)
        self.count = 0

    def take(self, record: Record, reason: str) -> list[TargetRecord]:
        """What is to be sent to the topic for it; nothing where it is in the file already."""
        place = TopicPartition(record.topic, record.partition)
        events.emit(events.REFUSED, partition=place, offset=record.offset, reason=reason)
        self.count += 1
        return self._first.put(record, reason)

    def not_taken(self, record: Record, reason: str, why: str) -> None:
        """The topic does not take it: it goes to the file."""
        events.emit(
            events.QUARANTINE_REFUSED,
            topic=self._settings.topic,
            partition=TopicPartition(record.topic, record.partition),
            offset=record.offset,
            file=self._settings.file,
            reason=why,
        )
        self._file.put(record, reason)


class _OnItsWay(NamedTuple):
    """A refused record, and why it was; the origin of what is sent to the quarantine's topic."""

    record: Record
    reason: str


class RefusedRecords:
    """For the records engine: librdkafka's callbacks say what was refused, the engine's own thread puts it away.

    Each record is a batch of its own: with a batch the target refuses all that is in it, and what was not meant could
    only be sent again behind its successors.
    """

    def __init__(self, settings: QuarantineSettings) -> None:
        self._aside = SetAside(settings)
        self._found: deque[tuple[Any, str]] = deque()
        self._untaken: deque[tuple[_OnItsWay, str]] = deque()
        self._waiting: list[tuple[TargetRecord, _OnItsWay]] = []

    @property
    def count(self) -> int:
        """Records set aside."""
        return self._aside.count

    @staticmethod
    def one_by_one(properties: Mapping[str, str]) -> dict[str, str]:
        """librdkafka's producer properties with which each record stands and falls alone."""
        return {**properties, "batch.num.messages": "1"}

    def admit(self, origin: Any, failed: FailedSend) -> bool:
        """Whether a failed record is one of ours; `origin` is the source's message. Never raises."""
        if failed.fatal or failed.refuses_idempotence:
            return False
        if isinstance(origin, _OnItsWay):
            self._untaken.append((origin, failed.reason))
            return True
        if failed.of_the_record:
            self._found.append((origin, failed.reason))
        return failed.of_the_record

    def settle(self, send: Send) -> bool:
        """Put away what was refused so far; True when there was nothing, and nothing waits for room in the queue."""
        if not (self._found or self._untaken or self._waiting):
            return True
        while self._untaken:
            (record, reason), why = self._untaken.popleft()
            self._aside.not_taken(record, reason, why)
        while self._found:
            message, reason = self._found.popleft()
            record = Record(*next(columns([message]).rows()))
            made = _OnItsWay(record, reason)
            self._waiting += [(target, made) for target in self._aside.take(record, reason)]
        if self._waiting:
            targets, origins = zip(*self._waiting, strict=True)
            del self._waiting[: send(targets, 0, origins)]
        return False
