# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, annotation_typing=False
"""Walks over batches, and over the records of a decompressed one. Nothing here raises or reads outside `data`.

This file is plain Python. Cython compiles it with the C types of `record_kernels.pxd`; without a compiler it runs as it
is, a hundred times slower, and gives the same answers: `_signed` and the masks drop what C drops.

A record is: its length, attributes, timestamp delta, offset delta, key length, key, value length, value, header count,
headers; integers are zigzag varints except the attributes (one byte). A read that does not fit answers the position
TORN, which is past any end, so every later read of the record answers TORN as well and one test at its end is enough.
Each record takes at least seven bytes, so a count that lies ends with the data.
"""

from __future__ import annotations

from typing import Any

from legacy_mm.protocol.buffers import CRC32, CRC32C, crc_table, int64_array, int64_columns, unwritten

try:
    import cython
except ImportError:
    from legacy_mm.protocol import uncompiled as cython
if not cython.compiled:
    from legacy_mm.protocol.uncompiled import (
        bytes_at,
        copy_bytes,
        field_of,
        fields_in,
        new_tuple,
        start_of,
        writable_start_of,
    )

Bytes = Any
"""Bytes, by their address in C; uncompiled a view of them."""
Int64Array = Any
"""A writable view of 64-bit integers."""

COMPILED = bool(cython.compiled)

TORN = 1 << 62

MOST_GROWTH = 4 + 9 + 4
"""The growth limit of a rewritten record: its length, timestamp delta and offset delta, each at least a byte before."""
LEAST_RECORD = 7
MESSAGE_GROWTH = 34
"""The growth limit of a record that becomes a message: what every message has, with its time."""
MESSAGE_GREW = 6
"""The growth limit of a message that becomes a record, with each of its numbers in the most bytes."""

# What a kernel answers instead of a number of batches or records.
TORN_RECORD = -1
BYTES_LEFT_OVER = -2
OFFSET_OUT_OF_PLACE = -3
WRONG_CHECKSUM = -4
WRAPPED_TWICE = -5
OTHER_FORMAT = -6
HAS_HEADERS = -7

# The same numbers in C, and numbers that C would not take as they are written.
_TORN = TORN
_TORN_RECORD, _BYTES_LEFT_OVER, _OFFSET_OUT_OF_PLACE = TORN_RECORD, BYTES_LEFT_OVER, OFFSET_OUT_OF_PLACE
_WRONG_CHECKSUM, _WRAPPED_TWICE, _OTHER_FORMAT, _HAS_HEADERS = WRONG_CHECKSUM, WRAPPED_TWICE, OTHER_FORMAT, HAS_HEADERS
_SKIPPED = -1
_NONE_OPEN = -1
_BITS_32 = 0xFFFFFFFF
_BITS_64 = 0xFFFFFFFFFFFFFFFF
_MURMUR_SEED = 0x9747B28C
_CRC32_TABLE, _CRC32C_TABLE = crc_table(CRC32), crc_table(CRC32C)
_MOST_GROWTH, _LEAST_RECORD = MOST_GROWTH, LEAST_RECORD
_HEADER_SIZE, _LOG_OVERHEAD, _MAGIC, _CODECS = 61, 12, 2, 5
_LEAST_MESSAGE, _TIME_SIZE, _FIELD_SIZES = 26, 8, 8
"""Bytes of a message without key, value and time, of its time, and of the sizes of key and value."""
_CODEC_BITS, _LOG_APPEND_BIT = 0x07, 0x08
_NO_TIMESTAMP = -1
_MOST_OFFSETS = 1 << 30
"""More than that are not joined: an offset delta has 32 bits."""
_MURMUR_FACTOR = 0x5BD1E995
_FIRST_ROOM = 1 << 16
_MOST_VARINT = 5
_RECORD_FIELDS, _TARGET_FIELDS = 8, 6
_ANY_BYTES = "surrogateescape"


class BatchRecords:
    """The decompressed records of a batch, and what its header says of them."""

    def __init__(
        self,
        data: memoryview,
        count: int,
        last_delta: int,
        base_timestamp: int,
        keep_timestamps: bool,
        least_step: int = 1,
    ) -> None:
        """Take the header's number of records and last offset delta; the base of their timestamps, or the time of all
        of them.

        `least_step`: how far offset deltas ascend at least; 0: several records may have come of one.
        """
        self.data = data
        self.count = count
        self.last_delta = last_delta
        self.base_timestamp = base_timestamp
        self.keep_timestamps = keep_timestamps
        self.least_step = least_step


class BatchHeader:
    """The fields of a batch's header that a walk over a record set needs."""

    def __init__(self) -> None:
        """Make room for one header."""
        self.base_offset = self.leader_epoch = self.crc = self.attributes = 0
        self.last_delta = self.base_timestamp = self.max_timestamp = self.records = 0


class FoundBatches:
    """Batches of a record set that may be joined: one row for a batch. `begins` and `ends` are of its records."""

    def __init__(self, count: int) -> None:
        """Make room for `count` batches."""
        self.size = count
        self.columns = int64_columns(count, 10)
        self.places, self.begins, self.ends, self.crcs, self.offsets, self.last_deltas, *rest = self.columns
        self.counts, self.attributes, self.base_timestamps, self.max_timestamps = rest


class PlacedRecords:
    """The place of each record of a batch that is regrouped: one row for a record."""

    def __init__(self, count: int) -> None:
        """Make room for `count` records."""
        columns = int64_columns(count, 6)
        self.batches, self.timestamps, self.bodies, self.ends, self.new_deltas, self.old_deltas = columns


class NewBatches:
    """The batches that a regrouping makes: one row for a batch. `sizes` are bytes of records."""

    def __init__(self, count: int) -> None:
        """Make room for `count` batches."""
        self.columns = int64_columns(count, 7)
        self.partitions, self.counts, self.sizes, self.base_timestamps, self.max_timestamps, *places = self.columns
        self.cursors, self.firsts = places


class RecordFields:
    """The fields of records: one row for a record.

    Places count from where the walk began; a null has -1 as its end.
    """

    def __init__(self, count: int) -> None:
        """Make room for `count` records."""
        self.size = count
        self.columns = int64_columns(count, 8)
        self.offsets, self.timestamps, *places = self.columns
        self.keys, self.key_ends, self.values, self.value_ends, self.header_counts, self.headers = places


class HeaderFields:
    """The fields of headers, as in `RecordFields`: one row for a header."""

    def __init__(self, count: int) -> None:
        """Make room for `count` headers."""
        self.columns = int64_columns(count, 4)
        self.names, self.name_ends, self.values, self.value_ends = self.columns


class RecordWriter:
    """Records of one topic, as they are written one behind the other, and the partition that each is for, or -1."""

    def __init__(self, base_timestamp: int) -> None:
        """Begin without records; their timestamp deltas will count from `base_timestamp`."""
        self.base_timestamp = base_timestamp
        self.memory = self._view = unwritten(_FIRST_ROOM)
        self._out = writable_start_of(self._view)
        self._room = _FIRST_ROOM
        self.size = self.count = 0
        self.max_timestamp = _NO_TIMESTAMP
        self.wishes: list[int] = []

    def make_room(self, size: int) -> None:
        """Make room for `size` more bytes; raise MemoryError."""
        if self.size + size > self._room:
            self._room = 2 * (self.size + size)
            memory = unwritten(self._room)
            memory[: self.size] = self.memory[: self.size]
            self.memory = self._view = memory
            self._out = writable_start_of(self._view)


class Stamp:
    """Headers that every record of a partition gets."""

    def __init__(self, paths: Any, path_name: bytes, path_first: bool, fixed: Any, fixed_count: int, offset_name: Any):
        """Take what is added; None for `paths` or `fixed`: that is not.

        `paths`: headers called `path_name` are left out, and this mapping gives the header that takes their place, for
        the value of the last of them, or None without one; None instead of a header: the record must not be copied.
        `fixed`: so many whole headers, and behind them one called `offset_name` with the record's offset in digits.
        `path_first` says which comes first.
        """
        self.paths, self.path_name, self.name_size, self.has_path = paths, path_name, len(path_name), paths is not None
        self.path_first, self.fixed, self.offset_name = path_first, fixed or b"", offset_name
        self.has_fixed = fixed is not None
        self.count = int(self.has_path) + (fixed_count + 1 if self.has_fixed else 0)

    def size(self, digits: Any) -> int:
        """Return the bytes of what is added, without the path."""
        if not self.has_fixed:
            return 0
        return len(self.fixed) + _content_size(self.offset_name) + _content_size(digits)

    def write(self, out: Bytes, at: int, path: Any, digits: Any) -> int:
        """Write what is added; the position behind it."""
        if self.path_first:
            at = _write_bytes(out, at, path)
        if self.has_fixed:
            at = _write_bytes(out, at, self.fixed)
            at = _write_content(out, _write_content(out, at, self.offset_name), digits)
        return at if self.path_first else _write_bytes(out, at, path)


class MessageRun:
    """Records made of messages of format 0 and 1, as a batch of format 2 has them, behind room for its header."""

    def __init__(self, room: int, check: bool, keeps_append_time: bool) -> None:
        """Make `room` for bytes of records; raise MemoryError. `check`: a message needs the right checksum.

        `keeps_append_time`: messages with the broker's time, and those of another time, are not of one run.
        """
        self.memory = self._view = unwritten(_HEADER_SIZE + room)
        self._out = writable_start_of(self._view)
        self._end = _HEADER_SIZE + room
        self._check, self._keeps_append_time = check, keeps_append_time
        self.size, self.count = _HEADER_SIZE, 0
        self.first_offset = self.last_offset = -1
        self.base_timestamp = self.max_timestamp = _NO_TIMESTAMP
        self.has_append_time = self.is_full = False


def _signed(value: int) -> int:
    """Return what C's 64 bits make of a sum."""
    if cython.compiled:
        return value
    return ((value + (1 << 63)) & _BITS_64) - (1 << 63)


def _timestamp(records: BatchRecords, delta: int) -> int:
    return _signed(records.base_timestamp + delta) if records.keep_timestamps else records.base_timestamp


def _read_varint(data: Bytes, at: int, end: int, most: int) -> tuple[int, int]:
    """Read a zigzag varint of at most `most` bytes (5: 32 bits, 10: 64 bits), and the position after it."""
    if at < end:
        raw = data[at]
        if raw < 0x80:
            return (raw >> 1) ^ -(raw & 1), at + 1
        if at + 1 < end and data[at + 1] < 0x80:
            raw = raw & 0x7F | data[at + 1] << 7
            return (raw >> 1) ^ -(raw & 1), at + 2
    return _long_varint(data, at, end, most)


def _long_varint(data: Bytes, at: int, end: int, most: int) -> tuple[int, int]:
    raw = 0
    shift = 0
    last = min(end, at + most)
    while at < last:
        byte = data[at]
        at += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            raw &= _BITS_32 if most == 5 else _BITS_64  # as Java's int and long drop what does not fit
            half = raw >> 1
            return half ^ -(raw & 1), at
        shift += 7
    return 0, _TORN


def varint_size(value: int) -> int:
    """Return the bytes of a zigzag varint."""
    raw = (value << 1) ^ (value >> 63)
    size = 1
    while raw >= 0x80:
        raw >>= 7
        size += 1
    return size


def _write_varint(out: Bytes, at: int, value: int) -> int:
    """Write a zigzag varint; the position behind it."""
    raw = (value << 1) ^ (value >> 63)
    while raw >= 0x80:
        out[at] = raw & 0x7F | 0x80
        raw >>= 7
        at += 1
    out[at] = raw
    return at + 1


def _size_without_length(timestamp_delta: int, offset_delta: int, body: int) -> int:
    """Return the bytes of a record after its length, given the bytes from its key length on."""
    return 1 + varint_size(timestamp_delta) + varint_size(offset_delta) + body


def _record_size(timestamp_delta: int, offset_delta: int, body: int) -> int:
    """Return the bytes of a whole record."""
    size = _size_without_length(timestamp_delta, offset_delta, body)
    return varint_size(size) + size


def _read_int(data: Bytes, at: int, size: int) -> int:
    """Read a big-endian, signed integer of `size` bytes."""
    value: int = data[at]
    if value >= 0x80:
        value -= 0x100
    for step in range(1, size):
        value = value * 0x100 + data[at + step]
    return value


def _read_header(header: BatchHeader, data: Bytes, at: int, end: int) -> int:
    """Read the header of the batch at `at`; the position behind the batch, or TORN unless it is whole and sound.

    Sound is what `record_batch.Header.check` lets through.
    """
    if end - at < _HEADER_SIZE or data[at + 16] != _MAGIC:
        return _TORN
    length = _read_int(data, at + 8, 4)
    header.base_offset = _read_int(data, at, 8)
    header.leader_epoch = _read_int(data, at + 12, 4)
    header.crc = _read_int(data, at + 17, 4) & _BITS_32
    header.attributes = _read_int(data, at + 21, 2)
    header.last_delta = _read_int(data, at + 23, 4)
    header.base_timestamp = _read_int(data, at + 27, 8)
    header.max_timestamp = _read_int(data, at + 35, 8)
    header.records = _read_int(data, at + 57, 4)
    if length < _HEADER_SIZE - _LOG_OVERHEAD or length > end - at - _LOG_OVERHEAD:
        return _TORN
    if header.base_offset < 0 or header.last_delta < 0 or header.attributes & _CODEC_BITS >= _CODECS:
        return _TORN
    if header.records < 0 or header.records > header.last_delta + 1:
        return _TORN
    return at + _LOG_OVERHEAD + length


def _crc(table: Any, data: Bytes, at: int, end: int) -> int:
    """Return the CRC of `data[at:end]` by these tables, eight bytes at a time."""
    crc = _BITS_32
    while end - at >= 8:
        word = crc ^ (data[at] | data[at + 1] << 8 | data[at + 2] << 16 | data[at + 3] << 24)
        crc = table[0x700 + (word & 0xFF)] ^ table[0x600 + (word >> 8 & 0xFF)]
        crc ^= table[0x500 + (word >> 16 & 0xFF)] ^ table[0x400 + (word >> 24)]
        crc ^= table[0x300 + data[at + 4]] ^ table[0x200 + data[at + 5]]
        crc ^= table[0x100 + data[at + 6]] ^ table[data[at + 7]]
        at += 8
    while at < end:
        crc = table[(crc ^ data[at]) & 0xFF] ^ crc >> 8
        at += 1
    return crc ^ _BITS_32


def _murmur2(data: Bytes, at: int, size: int) -> int:
    """Return Kafka's hash of `size` bytes from `at` on, as an unsigned 32-bit number."""
    hashed = _MURMUR_SEED ^ size
    words_end = at + (size & ~3)
    while at < words_end:
        word = data[at] | data[at + 1] << 8 | data[at + 2] << 16 | data[at + 3] << 24
        word = word * _MURMUR_FACTOR & _BITS_32
        word ^= word >> 24
        hashed = (hashed * _MURMUR_FACTOR & _BITS_32) ^ (word * _MURMUR_FACTOR & _BITS_32)
        at += 4
    rest = size & 3
    if rest == 3:
        hashed ^= data[at + 2] << 16
    if rest >= 2:
        hashed ^= data[at + 1] << 8
    if rest >= 1:
        hashed = (hashed ^ data[at]) * _MURMUR_FACTOR & _BITS_32
    hashed = (hashed ^ hashed >> 13) * _MURMUR_FACTOR & _BITS_32
    return hashed ^ hashed >> 15


def _partition_of(data: Bytes, at: int, size: int, partitions: int) -> int:
    """Return the partition of `partitions` that Kafka's default partitioner gives a key."""
    if partitions == 1:
        return 0
    positive = _murmur2(data, at, size) & 0x7FFFFFFF
    divisor = partitions  # 32 bits: their division costs a third of that of 64 bits
    return positive % divisor


def _read_record(data: Bytes, at: int, end: int) -> tuple[int, int, int, int, int, int]:
    """Read timestamp delta, offset delta, the begin of the body (key length on), the key's place and size, the next
    record.

    The size is negative for a null key. The last is TORN unless every field ends at the end the record gives.
    """
    size, at = _read_varint(data, at, end, 5)
    if size < 0 or size > end - at:
        return 0, 0, 0, 0, 0, _TORN
    end = at + size
    timestamp_delta, at = _read_varint(data, at + 1, end, 10)
    offset_delta, body = _read_varint(data, at, end, 5)
    key_size, key = _read_varint(data, body, end, 5)
    value_size, at = _read_varint(data, key + max(key_size, 0), end, 5)
    headers, at = _read_varint(data, at + max(value_size, 0), end, 5)
    if headers < 0:
        at = _TORN
    while headers > 0 and at < end:
        name_size, at = _read_varint(data, at, end, 5)
        if name_size < 0:
            at = _TORN
        value_size, at = _read_varint(data, at + max(name_size, 0), end, 5)
        at += max(value_size, 0)
        headers -= 1
    if at != end or headers != 0:
        at = _TORN
    return timestamp_delta, offset_delta, body, key, key_size, at


def _next_record(
    records: BatchRecords, data: Bytes, at: int, end: int, last: int
) -> tuple[int, int, int, int, int, int]:
    """Read as `_read_record` does the record after the one with the offset delta `last`; the last number is an error
    where it is torn, or its offset delta does not ascend.
    """
    timestamp_delta, offset_delta, body, key, key_size, at = _read_record(data, at, end)
    if at == _TORN:
        at = _TORN_RECORD
    elif offset_delta < last + records.least_step or offset_delta > records.last_delta:
        at = _OFFSET_OUT_OF_PLACE
    return timestamp_delta, offset_delta, body, key, key_size, at


def _write_record(
    out: Bytes, at: int, timestamp_delta: int, offset_delta: int, data: Bytes, body: int, end: int
) -> int:
    """Write a record whose fields from the key length on are `data[body:end]`; the position behind it."""
    at = _write_varint(out, at, _size_without_length(timestamp_delta, offset_delta, end - body))
    out[at] = 0  # attributes: none are defined
    at = _write_varint(out, at + 1, timestamp_delta)
    at = _write_varint(out, at, offset_delta)
    copy_bytes(out, at, data, body, end)
    return at + end - body


def read_varint(data: memoryview, at: int, most: int) -> tuple[int, int]:
    """Read a zigzag varint of at most `most` bytes (5: 32 bits, 10: 64 bits), and the position after it, else TORN."""
    return _read_varint(start_of(data), at, len(data), most)


def read_record(data: memoryview, at: int) -> tuple[int, int, int, int, int, int]:
    """Read a record; see `_read_record`."""
    return _read_record(start_of(data), at, len(data))


def murmur2(data: memoryview) -> int:
    """Return Kafka's hash, as an unsigned 32-bit number."""
    return _murmur2(start_of(data), 0, len(data))


def partition_of(key: memoryview, partitions: int) -> int:
    """Return the partition of `partitions` that Kafka's default partitioner gives a key."""
    return _partition_of(start_of(key), 0, len(key), partitions)


def survey_records(records: BatchRecords, partition: int, partitions: int) -> tuple[int, int, int, int, int, bool]:
    """Count the records (or return an error), keyed ones that belong elsewhere, and those without a key; return also
    the last offset delta, the bytes of the largest, and True if offsets are dense. No key is hashed if `partitions` is
    0.

    Offset deltas must ascend and not exceed the last one: skipping and the next read position depend on it.
    """
    data, end = start_of(records.data), len(records.data)
    at = elsewhere = keyless = largest = 0
    last = -1
    dense = True
    answer = records.count
    with cython.nogil:
        for index in range(records.count):
            begin = at
            _, offset, _, key, key_size, at = _next_record(records, data, at, end, last)
            if at < 0:
                answer = at
                break
            if key_size < 0:
                keyless += 1
            elif partitions > 0 and _partition_of(data, key, key_size, partitions) != partition:
                elsewhere += 1
            last = offset
            largest = max(largest, at - begin)
            if offset != index:
                dense = False
        else:
            if at != end:
                answer = _BYTES_LEFT_OVER
    return answer, elsewhere, keyless, last, largest, dense


def measure_records(records: BatchRecords, skip_below: int) -> tuple[int, int, int, float, int, int]:
    """Measure the bytes of all values (or return an error), those of all keys, the number of records with a time, the
    sum of the times, the first and the last.

    Only records whose offset delta is not below `skip_below` count. The bytes after a record's value are skipped.
    """
    data, end = start_of(records.data), len(records.data)
    at = value_bytes = key_bytes = timed = oldest = newest = 0
    total = 0.0
    with cython.nogil:
        for _ in range(records.count):
            size, at = _read_varint(data, at, end, 5)
            if size < 0 or size > end - at:
                value_bytes = _TORN_RECORD
                break
            after = at + size
            delta, at = _read_varint(data, at + 1, after, 10)
            offset, at = _read_varint(data, at, after, 5)
            key_size, at = _read_varint(data, at, after, 5)
            value_size, at = _read_varint(data, at + max(key_size, 0), after, 5)
            if value_size > after - at:
                value_bytes = _TORN_RECORD
                break
            at = after
            if offset < skip_below:
                continue
            value_bytes += max(value_size, 0)
            key_bytes += max(key_size, 0)
            timestamp = _timestamp(records, delta)
            if timestamp > 0:
                oldest = min(oldest, timestamp) if timed > 0 else timestamp
                newest = max(newest, timestamp)
                total += timestamp
                timed += 1
    return value_bytes, key_bytes, timed, total, oldest, newest


def place_records(
    records: BatchRecords,
    skip_below: int,
    partitions: int,
    first: int,
    step: int,
    hashes_keys: bool,
    size_limit: int,
    wishes: Int64Array,
    placed: PlacedRecords,
    batches: NewBatches,
) -> int:
    """Place each record in a new batch, the first half of a regrouping; return the number of batches or an error.

    Keyed records are placed by murmur2 (`hashes_keys`), all others from `first` on by `step`; at `size_limit`
    a new batch begins. `wishes` (or none): each record's partition, or -1; at most `partitions` counts.
    """
    data, end = start_of(records.data), len(records.data)
    open_batches = int64_array(max(partitions, first) + 1)
    wished = 0 < records.count <= len(wishes)
    at = made = 0
    last, turn = -1, first
    with cython.nogil:
        for target in range(len(open_batches)):
            open_batches[target] = _NONE_OPEN
        for index in range(records.count):
            delta, offset, body, key, key_size, at = _next_record(records, data, at, end, last)
            if at < 0:
                made = at
                break
            last = offset
            if offset < skip_below:
                placed.batches[index] = _SKIPPED
                continue
            target = turn
            if wished and wishes[index] >= 0:
                target = min(wishes[index], partitions)
            elif hashes_keys and key_size >= 0:
                target = _partition_of(data, key, key_size, partitions)
            elif step != 0:
                turn = (turn + step) % partitions
            timestamp = _timestamp(records, delta)
            batch = open_batches[target]
            if batch == _NONE_OPEN or batches.sizes[batch] + _grown(batches, batch, timestamp, at - body) > size_limit:
                batch = open_batches[target] = made
                made += 1
                _open(batches, batch, target, timestamp)
            placed.batches[index] = batch
            placed.timestamps[index] = timestamp
            placed.bodies[index] = body
            placed.ends[index] = at
            placed.new_deltas[index] = batches.counts[batch]
            placed.old_deltas[index] = offset
            batches.sizes[batch] += _grown(batches, batch, timestamp, at - body)
            batches.counts[batch] += 1
            batches.max_timestamps[batch] = max(batches.max_timestamps[batch], timestamp)
        else:
            if at != end:
                made = _BYTES_LEFT_OVER
    return made


def _open(batches: NewBatches, batch: int, partition: int, timestamp: int) -> None:
    batches.partitions[batch] = partition
    batches.counts[batch] = 0
    batches.sizes[batch] = 0
    batches.base_timestamps[batch] = timestamp
    batches.max_timestamps[batch] = timestamp


def _grown(batches: NewBatches, batch: int, timestamp: int, body: int) -> int:
    """Return the bytes that the next record of a batch would take."""
    return _record_size(_signed(timestamp - batches.base_timestamps[batch]), batches.counts[batch], body)


def write_records(
    records: BatchRecords,
    placed: PlacedRecords,
    count: int,
    batches: NewBatches,
    made: int,
    header_size: int,
    out: memoryview,
    base_offset: int,
    offsets: Int64Array,
) -> None:
    """Write `count` placed records to the batches that were made: the second half.

    In `out` the batches follow each other, each with room for a header. `offsets` gets the offsets that the records had
    at the source, batch by batch.
    """
    data, written = start_of(records.data), writable_start_of(out)
    at = first = 0
    with cython.nogil:
        for batch in range(made):
            batches.cursors[batch] = at + header_size
            batches.firsts[batch] = first
            at += header_size + batches.sizes[batch]
            first += batches.counts[batch]
        for index in range(count):
            batch = placed.batches[index]
            if batch == _SKIPPED:
                continue
            delta = _signed(placed.timestamps[index] - batches.base_timestamps[batch])
            offset_delta = placed.new_deltas[index]
            batches.cursors[batch] = _write_record(
                written, batches.cursors[batch], delta, offset_delta, data, placed.bodies[index], placed.ends[index]
            )
            offsets[batches.firsts[batch] + offset_delta] = _signed(base_offset + placed.old_deltas[index])


def _append(
    records: BatchRecords,
    data: Bytes,
    at: int,
    end: int,
    first_timestamp: int,
    offsets_before: int,
    out: Bytes,
    out_at: int,
) -> int:
    """Write the records in `data[at:end]` behind those of other batches; where `out` goes on, or an error.

    `first_timestamp` is the base of the new batch, `offsets_before` is how much later this one begins. A record grows
    by at most MOST_GROWTH bytes.
    """
    last = -1
    for _ in range(records.count):
        delta, offset, body, _, _, at = _next_record(records, data, at, end, last)
        if at < 0:
            return at
        last = offset
        timestamp_delta = _signed(_timestamp(records, delta) - first_timestamp)
        out_at = _write_record(out, out_at, timestamp_delta, offsets_before + offset, data, body, at)
    return out_at if at == end else _BYTES_LEFT_OVER


def skip_batches(data: memoryview) -> tuple[int, int, int, int]:
    """Walk over the batches of a record set, up to the first that is not whole and sound.

    Return the position there, the number of batches before it, and of the last one the next offset and the leader
    epoch.
    """
    begin, end = start_of(data), len(data)
    header = BatchHeader()
    at = batches = 0
    next_offset = leader_epoch = -1
    with cython.nogil:
        after = _read_header(header, begin, at, end)
        while after != _TORN:
            at = after
            batches += 1
            next_offset = header.base_offset + header.last_delta + 1
            leader_epoch = header.leader_epoch
            after = _read_header(header, begin, at, end)
    return at, batches, next_offset, leader_epoch


def find_batches(
    data: memoryview,
    at: int,
    codec: int,
    most_bytes: int,
    left_out: int,
    checked: int,
    room: int,
    found: FoundBatches,
) -> tuple[int, int]:
    """Find the batches with this codec from `at` on that follow one another and may be joined.

    Stop at the first batch that has another codec or any of the attributes `left_out`, or is larger than `most_bytes`,
    without records or a time, not whole, not sound, or out of order, when their records would take more than `room`
    bytes, or when `found` is full. Of batches up to `checked` bytes the checksum must be right, too. Return the number
    of batches, and the position behind them.
    """
    begin, end = start_of(data), len(data)
    header = BatchHeader()
    number = size = first_offset = next_offset = 0
    with cython.nogil:
        while number < found.size:
            after = _read_header(header, begin, at, end)
            if after == _TORN or after - at > most_bytes:
                break
            if header.attributes & _CODEC_BITS != codec or header.attributes & left_out != 0:
                break
            if header.records == 0 or header.max_timestamp == _NO_TIMESTAMP:
                break
            size += after - at - _HEADER_SIZE
            if size > room:
                break
            if number > 0 and header.base_offset < next_offset:
                break
            if number == 0:
                first_offset = header.base_offset
            if header.base_offset + header.last_delta - first_offset >= _MOST_OFFSETS:
                break
            if after - at <= checked and _crc(_CRC32C_TABLE, begin, at + 21, after) != header.crc:
                break
            found.places[number] = at
            found.crcs[number] = header.crc
            found.begins[number] = at + _HEADER_SIZE
            found.ends[number] = after
            found.counts[number] = header.records
            found.offsets[number] = header.base_offset
            found.last_deltas[number] = header.last_delta
            found.attributes[number] = header.attributes
            found.base_timestamps[number] = header.base_timestamp
            found.max_timestamps[number] = header.max_timestamp
            next_offset = header.base_offset + header.last_delta + 1
            number += 1
            at = after
    return number, at


def join_found(data: memoryview, found: FoundBatches, number: int, out: memoryview) -> tuple[int, int, int, int, int]:
    """Write the records of found batches, which lie in `data` decompressed, behind each other and room for a header.

    Stop at the first batch whose records are not sound, or do not fit into `out`. Return the numbers of batches and
    records, the base and the last timestamp, and the end of what was written.
    """
    begin, written, room = start_of(data), writable_start_of(out), len(out)
    records = BatchRecords(data, 0, 0, 0, True)
    joined = count = first_timestamp = max_timestamp = 0
    out_at = _HEADER_SIZE
    with cython.nogil:
        while joined < number:
            size = found.ends[joined] - found.begins[joined]
            records.count, records.last_delta = found.counts[joined], found.last_deltas[joined]
            if records.count > size // _LEAST_RECORD or size + records.count * _MOST_GROWTH > room - out_at:
                break
            records.keep_timestamps = found.attributes[joined] & _LOG_APPEND_BIT == 0
            records.base_timestamp = found.max_timestamps[joined]
            if records.keep_timestamps:
                records.base_timestamp = found.base_timestamps[joined]
            if joined == 0:
                first_timestamp, max_timestamp = records.base_timestamp, found.max_timestamps[joined]
            before = found.offsets[joined] - found.offsets[0]
            behind = _append(
                records, begin, found.begins[joined], found.ends[joined], first_timestamp, before, written, out_at
            )
            if behind < 0:
                break
            out_at = behind
            count += records.count
            max_timestamp = max(max_timestamp, found.max_timestamps[joined])
            joined += 1
    return joined, count, first_timestamp, max_timestamp, out_at


def find_fields(
    records: BatchRecords, start: int, most_bytes: int, skip_below: int, fields: RecordFields
) -> tuple[int, int, int]:
    """Find the fields of records that `survey_records` has found sound.

    Return the number of records, the number of their headers, and the begin of the next record. Stop when `fields` is
    full, or after about `most_bytes`; skip records whose offset delta is below `skip_below`.
    """
    data, end = start_of(records.data), len(records.data)
    at = start
    found = named = 0
    with cython.nogil:
        while at < end and found < fields.size and at - start < most_bytes:
            delta, offset, body, _, _, after = _read_record(data, at, end)
            at = after
            if offset < skip_below:
                continue
            key, key_end, place = _field(data, body, after)
            value, value_end, place = _field(data, place, after)
            headers, place = _read_varint(data, place, after, 5)
            fields.offsets[found] = offset
            fields.timestamps[found] = _timestamp(records, delta)
            fields.keys[found] = key - start
            fields.key_ends[found] = key_end - start if key_end >= 0 else -1
            fields.values[found] = value - start
            fields.value_ends[found] = value_end - start if value_end >= 0 else -1
            fields.header_counts[found] = headers
            fields.headers[found] = place
            named += headers
            found += 1
    return found, named, at


def find_headers(records: BatchRecords, start: int, found: int, fields: RecordFields, headers: HeaderFields) -> None:
    """Find names and values of the headers of the first `found` records."""
    data, end = start_of(records.data), len(records.data)
    number = 0
    with cython.nogil:
        for record in range(found):
            at = fields.headers[record]
            for _ in range(fields.header_counts[record]):
                name, name_end, at = _field(data, at, end)
                value, value_end, at = _field(data, at, end)
                headers.names[number] = name - start
                headers.name_ends[number] = name_end - start
                headers.values[number] = value - start
                headers.value_ends[number] = value_end - start if value_end >= 0 else -1
                number += 1


def _field(data: Bytes, at: int, end: int) -> tuple[int, int, int]:
    """Find the begin and end of the field whose length is at `at`, and the begin of the next field."""
    size, begin = _read_varint(data, at, end, 5)
    if size < 0:
        return begin, -1, begin
    return begin, begin + size, begin + size


def read_rows(
    records: BatchRecords,
    start: int,
    most: int,
    skip_below: int,
    base_offset: int,
    topic: Any,
    partition: Any,
    kind: Any,
    made: Any,
) -> tuple[Any, int]:
    """Return up to `most` records from `start` on as tuples of the type `made`, and the begin of the next record.

    The records must be sound. A tuple has the fields of `handlers.api.Record`; in a header's name, bytes that are not
    UTF-8 are surrogates. Records whose offset delta is below `skip_below` are left out.
    """
    data, end = start_of(records.data), len(records.data)
    rows: list[Any] = []
    at = start
    while at < end and len(rows) < most:
        delta, offset, body, _, _, after = _read_record(data, at, end)
        at = after
        if offset < skip_below:
            continue
        key, key_end, place = _field(data, body, after)
        value, value_end, place = _field(data, place, after)
        count, place = _read_varint(data, place, after, 5)
        headers: Any = ()
        if count > 0:
            headers = _read_headers(data, place, after, count)
        key_bytes = bytes_at(data, key, key_end) if key_end >= 0 else None
        value_bytes = bytes_at(data, value, value_end) if value_end >= 0 else None
        timestamp = _timestamp(records, delta)
        row = (topic, partition, base_offset + offset, kind, timestamp, key_bytes, value_bytes, headers)
        rows.append(new_tuple(made, row))
    return rows, at


def handle_rows(handle: Any, rows: Any, targets: Any, ends: Any) -> None:
    """Call `handle` with each row. Add what it answers to `targets`, and their number by then to `ends`.

    What it raises ends this; `targets` may then hold more than `ends` says.
    """
    for row in rows:
        targets.extend(handle(row))
        ends.append(len(targets))


def target_of(record: Any, topic: Any, made: Any) -> Any:
    """Return the record of a source as one for this topic, a tuple of the type `made` with `model.Outgoing`'s fields.

    Raise TypeError unless it has the fields of a record.
    """
    if fields_in(record) != _RECORD_FIELDS:
        raise TypeError("it has not the fields of a record")
    key, value, headers, time = field_of(record, 5), field_of(record, 6), field_of(record, 7), field_of(record, 4)
    return new_tuple(made, (topic, key, value, headers, None, time))


def _read_headers(data: Bytes, at: int, end: int, count: int) -> Any:
    pairs = []
    for _ in range(count):
        name, name_end, at = _field(data, at, end)
        value, value_end, at = _field(data, at, end)
        text = bytes_at(data, name, name_end).decode("utf-8", _ANY_BYTES)
        pairs.append((text, bytes_at(data, value, value_end) if value_end >= 0 else None))
    return tuple(pairs)


def write_targets(
    targets: Any, ends: Any, rows: Any, base_offset: int, base_timestamp: int, now: int, wish: int, writers: Any
) -> None:
    """Write the records that were made of others, each into the writer of its topic, of which new ones are made.

    `targets` are tuples as in `model.Outgoing`; up to `ends[n]` they were made of `rows[n]`, whose offset they keep. A
    record without a timestamp gets `now`, one without a partition is for partition `wish`. Raise TypeError, ValueError,
    OverflowError for what is no record.
    """
    begin = 0
    for number in range(len(ends)):
        delta = field_of(rows[number], 2) - base_offset
        end = ends[number]
        for place in range(begin, end):
            target = targets[place]
            if fields_in(target) != _TARGET_FIELDS:
                raise TypeError("a target has not the fields of a record")
            topic, key, value, headers = (
                field_of(target, 0),
                field_of(target, 1),
                field_of(target, 2),
                field_of(target, 3),
            )
            partition, timestamp = field_of(target, 4), field_of(target, 5)
            writer = writers.get(topic)
            if writer is None:
                writer = writers[topic] = RecordWriter(base_timestamp)
            pairs: Any = ()
            if headers:
                pairs = [(_name(name), _content(text)) for name, text in _pairs(headers)]
            time = now if timestamp is None else timestamp
            wished = wish if partition is None else partition
            writer.wishes.append(wished)
            _write_target(writer, delta, now if time < 0 else time, _content(key), _content(value), pairs)
        begin = end


def _pairs(headers: Any) -> Any:
    return headers.items() if isinstance(headers, dict) else headers


def _name(found: Any) -> Any:
    """Return the bytes of a header's name; raise TypeError."""
    return found.encode("utf-8", _ANY_BYTES) if isinstance(found, str) else bytes(memoryview(found))


def _content(found: Any) -> Any:
    """Return bytes, or None; raise TypeError."""
    if found is None or type(found) is bytes:
        return found
    return found.encode() if isinstance(found, str) else bytes(memoryview(found))


def _content_size(found: Any) -> int:
    """Return the bytes of a field with its length."""
    if found is None:
        return 1
    return varint_size(len(found)) + len(found)


def _write_target(writer: RecordWriter, offset_delta: int, timestamp: int, key: Any, value: Any, pairs: Any) -> None:
    """Write one record."""
    timestamp_delta = _signed(timestamp - writer.base_timestamp)
    body = _content_size(key) + _content_size(value) + varint_size(len(pairs))
    for name, text in pairs:
        body += _content_size(name) + _content_size(text)
    size = _size_without_length(timestamp_delta, offset_delta, body)
    writer.make_room(size + _MOST_VARINT)
    out = writer._out
    at = _write_varint(out, writer.size, size)
    out[at] = 0
    at = _write_varint(out, at + 1, timestamp_delta)
    at = _write_varint(out, at, offset_delta)
    at = _write_content(out, at, key)
    at = _write_content(out, at, value)
    at = _write_varint(out, at, len(pairs))
    for name, text in pairs:
        at = _write_content(out, at, name)
        at = _write_content(out, at, text)
    writer.size = at
    writer.count += 1
    writer.max_timestamp = max(writer.max_timestamp, timestamp)


def write_stamped(
    records: BatchRecords, start: int, skip_below: int, base_offset: int, now: int, wish: int, stamp: Stamp, writer: Any
) -> tuple[int, int]:
    """Write records with further headers, and their other bytes as they are, until one of them must not be copied.

    Return the begin of that record, or the end, and the offset of the last record that was looked at. The records must
    be sound; those whose offset delta is below `skip_below` are left out; each is for partition `wish`.
    """
    data, end = start_of(records.data), len(records.data)
    name = start_of(memoryview(stamp.path_name))
    at = start
    offset = -1
    path: Any = b""
    digits: Any = b""
    while at < end:
        first = at
        delta, offset, body, _, _, after = _read_record(data, at, end)
        at = after
        if offset < skip_below:
            continue
        _, _, place = _field(data, body, after)
        _, _, place = _field(data, place, after)
        count, headers = _read_varint(data, place, after, 5)
        left_out, left_bytes, begin, value_end = 0, 0, 0, -1
        if stamp.has_path:
            left_out, left_bytes, begin, value_end = _headers_called(data, headers, after, count, name, stamp.name_size)
            path = stamp.paths[None if left_out == 0 else bytes_at(data, begin, max(begin, value_end))]
            if path is None:
                return first, base_offset + offset
        if stamp.has_fixed:
            digits = b"%d" % (base_offset + offset)
        time = _timestamp(records, delta)
        time = now if time < 0 else time
        count_then = count - left_out + stamp.count
        rest = place - body + varint_size(count_then) + after - headers - left_bytes + len(path) + stamp.size(digits)
        timestamp_delta = _signed(time - writer.base_timestamp)
        size = _size_without_length(timestamp_delta, offset, rest)
        writer.make_room(size + _MOST_VARINT)
        out = writer._out
        to = _write_varint(out, writer.size, size)
        out[to] = 0
        to = _write_varint(out, _write_varint(out, to + 1, timestamp_delta), offset)
        copy_bytes(out, to, data, body, place)
        to = _write_varint(out, to + place - body, count_then)
        to = _copy_headers(out, to, data, headers, after, count if left_out else 0, name, stamp.name_size)
        writer.size = stamp.write(out, to, path, digits)
        writer.count += 1
        writer.max_timestamp = max(writer.max_timestamp, time)
        writer.wishes.append(wish)
    return end, base_offset + offset


def _headers_called(data: Bytes, at: int, end: int, count: int, name: Bytes, size: int) -> tuple[int, int, int, int]:
    """Return the number of headers of this name and their bytes, and where the value of the last begins and ends."""
    found, left_bytes, value_begin, value_end = 0, 0, 0, -1
    for _ in range(count):
        begin, name_end, behind = _field(data, at, end)
        this_begin, this_end, following = _field(data, behind, end)
        if _is_same(data, begin, name_end, name, size):
            found += 1
            left_bytes += following - at
            value_begin, value_end = this_begin, this_end
        at = following
    return found, left_bytes, value_begin, value_end


def _copy_headers(out: Bytes, to: int, data: Bytes, at: int, end: int, count: int, name: Bytes, size: int) -> int:
    """Copy headers; of the first `count` only those that are not of this name. The position behind them."""
    for _ in range(count):
        begin, name_end, behind = _field(data, at, end)
        _, _, following = _field(data, behind, end)
        if not _is_same(data, begin, name_end, name, size):
            copy_bytes(out, to, data, at, following)
            to += following - at
        at = following
    copy_bytes(out, to, data, at, end)
    return to + end - at


def _is_same(data: Bytes, begin: int, end: int, other: Bytes, size: int) -> bool:
    """Return True if these bytes are the first `size` of the others."""
    at = 0
    if end - begin != size:
        return False
    while at < size and data[begin + at] == other[at]:
        at += 1
    return at == size


def _write_bytes(out: Bytes, at: int, content: Any) -> int:
    """Write bytes as they are; the position behind them."""
    size = len(content)
    copy_bytes(out, at, content, 0, size)
    return at + size


def _write_content(out: Bytes, at: int, content: Any) -> int:
    """Write a field with its length; the position behind it."""
    if content is None:
        return _write_varint(out, at, -1)
    size = len(content)
    at = _write_varint(out, at, size)
    copy_bytes(out, at, content, 0, size)
    return at + size


def _read_message(data: Bytes, at: int, end: int) -> tuple[int, int, int, int, int, int]:
    """Read of a message its timestamp, the places and sizes of key and value, and the begin of the next message.

    A size is -1 for a null; the last is TORN unless the message is whole, and of format 0 or 1.
    """
    if end - at < _LEAST_MESSAGE or data[at + 16] > 1:
        return 0, 0, 0, 0, 0, _TORN
    length = _read_int(data, at + 8, 4)
    body = at + 18 + (_TIME_SIZE if data[at + 16] == 1 else 0)
    if length > end - at - _LOG_OVERHEAD or at + _LOG_OVERHEAD + length - body < _FIELD_SIZES:
        return 0, 0, 0, 0, 0, _TORN
    end = at + _LOG_OVERHEAD + length
    timestamp = _read_int(data, at + 18, 8) if data[at + 16] == 1 else _NO_TIMESTAMP
    key, key_size = body + 4, max(_read_int(data, body, 4), -1)
    if max(key_size, 0) > end - key - 4:
        return 0, 0, 0, 0, 0, _TORN
    value = key + max(key_size, 0) + 4
    value_size = max(_read_int(data, value - 4, 4), -1)
    if value + max(value_size, 0) != end:
        return 0, 0, 0, 0, 0, _TORN
    return timestamp, key, key_size, value, value_size, end


def skip_messages(data: memoryview) -> tuple[int, int, int]:
    """Walk over the messages of format 0 and 1, up to the first that is not whole and sound.

    Return the position there, the number of messages before it, and the offset of the last one, or -1.
    """
    begin, end = start_of(data), len(data)
    at = count = 0
    last_offset = -1
    with cython.nogil:
        while True:
            _, _, _, _, _, after = _read_message(begin, at, end)
            if after == _TORN or _read_int(begin, at, 8) < 0:
                break
            last_offset = _read_int(begin, at, 8)
            count += 1
            at = after
    return at, count, last_offset


def read_message(data: memoryview, at: int) -> tuple[int, int, int, int, int, int]:
    """Read a message; see `_read_message`."""
    return _read_message(start_of(data), at, len(data))


def has_right_checksum(data: memoryview, at: int, after: int) -> bool:
    """Return True if the checksum of the whole message between these places is right."""
    begin = start_of(data)
    return _crc(_CRC32_TABLE, begin, at + 16, after) == _read_int(begin, at + 12, 4) & _BITS_32


def crc32(data: memoryview) -> int:
    """Return the checksum of some bytes of a message, as a signed 32-bit number."""
    crc = _crc(_CRC32_TABLE, start_of(data), 0, len(data))
    return crc - (1 << 32) if crc >> 31 else crc


def add_messages(
    run: MessageRun, data: memoryview, at: int, magic: int, wrapped: bool, base_offset: int, last_offset: int, time: int
) -> int:
    """Add the messages from `at` on to a run; the position of the first that was not added, or an error.

    That is a wrapper or one of another format; or the run `is_full`: there is no more room, or what a batch says of the
    times of all its records would be wrong. A run without messages takes one, if it has MESSAGE_GREW bytes more room
    than that has. `wrapped`: they come out of a wrapper, whose offset is `last_offset`; their own count
    from `base_offset`. `time`: the broker's for all of them, or -1.
    """
    begin, end = start_of(data), len(data)
    error = 0
    with cython.nogil:
        while at < end:
            timestamp, key, key_size, value, value_size, after = _read_message(begin, at, end)
            if after == _TORN:
                error = _TORN_RECORD
                break
            attributes = begin[at + 17]
            if begin[at + 16] != magic:
                error = _OTHER_FORMAT if wrapped else 0
                break
            if attributes & _CODEC_BITS != 0:
                error = _WRAPPED_TWICE if wrapped else 0
                break
            offset = _signed(base_offset + _read_int(begin, at, 8))
            if offset < 0 or offset > last_offset or (run.count > 0 and offset <= run.last_offset):
                error = _OFFSET_OUT_OF_PLACE
                break
            if time != _NO_TIMESTAMP:
                timestamp = time
            by_broker = time != _NO_TIMESTAMP or (not wrapped and magic == 1 and attributes & _LOG_APPEND_BIT != 0)
            by_broker = by_broker and run._keeps_append_time
            run.is_full = run.count > 0 and _ends_run(run, offset, timestamp, by_broker)
            if run.is_full:
                break
            if run._check and _crc(_CRC32_TABLE, begin, at + 16, after) != _read_int(begin, at + 12, 4) & _BITS_32:
                error = _WRONG_CHECKSUM
                break
            if run.count == 0:
                run.first_offset, run.base_timestamp, run.has_append_time = offset, timestamp, by_broker
            run.is_full = not _add_record(run, offset, timestamp, begin, key, key_size, value, value_size)
            if run.is_full:
                break
            at = after
    return at if error == 0 else error


def _add_record(
    run: MessageRun, offset: int, timestamp: int, data: Bytes, key: int, key_size: int, value: int, value_size: int
) -> bool:
    """Write a record behind those of a run; return False if there is no room."""
    timestamp_delta = _signed(timestamp - run.base_timestamp)
    offset_delta = offset - run.first_offset
    body = varint_size(key_size) + max(key_size, 0) + varint_size(value_size) + max(value_size, 0) + 1
    size = _size_without_length(timestamp_delta, offset_delta, body)
    if size + _MOST_VARINT > run._end - run.size:
        return False
    out = run._out
    at = _write_varint(out, run.size, size)
    out[at] = 0
    at = _write_varint(out, at + 1, timestamp_delta)
    at = _write_varint(out, at, offset_delta)
    at = _copy_field(out, at, data, key, key_size)
    at = _copy_field(out, at, data, value, value_size)
    out[at] = 0  # no headers
    run.size = at + 1
    run.count += 1
    run.last_offset = offset
    run.max_timestamp = max(run.max_timestamp, timestamp)
    return True


def _ends_run(run: MessageRun, offset: int, timestamp: int, by_broker: bool) -> bool:
    """Return True if a message cannot be in one batch with the ones before."""
    if offset - run.first_offset >= _MOST_OFFSETS or by_broker != run.has_append_time:
        return True
    if by_broker:
        return timestamp != run.base_timestamp
    return (timestamp == _NO_TIMESTAMP) != (run.base_timestamp == _NO_TIMESTAMP)


def _copy_field(out: Bytes, at: int, data: Bytes, begin: int, size: int) -> int:
    """Write a field of a record with its length; the position behind it."""
    if size < 0:
        return _write_varint(out, at, -1)
    at = _write_varint(out, at, size)
    copy_bytes(out, at, data, begin, begin + size)
    return at + size


def write_messages(records: BatchRecords, magic: int, out: memoryview) -> int:
    """Write records as messages of format 0 or 1, whose offsets count from 0; their bytes, or an error.

    The records must be sound; a message takes at most MESSAGE_GROWTH more bytes than its record.
    """
    data, written, end = start_of(records.data), writable_start_of(out), len(records.data)
    at = out_at = number = 0
    with cython.nogil:
        while at < end:
            delta, _, body, _, _, at = _read_record(data, at, end)
            key, key_end, place = _field(data, body, at)
            value, value_end, place = _field(data, place, at)
            headers, place = _read_varint(data, place, at, 5)
            if headers != 0:
                out_at = _HAS_HEADERS
                break
            begin = out_at
            _write_int(written, begin, number, 8)
            written[begin + 16] = magic
            written[begin + 17] = 0
            out_at = begin + 18
            if magic == 1:
                _write_int(written, out_at, _timestamp(records, delta), 8)
                out_at += _TIME_SIZE
            out_at = _write_message_field(written, out_at, data, key, key_end)
            out_at = _write_message_field(written, out_at, data, value, value_end)
            _write_int(written, begin + 8, out_at - begin - _LOG_OVERHEAD, 4)
            _write_int(written, begin + 12, _crc(_CRC32_TABLE, written, begin + 16, out_at), 4)
            number += 1
    return out_at


def _write_message_field(out: Bytes, at: int, data: Bytes, begin: int, end: int) -> int:
    """Write a field of a message with its length, -1 where `end` is negative; the position behind it."""
    if end < 0:
        _write_int(out, at, -1, 4)
        return at + 4
    _write_int(out, at, end - begin, 4)
    copy_bytes(out, at + 4, data, begin, end)
    return at + 4 + end - begin


def _write_int(out: Bytes, at: int, value: int, size: int) -> None:
    """Write a big-endian integer of `size` bytes."""
    for step in range(size):
        out[at + step] = value >> 8 * (size - 1 - step) & 0xFF
