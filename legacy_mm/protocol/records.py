"""The records inside a batch, without making Python objects of them: survey, regroup, re-encode, recompress.

The legacy tool sent keys, values, headers and timestamps and left the partition to the producer: murmur2 of the key,
anything for a null key. `survey` tells whether a batch may go on as it is; where it may not, `regroup` makes the
batches that the legacy tool would have written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.buffers import int64_array, unwritten
from legacy_mm.protocol.compression import Codec, compress
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.record_batch import HEADER_SIZE, Header, RecordBatch, assemble, seal

BATCH_LIMIT = 1_000_000
"""Below the 1,048,588 bytes that a broker takes by default (`message.max.bytes`)."""

NO_WISHES = int64_array(0)
"""Every record goes where its key belongs."""

_FAULTS = {
    kernels.TORN_RECORD: "a record is torn",
    kernels.BYTES_LEFT_OVER: "bytes are left over after its records",
    kernels.OFFSET_OUT_OF_PLACE: "the offsets of its records do not ascend to its last one",
}


class RecordSurvey(NamedTuple):
    """The result of a walk over the records of a batch."""

    records: int
    elsewhere: int  # records whose key belongs to another partition
    keyless: int
    last_offset_delta: int  # from the header's base offset
    largest: int  # bytes of the largest record
    dense: bool  # offset deltas are 0, 1, 2, ...


class Contents(NamedTuple):
    """The total size of some records, and the times of those that have one."""

    value_bytes: int
    key_bytes: int
    timed: int
    total: float
    oldest: int
    newest: int


class Placement(NamedTuple):
    """The placement of records: keys by murmur2 over `partitions` if `hashes_keys`; all others from `first` on in
    steps of `step`.
    """

    partitions: int
    first: int
    step: int
    hashes_keys: bool

    @classmethod
    def all_to(cls, partition: int) -> Placement:
        """Place every record in one partition, whatever its key."""
        return cls(0, partition, 0, hashes_keys=False)

    @classmethod
    def by_key(cls, partitions: int, *, null_keys_to: int) -> Placement:
        """Place keys as Kafka's default partitioner does, null keys all in one partition."""
        assert 0 <= null_keys_to < partitions
        return cls(partitions, null_keys_to, 0, hashes_keys=True)

    @classmethod
    def by_key_spreading(cls, partitions: int, *, first: int) -> Placement:
        """Place keys as Kafka's default partitioner does, null keys round robin in all partitions."""
        assert 0 <= first < partitions
        return cls(partitions, first, 1, hashes_keys=True)

    @classmethod
    def spreading(cls, partitions: int, *, first: int) -> Placement:
        """Place every record round robin in all partitions, whatever its key."""
        assert 0 <= first < partitions
        return cls(partitions, first, 1, hashes_keys=False)


SourceOffsets = Sequence[int]
"""One for each record of a batch, ascending; a range has no holes, a view of 64-bit integers may have some."""


class Regrouped(NamedTuple):
    """A new batch for one partition, and for each of its records the source offset."""

    partition: int
    batch: RecordBatch
    source_offsets: SourceOffsets


def survey(
    header: Header, records: memoryview, partition: int, partitions: int, *, repeats: bool = False
) -> RecordSurvey:
    """Walk decompressed records; CorruptRecords unless they are `header.records` whole ones and nothing else.

    Counts the keyed records that do not belong to `partition` of `partitions`; 0 partitions: nothing is hashed.
    `repeats` as for `regroup`.
    """
    found = kernels.survey_records(batch_records(header, records, repeats=repeats), partition, partitions)
    _check(header, found[0])
    return RecordSurvey(*found)


def measure(header: Header, records: memoryview, from_offset: int = 0) -> Contents:
    """Walk decompressed records, those before `from_offset` for nothing; CorruptRecords where one is torn."""
    found = kernels.measure_records(batch_records(header, records), from_offset - header.base_offset)
    _check(header, found[0])
    return Contents(*found)


def regroup(
    header: Header,
    records: memoryview,
    placement: Placement,
    *,
    from_offset: int = 0,
    codec: Codec | None = None,
    level: int | None = None,
    limit: int = BATCH_LIMIT,
    wishes: memoryview = NO_WISHES,
    repeats: bool = False,
) -> list[Regrouped]:
    """Regroup decompressed records into new batches, in the order in which their first records come.

    Offsets become dense, timestamps keep their values (also those that the broker set), everything from the key on
    stays as it is. Records below `from_offset` are left out. `codec` None keeps the source's; no batch is bigger than
    `limit` before compression unless a single record is. `wishes`: the partition that each record is for, whatever the
    placement, or -1; one that there is not becomes number `placement.partitions`. `repeats`: records may share a source
    offset.
    """
    codec = header.codec if codec is None else codec
    count = min(header.records, len(records))  # a count that lies makes no huge tables
    found = batch_records(header, records, repeats=repeats)
    placed, batches = kernels.PlacedRecords(count), kernels.NewBatches(count)
    skip_below = from_offset - header.base_offset
    made = kernels.place_records(found, skip_below, *placement, limit - HEADER_SIZE, wishes, placed, batches)
    _check(header, made)
    rows = list(zip(*(column[:made].tolist() for column in batches.columns[:5]), strict=True))
    out = unwritten(sum(HEADER_SIZE + size for _, _, size, _, _ in rows))
    offsets = int64_array(sum(number for _, number, _, _, _ in rows))
    kernels.write_records(found, placed, count, batches, made, HEADER_SIZE, out, header.base_offset, offsets)
    regrouped = []
    begin = first = 0
    for partition, number, size, base_timestamp, max_timestamp in rows:
        new = Header.new(number, base_timestamp, max_timestamp)
        end, last = begin + HEADER_SIZE + size, first + number
        if codec is Codec.NONE:
            batch = seal(new, out[begin:end])
        else:
            batch = recompress(new, out[begin + HEADER_SIZE : end], codec, level)
        regrouped.append(Regrouped(partition, batch, offsets[first:last]))
        begin, first = end, last
    return regrouped


def recompress(header: Header, records: memoryview, codec: Codec, level: int | None = None) -> RecordBatch:
    """Create a batch with the same header fields whose records, given decompressed, are compressed with `codec`."""
    return assemble(header.with_codec(codec), compress(codec, records, level))


def first_key(header: Header, records: memoryview) -> bytes | None:
    """Return the key of the first of some decompressed records; None if it is null. A control batch has its type
    there.
    """
    *_, key, size, after = kernels.read_record(records, 0)
    _check(header, kernels.TORN_RECORD if after == kernels.TORN else 0)
    return bytes(records[key : key + size]) if size >= 0 else None


def sizes(header: Header, records: memoryview) -> Iterator[tuple[int | None, int | None]]:
    """Yield sizes of key and value of each of some decompressed records; None for null. For error messages: slow."""
    for *_, key, key_size in _walk(header, records):
        value_size, _ = kernels.read_varint(records, key + max(key_size, 0), 5)
        yield (key_size if key_size >= 0 else None), (value_size if value_size >= 0 else None)


def split(header: Header, records: memoryview) -> list[memoryview]:
    """Return the bytes of each of some decompressed records. For refused records: slow."""
    return [records[begin:end] for begin, end, *_ in _walk(header, records)]


def _walk(header: Header, records: memoryview) -> Iterator[tuple[int, int, int, int]]:
    """Yield the begin and end of each record, and the place and size of its key."""
    at = 0
    for _ in range(header.records):
        *_, key, key_size, after = kernels.read_record(records, at)
        _check(header, kernels.TORN_RECORD if after == kernels.TORN else 0)
        yield at, after, key, key_size
        at = after


def partition_of(key: bytes, partitions: int) -> int:
    """Return the partition that Kafka's default partitioner gives a key."""
    return kernels.partition_of(memoryview(key), partitions)


def murmur2(data: bytes) -> int:
    """Return Kafka's hash, unsigned."""
    return kernels.murmur2(memoryview(data))


def batch_records(header: Header, records: memoryview, *, repeats: bool = False) -> kernels.BatchRecords:
    """Return decompressed records with what the kernels need of their header; `repeats` as for `regroup`."""
    times = _times(header)
    return kernels.BatchRecords(records, header.records, header.last_offset_delta, *times, 0 if repeats else 1)


def _times(header: Header) -> tuple[int, bool]:
    """Return the base time of the records' deltas, and True if the deltas count."""
    return (header.max_timestamp, False) if header.has_append_time else (header.base_timestamp, True)


def _check(header: Header, answer: int) -> None:
    if answer < 0:
        raise CorruptRecords(f"record batch at offset {header.base_offset}: {_FAULTS[answer]}")
