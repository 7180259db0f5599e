"""Records of the source, read in whole batches with our own sockets: what `PartitionReader` is with librdkafka.

A batch is walked by compiled code and becomes lists of keys, values and times; librdkafka makes an object of each
record, and with it the copying takes half as much CPU again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from legacy_mm.clients.librdkafka.reader import not_text, unreadable
from legacy_mm.clients.native.connection_errors import UnsupportedVersion
from legacy_mm.clients.native.fetch_buffer import CompletedFetch
from legacy_mm.clients.native.inspector import count_partitions
from legacy_mm.config.kafka_clients import ConsumerSettings
from legacy_mm.control_channel.frames import Gap, Started, Statistics
from legacy_mm.dataplane.batch_source import BatchSource
from legacy_mm.dataplane.keep_alive import RetryLoop
from legacy_mm.errors import CorruptRecords, EngineUnfit, StreamFailure
from legacy_mm.handlers.api import Headers
from legacy_mm.handlers.batches import kind_of_times
from legacy_mm.model import NO_RECORDS, Columns, Offsets, TopicPartition
from legacy_mm.protocol.compression import Decompressor
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.record_fields import Fields, RawHeaders, fields
from legacy_mm.protocol.record_set import decompress_records

BATCH_RECORDS, BATCH_BYTES = 1_000, 1 << 20


class _Part(NamedTuple):
    """Some records of a batch, and the bytes that they took in it."""

    records: Columns
    size: int


class NativeReader:
    """Reads the partitions of one copy job. Not for several threads."""

    def __init__(
        self,
        settings: ConsumerSettings,
        timeout: float,
        on_statistics: Callable[[Statistics], None],
        retries: RetryLoop,
    ) -> None:
        """Create the reader; `timeout` is in seconds, for the source to return the start offsets."""
        self._timeout = timeout
        self._on_statistics = on_statistics
        self._retries = retries
        self._decompress = Decompressor()
        self._source = BatchSource(settings, self._decompress, keeps_append_time=True)
        self._parts: Iterator[_Part] = iter(())
        self._in_hand: TopicPartition | None = None
        self._gaps: list[Gap] = []
        self._failure: StreamFailure | EngineUnfit | None = None

    def start(self, offsets: Offsets) -> Started:
        """Begin to fetch; the actual start offsets, EARLIEST and LATEST resolved. None of them when we stop.

        Those of partitions without a leader come later, from `take_started`.
        """
        source = self._source
        source.cluster.keep_fresh(source.traffic.on_trouble)
        try:
            return self._retries.ask(lambda: source.fetcher.start(offsets), self._timeout) or Started({})
        except UnsupportedVersion as error:
            raise EngineUnfit(str(error)) from error

    def read(self, timeout: float) -> Columns:
        """Read available records, not much more than BATCH_RECORDS or BATCH_BYTES; wait only for the first.

        Return None at the end of a record set without more: a long row of such must delay neither stop nor barrier.
        Raise StreamFailure or EngineUnfit, but only after all earlier records were returned.
        """
        if statistics := self._source.traffic.statistics_when_due():
            self._on_statistics(statistics)
        found: list[Columns] = []
        count = size = 0
        while count < BATCH_RECORDS and size < BATCH_BYTES and self._failure is None:
            try:
                part = next(self._parts, None)
                if part is None:
                    ended, self._in_hand = self._in_hand, None
                    if (ended and not found) or not self._take(0.0 if found else timeout):
                        break
                    continue
            except (StreamFailure, EngineUnfit) as error:
                self._failure = EngineUnfit(str(error)) if isinstance(error, UnsupportedVersion) else error
                break
            found.append(part.records)
            count += len(part.records)
            size += part.size
        if self._failure is not None and not found:
            raise self._failure
        return Columns.joined(found) if found else NO_RECORDS

    def partitions(self, topic: str) -> int | None:
        """Return a topic's partition count, asked now: 0 if it does not exist, None without an answer."""
        return count_partitions(self._source.cluster, topic)

    def cluster_id(self) -> str:
        """Return the source's cluster id from earlier answers; empty before the first."""
        return self._source.cluster.cluster_id()

    def take_gaps(self) -> list[Gap]:
        """Take gaps found since the last call; a gap comes only after all earlier records were returned."""
        self._gaps += self._source.fetcher.take_gaps()
        if not self._gaps:
            return []
        found = [gap for gap in self._gaps if gap.topic_partition != self._in_hand]
        self._gaps = [gap for gap in self._gaps if gap.topic_partition == self._in_hand]
        return found

    def resume(self, offsets: Offsets, positions: Offsets) -> None:
        """Resume partitions that waited."""
        self._source.fetcher.resume(offsets)

    def hold(self, offsets: Offsets, positions: Offsets) -> None:
        """Read no more of these until `resume`."""
        for partition, offset in offsets.items():
            self._source.fetcher.hold(partition, offset)
        if self._in_hand in offsets:
            self._parts, self._in_hand = iter(()), None

    def take_started(self, positions: Callable[[], Offsets]) -> Started | None:
        """Take the start offsets of partitions that got their first leader."""
        return self._source.fetcher.take_started()

    def close(self) -> None:
        """Read no more."""
        self._source.fetcher.close()
        self._source.cluster.close()

    def _take(self, timeout: float) -> bool:
        """Take the next record set; return True if there is one."""
        fetched = self._source.fetcher.take(timeout)
        if fetched is not None:
            self._in_hand = fetched.partition
            self._parts = self._opened(fetched)
        return fetched is not None

    def _opened(self, fetched: CompletedFetch) -> Iterator[_Part]:
        traffic, partition = self._source.traffic, fetched.partition
        try:
            for batch, _ in self._source.data(fetched, BATCH_BYTES):
                header = batch.header
                kind = kind_of_times(header)
                for part in self._fields(batch, fetched.position):
                    columns, flaw = _columns(partition, kind, part)
                    if len(columns):
                        yield _Part(columns, part.size)
                    if flaw is not None:
                        raise flaw
                traffic.carried(partition, header.records, len(batch.buffer), header.next_offset)
        except (CorruptRecords, EngineUnfit) as error:
            raise type(error)(f"{partition}: {error}") from error
        traffic.passed(partition, fetched.record_set.next_offset)

    def _fields(self, batch: RecordBatch, begin: int) -> Iterator[Fields]:
        records = decompress_records(batch, self._decompress)
        return fields(batch.header, records, from_offset=begin, most=BATCH_RECORDS, most_bytes=BATCH_BYTES)


def _columns(partition: TopicPartition, kind: int, part: Fields) -> tuple[Columns, StreamFailure | None]:
    """Return the records before the first one that librdkafka could not send, and what is wrong with that one."""
    offsets, timestamps, keys, values, raw, _ = part
    count = len(offsets)
    headers: list[Headers] = []
    flaw = None
    try:
        for offset, each in zip(offsets, raw, strict=True) if any(raw) else ():
            headers.append(_text(partition, offset, each) if each else ())
    except StreamFailure as error:
        flaw = error
    sound = count if flaw is None else len(headers)
    headers += [()] * (count - len(headers))
    topics, numbers = [partition.topic] * count, [partition.partition] * count
    return Columns(topics, numbers, offsets, [kind] * count, timestamps, keys, values, headers).part(0, sound), flaw


def _text(partition: TopicPartition, offset: int, headers: RawHeaders) -> Headers:
    if any(b"\0" in name for name, _ in headers):
        raise unreadable(partition, offset, "holds a NUL, where librdkafka's Python client would cut it off")
    try:
        return tuple((name.decode(), value) for name, value in headers)
    except UnicodeDecodeError as error:
        raise unreadable(partition, offset, not_text(error)) from error
