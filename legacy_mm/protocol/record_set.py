"""The record batches of one partition in a fetch response, the last one often cut off, and the choice of data batches.

    record_set = whole_batches(answer)
    for batch, codec in DataBatches(decompress, check_crcs=True).of(record_set, committed, most_bytes=960 << 10): ...

Nothing is made for each batch before it is needed, and for little ones it never is: calls of a kernel check and join
as many as follow one another. A Java producer with its default `batch.size` fills a batch with 16 KB: sixteen records
of 1 KB. The legacy tool, too, made batches of its own. With `read_committed`, while an aborted transaction is among the
answer's, `CommittedOnly` has to see every batch, in order. What is in format 0 or 1 becomes batches here
(`message_set.py`).
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.buffers import unwritten
from legacy_mm.protocol.compression import Codec, Decompressor
from legacy_mm.protocol.fetch_messages import FetchedPartition
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.message_set import MessageSets, holds_messages, whole_messages
from legacy_mm.protocol.record_batch import (
    CODEC_BITS,
    CONTROL_BIT,
    HEADER_SIZE,
    LOG_APPEND_BIT,
    LOG_OVERHEAD,
    MAGIC,
    Header,
    RecordBatch,
    is_right,
    seal,
)
from legacy_mm.protocol.records import first_key

_OFFSET_AND_LENGTH = struct.Struct(">qi")
_MAGIC_AT = 16
_OLD_OVERHEAD = 14  # of a message in format 0, from its checksum on: the least that any length may say
_CONTROL_KEY = struct.Struct(">hh")  # version, type
_ABORT = 0
LITTLE_BYTES = {
    Codec.NONE: 480 << 10,
    Codec.LZ4: 12 << 10,
    Codec.SNAPPY: 12 << 10,
    Codec.ZSTD: 6 << 10,
    Codec.GZIP: 2 << 10,
}
"""Bytes of a batch, compressed; a larger one costs less to send than to make anew. A batch costs this process and the
target broker some 0.1 ms each, whatever is in it. Without compression it is only copied, so whatever fits is joined.
"""
_MOST_BATCHES = 2_048
_CHECKED_BYTES = 1_024
"""Up to this size the kernel computes a checksum in less time than a call of the package takes."""
_CODEC_AT = 22
"""The place of the codec in a header."""
_MOST_GROWTH = 4
"""A record grows by less than this factor when it is joined with others."""


class Ending(Enum):
    """Why the walk over a record set ended before its bytes did."""

    CUT_OFF = "the last batch is cut off: fetch again from its offset, with more bytes if it is the only one"
    OLD_FORMAT = "messages of format 0 or 1: see `message_set.py`"


class Tail(NamedTuple):
    """The bytes of a record set that are no whole batch of format 2."""

    ending: Ending
    position: int
    base_offset: int | None  # None: not even the offset is whole
    magic: int | None


def read_batches(records: memoryview) -> Iterator[RecordBatch | Tail]:
    """Yield the batches of a record set, then a Tail if bytes are left; raise CorruptRecords after the last sound one.

    Checksums are not checked: `with_data` does that.
    """
    at, end = 0, len(records)
    while at < end:
        if end - at < LOG_OVERHEAD:
            yield Tail(Ending.CUT_OFF, at, None, None)
            return
        base_offset, length = _OFFSET_AND_LENGTH.unpack_from(records, at)
        if length < _OLD_OVERHEAD:
            raise CorruptRecords(f"record batch at offset {base_offset}: a length of {length} is less than a header")
        if end - at <= _MAGIC_AT:
            yield Tail(Ending.CUT_OFF, at, base_offset, None)
            return
        (magic,) = struct.unpack_from(">b", records, at + _MAGIC_AT)
        if 0 <= magic < MAGIC:
            yield Tail(Ending.OLD_FORMAT, at, base_offset, magic)
            return
        after = at + LOG_OVERHEAD + length
        if after > end and magic == MAGIC:
            yield Tail(Ending.CUT_OFF, at, base_offset, magic)
            return
        if after < at + HEADER_SIZE or magic != MAGIC:
            raise CorruptRecords(f"record batch at offset {base_offset}: format {magic}, length {length}")
        yield RecordBatch.read(records[at:after])
        at = after


@dataclass(frozen=True, slots=True)
class RecordSet:
    """Whole, sound batches of one partition that follow one another in the log. Their checksums are not checked."""

    data: memoryview
    batches: int
    next_offset: int
    """One past the last record of the last batch; -1 without a batch."""
    leader_epoch: int
    """The leader epoch of the last batch; -1: unknown."""
    of_messages: bool = False
    """True where they are messages of format 0 or 1, and none is a batch; `batches` counts wrappers as one."""

    @classmethod
    def read(cls, data: memoryview) -> RecordSet:
        """Return the batches before the first one that is not whole and sound."""
        end, batches, next_offset, leader_epoch = kernels.skip_batches(data)
        return cls(data[:end], batches, next_offset, leader_epoch)

    @classmethod
    def read_messages(cls, data: memoryview) -> RecordSet:
        """Return the messages before the first other thing; raise CorruptRecords where the first one is broken."""
        size, count, next_offset = whole_messages(data)
        return cls(data[:size], count, next_offset if count else -1, -1, of_messages=True)

    def __iter__(self) -> Iterator[RecordBatch]:
        at = 0
        while at < len(self.data):
            batch = self.batch(at)
            yield batch
            at += len(batch.buffer)

    def batch(self, at: int) -> RecordBatch:
        """Return the batch that begins at this byte."""
        _, length = _OFFSET_AND_LENGTH.unpack_from(self.data, at)
        return RecordBatch.read(self.data[at : at + LOG_OVERHEAD + length])


def whole_batches(answer: FetchedPartition) -> RecordSet:
    """Return the batches or messages before the first incomplete one, or the first of another format.

    Brokers since 0.10.1 send the first one whole, however big it is. Raise CorruptRecords where the first one is
    broken. A later one is left for the next answer, which begins with it.
    """
    try:
        if holds_messages(answer.records):
            return RecordSet.read_messages(answer.records)
        record_set = RecordSet.read(answer.records)
        if not record_set.batches:
            next(read_batches(answer.records), None)
    except CorruptRecords as error:
        raise CorruptRecords(f"{answer.partition}: {error}") from error
    return record_set


def bytes_missing(records: memoryview) -> int:
    """Return the bytes that an answer must have for its first batch or message to be whole; 0: it is, or there is none.

    Brokers before 0.10.1 cut it off where the request sets the limit.
    """
    if len(records) < LOG_OVERHEAD:
        return LOG_OVERHEAD if records else 0
    _, length = _OFFSET_AND_LENGTH.unpack_from(records)
    return LOG_OVERHEAD + length if LOG_OVERHEAD + length > len(records) else 0


class Arrived(NamedTuple):
    """A batch to be copied, and what compressed its records at the source."""

    batch: RecordBatch
    codec: Codec


class CommittedOnly:
    """Tells, for one fetch response of a partition, which batches belong to aborted transactions.

    The broker names them as (producer id, first offset). A producer's batches are dead from that offset on until its
    abort marker, as in Kafka's own consumer.
    """

    def __init__(self, aborted: Iterable[tuple[int, int]] | None, decompress: Decompressor) -> None:
        self._to_come = [(first_offset, producer_id) for producer_id, first_offset in aborted or ()]
        heapq.heapify(self._to_come)
        self._dead: set[int] = set()
        self._decompress = decompress

    @property
    def refuses_some(self) -> bool:
        """Return True if a batch of an aborted transaction may come."""
        return bool(self._to_come or self._dead)

    def admits(self, batch: RecordBatch) -> bool:
        """Return False for a batch of an aborted transaction. Control batches are admitted, and not data."""
        header = batch.header
        if header.producer_id < 0:
            return True
        while self._to_come and self._to_come[0][0] <= header.last_offset:
            self._dead.add(heapq.heappop(self._to_come)[1])
        if header.is_control and header.records and self._marks_an_abort(batch):
            self._dead.discard(header.producer_id)
            return True
        return not (header.is_transactional and header.producer_id in self._dead)

    def _marks_an_abort(self, batch: RecordBatch) -> bool:
        header = batch.header
        key = first_key(header, self._decompress(header.codec, batch.payload))
        if key is None or len(key) < _CONTROL_KEY.size:
            raise CorruptRecords(f"record batch at offset {header.base_offset}: a control record without a type")
        version, kind = _CONTROL_KEY.unpack_from(key)
        if version < 0:
            raise CorruptRecords(f"record batch at offset {header.base_offset}: control record version {version}")
        return bool(kind == _ABORT)


def decompress_records(batch: RecordBatch, decompress: Decompressor) -> memoryview:
    """Decompress the records; raise CorruptRecords: for a batch with a wrong checksum that is the reason."""
    try:
        return decompress(batch.header.codec, batch.payload)
    except CorruptRecords:
        batch.check_crc()
        raise


class DataBatches:
    """The batches of record sets whose records are to be copied. For one thread."""

    def __init__(
        self, decompress: Decompressor, *, check_crcs: bool, keeps_append_time: bool = False, joins_all: bool = False
    ) -> None:
        """Take the settings of one source. `keeps_append_time`: batches with the broker's time are joined to none,
        because their records would get times of their own. `joins_all`: not only little ones are joined.
        """
        self._joins_all = joins_all
        self._decompress = decompress
        self._check_crcs = check_crcs
        self._keeps_append_time = keeps_append_time
        self._messages: MessageSets | None = None
        self._left_out = CONTROL_BIT | (LOG_APPEND_BIT if keeps_append_time else 0)
        self._found = kernels.FoundBatches(_MOST_BATCHES)

    def of(
        self, record_set: RecordSet, committed: CommittedOnly | None, most_bytes: int, *, opens: bool = True
    ) -> Iterator[Arrived]:
        """Yield the batches; raise CorruptRecords after the last sound one.

        Little batches that follow one another come as one, of at most `most_bytes`, without compression; uncompiled
        kernels join none. With `opens` False compressed ones stay as they are. A batch is believed to hold no data only
        if its checksum is right. Messages come as batches without compression in any case.
        """
        if record_set.of_messages:
            yield from self._of_messages(record_set.data, most_bytes)
            return
        at = 0
        while at < len(record_set.data):
            if kernels.COMPILED:
                joined, after = self._join(record_set, at, committed, most_bytes, opens=opens)
                if joined is not None:
                    yield joined
                if after > at:
                    at = after
                    continue
            batch = record_set.batch(at)
            if self._check_crcs:
                batch.check_crc()
            admitted = committed is None or committed.admits(batch)
            if admitted and batch.header.records and not batch.header.is_control:
                yield Arrived(batch, batch.header.codec)
            at += len(batch.buffer)

    def _of_messages(self, data: memoryview, most_bytes: int) -> Iterator[Arrived]:
        if self._messages is None:
            self._messages = MessageSets(check_crcs=self._check_crcs, keeps_append_time=self._keeps_append_time)
        for batch, codec in self._messages.batches(data, most_bytes):
            yield Arrived(batch, codec)

    def _join(
        self, record_set: RecordSet, at: int, committed: CommittedOnly | None, most_bytes: int, *, opens: bool
    ) -> tuple[Arrived | None, int]:
        """Return the batches from this byte on as one, and where they end; None where fewer than two belong
        together. Then what ends later is a batch that is left out, of an aborted transaction.
        """
        data = record_set.data
        codec = Codec(data[at + _CODEC_AT] & CODEC_BITS)
        if codec is not Codec.NONE and not opens:
            return None, at
        found, little = self._found, most_bytes if self._joins_all else LITTLE_BYTES[codec]
        checked = _CHECKED_BYTES if self._check_crcs else 0
        number, after = kernels.find_batches(data, at, codec, little, self._left_out, checked, most_bytes, found)
        places, begins, ends, crcs, offsets, last_deltas, *_ = found.columns
        for index in range(number if self._check_crcs else 0):
            if ends[index] - places[index] > checked and not is_right(crcs[index], data[places[index] : ends[index]]):
                number, after = index, places[index]
                break
        if number and committed is not None and committed.refuses_some:
            number = self._leave_out(record_set, committed, number)
            at = places[0] if number else after
        if number < 2:
            return None, at
        opened, count = data, number
        if codec is not Codec.NONE:
            opened, count = self._decompress.in_a_row(codec, data, begins[:number], ends[:number], most_bytes)
        size = sum(ends[:count]) - sum(begins[:count])
        out = unwritten(min(most_bytes, HEADER_SIZE + _MOST_GROWTH * size))
        joined, records, base_timestamp, max_timestamp, end = kernels.join_found(opened, found, count, out)
        if joined < 2:
            return None, at
        delta = offsets[joined - 1] + last_deltas[joined - 1] - offsets[0]
        header = Header.new(records, base_timestamp, max_timestamp)
        batch = seal(header._replace(base_offset=offsets[0], last_offset_delta=delta), out[:end])
        return Arrived(batch, codec), places[joined] if joined < number else after

    def _leave_out(self, record_set: RecordSet, committed: CommittedOnly, number: int) -> int:
        """Take the batches of aborted transactions out of the found ones; return the number of those that are left.

        No marker lies between found batches, so a batch that is looked at again is judged the same.
        """
        columns = self._found.columns
        kept = [index for index in range(number) if committed.admits(record_set.batch(columns[0][index]))]
        for column in columns:
            for to, index in enumerate(kept):
                column[to] = column[index]
        return len(kept)
