"""Records that the target refuses for their own sake, set aside instead of ending the mirror or being lost.

Made only with `--send.on.error quarantine`. Such a record goes to the topic for quarantined ones, where one is named;
what that topic does not take, whatever the reason, goes to the file. Invariant A: its source offset is safe when the
topic has acknowledged it, or when the file is on the disk.

With a record the target refuses the whole batch, and librdkafka goes on with the next one. So the records engine sends
as many as make one batch for each partition, and waits for it; what was refused is sent again in halves until the
record stands alone. Nothing overtakes what is sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from legacy_mm.clients.librdkafka.sender import FailedSend, Refused
from legacy_mm.clients.librdkafka.senders import Senders
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.config.settings import QuarantineSettings
from legacy_mm.handlers.api import Record, TargetRecord
from legacy_mm.handlers.quarantine import QuarantineFile, quarantine_of
from legacy_mm.logs import events
from legacy_mm.model import Columns, Outgoing, TopicPartition

_LINGER = 60.0
"""Nobody waits for it: all that is sent is flushed."""
_RECORD_BYTES = 128
"""More than a record and each of its headers have beside their contents."""


class SetAside:
    """Puts refused records away, tells of each in a line, and counts them."""

    def __init__(self, settings: QuarantineSettings) -> None:
        self._settings = settings
        self._first = quarantine_of(settings)
        self._file = QuarantineFile(settings.file)
        self.count = 0

    def take(self, record: Record, reason: str) -> list[TargetRecord]:
        """Return the records to send to the topic for it; none where it is in the file already."""
        place = TopicPartition(record.topic, record.partition)
        events.emit(events.REFUSED, partition=place, offset=record.offset, reason=reason)
        self.count += 1
        return self._first.put(record, reason)

    def not_taken(self, record: Record, reason: str, why: str) -> None:
        """Write a record to the file that the topic does not take."""
        events.emit(
            events.QUARANTINE_REFUSED,
            topic=self._settings.topic,
            partition=TopicPartition(record.topic, record.partition),
            offset=record.offset,
            file=self._settings.file,
            reason=why,
        )
        self._file.put(record, reason)


class _Sent(NamedTuple):
    """A record as it is given to the sender, and the row of the source that it was made of."""

    record: Any
    source: Any


class _Failed(NamedTuple):
    sent: _Sent
    reason: str


class _Way(NamedTuple):
    """The sender's methods for records of one kind."""

    send: Callable[[list[_Sent]], int]
    topic: Callable[[Any], str]
    bytes: Callable[[Any], int]


class RefusedRecords:
    """Between the records engine and its sender."""

    def __init__(
        self,
        settings: QuarantineSettings,
        target: ProducerSettings,
        names: Mapping[str, str],
        make_sender: Callable[[ProducerSettings, Refused], Senders],
        pause: Callable[[], bool],
        flushed: Callable[[], bool],
    ) -> None:
        """Create the sender; `pause` waits a moment, `flushed` until all is acknowledged or failed; False: no time
        left.
        """
        self.sender = make_sender(_in_one_batch(target), self._admit)
        self._most_bytes = min(target.produce.max_request_bytes, target.produce.buffer_bytes) // 2
        self._pause = pause
        self._flushed = flushed
        self._aside = SetAside(settings)
        self._known: set[str] = set()
        self._failed: list[_Failed] = []
        self._to_quarantine = False
        self._rows = _Way(
            lambda sent: self.sender.send(Columns.from_rows([each.record for each in sent])),
            lambda row: names[row[0]],
            lambda row: _bytes(*row[-3:]),
        )
        self._outgoing = _Way(
            lambda sent: self.sender.send_outgoing([each.record for each in sent], 0, sent),
            lambda record: str(record[0]),
            lambda record: _bytes(*record[1:4]),
        )
        self.settled = True
        """False once no time was left: what was sent last is neither at the target nor set aside."""

    @property
    def count(self) -> int:
        """Records set aside."""
        return self._aside.count

    def send(self, records: Columns, begin: int) -> int:
        """Send as `Senders.send` does; records counted as sent are then at the target or in the quarantine."""
        return begin + self._copy([_Sent(row, row) for row in records.part(begin).rows()], self._rows)

    def send_outgoing(self, records: Sequence[Outgoing], begin: int, sources: Sequence[Any]) -> int:
        """Send as `Senders.send_outgoing` does; `sources` is the source row of each record."""
        pairs = zip(records[begin:], sources[begin:], strict=True)
        return begin + self._copy([_Sent(*pair) for pair in pairs], self._outgoing)

    def _copy(self, records: list[_Sent], way: _Way) -> int:
        """Copy the records and return the number sent."""
        count = self._one_batch(records, way)
        self.settled = self._settle(records[:count], way)
        return count

    def _one_batch(self, records: Sequence[_Sent], way: _Way) -> int:
        """Return the number of records that make one batch for each partition; one while the partitions are unknown."""
        for topic in {way.topic(each.record) for each in records} - self._known:
            if not self.sender.partitions(topic):
                return min(1, len(records))
            self._known.add(topic)
        total = 0
        for number, each in enumerate(records):
            total += way.bytes(each.record)
            if total > self._most_bytes and number:
                return number
        return len(records)

    def _settle(self, records: list[_Sent], way: _Way) -> bool:
        """Send them, and what is refused in halves, until all are at the target or set aside; False: no time left."""
        failed = self._try(records, way)
        if failed is None:
            return False
        if len(records) == 1:
            return all(self._set_aside(*each) for each in failed)
        middle = (len(failed) + 1) // 2
        halves = ([each.sent for each in half] for half in (failed[:middle], failed[middle:]) if half)
        return all(self._settle(half, way) for half in halves)

    def _try(self, records: list[_Sent], way: _Way) -> list[_Failed] | None:
        """Try to send; return the refused records in order, or None if there is no time left."""
        self._failed = []
        while (sent := way.send(records)) < len(records):
            records = records[sent:]
            if not self._pause():
                return None
        return self._failed if self._flushed() else None

    def _set_aside(self, refused: _Sent, reason: str) -> bool:
        record = Record(*refused.source)
        self._to_quarantine = True
        failed = self._try(
            [_Sent(target, refused.source) for target in self._aside.take(record, reason)], self._outgoing
        )
        self._to_quarantine = False
        for each in failed or ():
            self._aside.not_taken(record, reason, each.reason)
        return failed is not None

    def _admit(self, origin: Any, failed: FailedSend) -> bool:
        """Tell if a failed record is one of ours; called from librdkafka, so it never raises."""
        if failed.fatal or failed.refuses_idempotence or not (failed.of_the_record or self._to_quarantine):
            return False
        sent = origin if isinstance(origin, _Sent) else _Sent(origin, origin)
        self._failed.append(_Failed(sent, failed.reason))
        return True


def _in_one_batch(target: ProducerSettings) -> ProducerSettings:
    """Return settings with which librdkafka's producer sends nothing before a flush; its linger must be below the
    timeout.
    """
    linger = min(_LINGER, target.produce.delivery_timeout / 2)
    produce = replace(target.produce, linger=linger, batch_bytes=(1 << 31) - 1, batch_records=1_000_000)
    return replace(target, produce=produce)


def _bytes(key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes | None]]) -> int:
    """Return an upper bound of the record's bytes."""
    named = sum(_RECORD_BYTES + 4 * len(name) + len(content or b"") for name, content in headers)
    return _RECORD_BYTES + len(key or b"") + len(value or b"") + named
