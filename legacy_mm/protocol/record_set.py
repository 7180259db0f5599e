"""The record batches of one partition in a fetch response, the last one often cut off, and the choice of data batches.

    record_set = whole_batches(answer)
    for batch in data_batches(record_set, committed, check_crcs=True, most_bytes=256 << 10): ...

Nothing is made for each batch before it is needed, and little ones without compression never are: one call of a kernel
checks and joins as many as follow one another. With `read_committed`, `CommittedOnly` has to see every transactional
batch, control batches too, in order.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from legacy_mm.errors import CorruptRecords, EngineUnfit
from legacy_mm.protocol.buffers import unwritten
from legacy_mm.protocol.compression import Decompressor
from legacy_mm.protocol.fetch_messages import FetchedPartition
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.record_batch import (
    CODEC_BITS,
    CONTROL_BIT,
    HEADER_SIZE,
    LOG_APPEND_BIT,
    LOG_OVERHEAD,
    MAGIC,
    TRANSACTIONAL_BIT,
    Header,
    RecordBatch,
    seal,
)
from legacy_mm.protocol.records import first_key

_OFFSET_AND_LENGTH = struct.Struct(">qi")
_MAGIC_AT = 16
_OLD_OVERHEAD = 14  # of a message in format 0, from its checksum on: the least that any length may say
_CONTROL_KEY = struct.Struct(">hh")  # version, type
_ABORT = 0
LITTLE_BYTES = 64 << 10
"""An uncompressed batch up to this size costs less to join with others than to send alone."""
_MOST_GROWTH = 4
"""A record grows by less than this factor when it is joined with others."""


class Ending(Enum):
    """Why the walk over a record set ended before its bytes did."""

    CUT_OFF = "the last batch is cut off: fetch again from its offset, with more bytes if it is the only one"
    OLD_FORMAT = "the log holds messages in format 0 or 1: only the records engine reads those"


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
    """The leader epoch of the last batch."""

    @classmethod
    def read(cls, data: memoryview) -> RecordSet:
        """Return the batches before the first one that is not whole and sound."""
        end, batches, next_offset, leader_epoch = kernels.skip_batches(data)
        return cls(data[:end], batches, next_offset, leader_epoch)

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
    """Return the batches before the first incomplete one. Brokers send the first batch whole, however big it is.

    Raise CorruptRecords or EngineUnfit where the first one is broken, or in an old format. A later one like that is
    left for the next answer, which begins with it.
    """
    record_set = RecordSet.read(answer.records)
    if not record_set.batches:
        try:
            for item in read_batches(answer.records):
                if isinstance(item, Tail) and item.ending is Ending.OLD_FORMAT:
                    raise EngineUnfit(f"{answer.partition} holds messages in format {item.magic}")
        except CorruptRecords as error:
            raise CorruptRecords(f"{answer.partition}: {error}") from error
    return record_set


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


def opened(batch: RecordBatch, decompress: Decompressor) -> memoryview:
    """Decompress the records; raise CorruptRecords.

    A sound batch that cannot be opened may be beyond our limit, and librdkafka has none: EngineUnfit.
    """
    try:
        return decompress(batch.header.codec, batch.payload)
    except CorruptRecords as error:
        batch.check_crc()
        raise EngineUnfit(str(error)) from error


def data_batches(
    record_set: RecordSet,
    committed: CommittedOnly | None,
    *,
    check_crcs: bool,
    most_bytes: int,
    keeps_append_time: bool = False,
) -> Iterator[RecordBatch]:
    """Yield the batches whose records are to be copied; raise CorruptRecords after the last sound batch.

    Little batches without compression come as one, of at most `most_bytes`, in which the records have times of their
    own; `keeps_append_time` leaves out those with the broker's time. Uncompiled kernels join none. A batch is believed
    to hold no data only if its checksum is right.
    """
    left_out = CODEC_BITS | CONTROL_BIT
    left_out |= TRANSACTIONAL_BIT if committed is not None else 0
    left_out |= LOG_APPEND_BIT if keeps_append_time else 0
    at = 0
    while at < len(record_set.data):
        if kernels.COMPILED:
            joined, at = _join(record_set, at, left_out, check_crcs=check_crcs, most_bytes=most_bytes)
            if joined is not None:
                yield joined
                continue
        batch = record_set.batch(at)
        if check_crcs:
            batch.check_crc()
        admitted = committed is None or committed.admits(batch)
        if admitted and batch.header.records and not batch.header.is_control:
            yield batch
        at += len(batch.buffer)


def _join(
    record_set: RecordSet, at: int, left_out: int, *, check_crcs: bool, most_bytes: int
) -> tuple[RecordBatch | None, int]:
    """Return the batches from this byte on as one, and where they end; None where fewer than two belong together."""
    data = record_set.data
    out = unwritten(min(most_bytes, HEADER_SIZE + _MOST_GROWTH * (len(data) - at)))
    after, batches, *row = kernels.join_batches(data, at, LITTLE_BYTES, left_out, check_crcs, out)
    if batches < 2:
        return None, at
    records, offset, next_offset, base_timestamp, max_timestamp, end = row
    header = Header.new(records, base_timestamp, max_timestamp)
    return seal(header._replace(base_offset=offset, last_offset_delta=next_offset - offset - 1), out[:end]), after
