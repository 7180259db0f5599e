"""Compiled walks over the records of a decompressed batch. Nothing here raises, and nothing reads outside `data`.

A record is: its length, attributes, timestamp delta, offset delta, key length, key, value length, value, header count,
headers; integers are zigzag varints except the attributes (one byte). A read that does not fit answers the position
TORN, which is past any end, so every later read of the record answers TORN as well and one test at its end is enough.
Each record takes at least seven bytes, so a count that lies ends with the data.

Arrays of records must be read-only: a writable array is another type and is compiled for again. `records.warm_up`
compiles before the first batch waits for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from legacy_mm.protocol.compilation import compiled, inlined

Int = Any
"""A numpy integer while a kernel is compiled, an int for its caller."""

TORN = 1 << 62

MOST_GROWTH = 4 + 9 + 4
"""The growth limit of a rewritten record: its length, timestamp delta and offset delta, each at least a byte before."""
LEAST_RECORD = 7

# What a kernel answers instead of a number of batches or records.
TORN_RECORD = -1
BYTES_LEFT_OVER = -2
OFFSET_OUT_OF_PLACE = -3

# Columns of the table that `place_records` fills, one row for each record...
BATCH, TIMESTAMP, BODY, END, NEW_DELTA, OLD_DELTA, RECORD_COLUMNS = 0, 1, 2, 3, 4, 5, 6
# ... and of the one with a row for each batch.
PARTITION, COUNT, SIZE, BASE_TIMESTAMP, MAX_TIMESTAMP, BATCH_COLUMNS = 0, 1, 2, 3, 4, 5

_SKIPPED = -1
_NONE_OPEN = -1


@inlined
def read_varint(data: Any, at: int, end: int, most: int) -> tuple[Int, Int]:
    """Read a zigzag varint of at most `most` bytes (5: 32 bits, 10: 64 bits), and the position after it."""
    if at < end:
        raw = np.int64(data[np.uintp(at)])
        if raw < 0x80:
            return (raw >> 1) ^ -(raw & 1), at + 1
        if at + 1 < end and data[np.uintp(at + 1)] < 0x80:
            raw = raw & 0x7F | np.int64(data[np.uintp(at + 1)]) << 7
            return (raw >> 1) ^ -(raw & 1), at + 2
    return _long_varint(data, at, end, most)


@compiled
def _long_varint(data: Any, at: int, end: int, most: int) -> tuple[Int, Int]:
    raw = np.uint64(0)
    shift = np.uint64(0)
    last = min(end, at + most)
    while at < last:
        byte = data[np.uintp(at)]
        at += 1
        raw |= np.uint64(byte & np.uint8(0x7F)) << shift
        if byte < 0x80:
            if most == 5:
                raw &= np.uint64(0xFFFFFFFF)  # as Java's int drops what does not fit
            return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), at
        shift += np.uint64(7)
    return 0, TORN


@inlined
def varint_size(value: int) -> int:
    """Return the bytes of a zigzag varint."""
    raw = np.uint64((value << 1) ^ (value >> 63))
    size = 1
    while raw >= np.uint64(0x80):
        raw >>= np.uint64(7)
        size += 1
    return size


@inlined
def write_varint(out: Any, at: int, value: int) -> int:
    """Write a zigzag varint; the position behind it."""
    raw = np.uint64((value << 1) ^ (value >> 63))
    while raw >= np.uint64(0x80):
        out[at] = np.uint8(raw & np.uint64(0x7F)) | np.uint8(0x80)
        raw >>= np.uint64(7)
        at += 1
    out[at] = np.uint8(raw)
    return at + 1


@inlined
def size_without_length(timestamp_delta: int, offset_delta: int, body: int) -> int:
    """Return the bytes of a record after its length, given the bytes from its key length on."""
    return 1 + varint_size(timestamp_delta) + varint_size(offset_delta) + body


@inlined
def record_size(timestamp_delta: int, offset_delta: int, body: int) -> int:
    """Return the bytes of a whole record."""
    size = size_without_length(timestamp_delta, offset_delta, body)
    return varint_size(size) + size


@inlined
def murmur2(data: Any, at: int, size: int) -> Int:
    """Return Kafka's hash of `size` bytes from `at` on, as an unsigned 32-bit number."""
    factor = np.uint32(0x5BD1E995)
    hashed = np.uint32(0x9747B28C) ^ np.uint32(size)
    words_end = at + (size & ~3)
    while at < words_end:
        word = (
            np.uint32(data[np.uintp(at)])
            | np.uint32(data[np.uintp(at + 1)]) << np.uint32(8)
            | np.uint32(data[np.uintp(at + 2)]) << np.uint32(16)
            | np.uint32(data[np.uintp(at + 3)]) << np.uint32(24)
        )
        word = np.uint32(word * factor)
        word ^= word >> np.uint32(24)
        hashed = np.uint32(hashed * factor) ^ np.uint32(word * factor)
        at += 4
    rest = size & 3
    if rest == 3:
        hashed ^= np.uint32(data[np.uintp(at + 2)]) << np.uint32(16)
    if rest >= 2:
        hashed ^= np.uint32(data[np.uintp(at + 1)]) << np.uint32(8)
    if rest >= 1:
        hashed = np.uint32((hashed ^ np.uint32(data[np.uintp(at)])) * factor)
    hashed = np.uint32((hashed ^ hashed >> np.uint32(13)) * factor)
    return hashed ^ hashed >> np.uint32(15)


@inlined
def partition_of(data: Any, at: int, size: int, partitions: int) -> Int:
    """Return the partition of `partitions` that Kafka's default partitioner gives a key."""
    if partitions == 1:
        return 0
    # 32-bit division costs a third of 64-bit division
    return np.int64((np.uint32(murmur2(data, at, size)) & np.uint32(0x7FFFFFFF)) % np.uint32(partitions))


@inlined
def read_record(data: Any, at: int, end: int) -> tuple[int, int, int, int, int, int]:
    """Read timestamp delta, offset delta, the begin of the body (key length on), the key's place and size, the next
    record.

    The size is negative for a null key. The last is TORN unless every field ends at the end the record gives.
    """
    size, at = read_varint(data, at, end, 5)
    if size < 0 or size > end - at:
        return 0, 0, 0, 0, 0, TORN
    end = at + size
    timestamp_delta, at = read_varint(data, at + 1, end, 10)
    offset_delta, body = read_varint(data, at, end, 5)
    key_size, key = read_varint(data, body, end, 5)
    value_size, at = read_varint(data, key + max(key_size, 0), end, 5)
    headers, at = read_varint(data, at + max(value_size, 0), end, 5)
    if headers < 0:
        at = TORN
    while headers > 0 and at < end:
        name_size, at = read_varint(data, at, end, 5)
        if name_size < 0:
            at = TORN
        value_size, at = read_varint(data, at + max(name_size, 0), end, 5)
        at += max(value_size, 0)
        headers -= 1
    if at != end or headers != 0:
        at = TORN
    return timestamp_delta, offset_delta, body, key, key_size, at


@inlined
def write_record(out: Any, at: int, timestamp_delta: int, offset_delta: int, data: Any, body: int, end: int) -> int:
    """Write a record whose fields from the key length on are `data[body:end]`; the position behind it."""
    at = write_varint(out, at, size_without_length(timestamp_delta, offset_delta, end - body))
    out[at] = 0  # attributes: none are defined
    at = write_varint(out, at + 1, timestamp_delta)
    at = write_varint(out, at, offset_delta)
    for step in range(end - body):
        out[np.uintp(at + step)] = data[np.uintp(body + step)]
    return at + end - body


@compiled
def survey_records(
    data: Any, count: int, last_delta: int, partition: int, partitions: int
) -> tuple[int, int, int, int, int, bool]:
    """Count the records (or return an error), keyed ones that belong elsewhere, and those without a key; return also
    the last offset delta, the bytes of the largest, and True if offsets are dense. No key is hashed if `partitions` is
    0.

    Offset deltas must ascend and not exceed `last_delta`: skipping and the next read position depend on it.
    """
    at, end = 0, len(data)
    elsewhere = keyless = largest = 0
    last = -1
    dense = True
    for index in range(count):
        begin = at
        _, offset, _, key, key_size, at = read_record(data, at, end)
        if at == TORN:
            return TORN_RECORD, 0, 0, 0, 0, False
        if not last < offset <= last_delta:
            return OFFSET_OUT_OF_PLACE, 0, 0, 0, 0, False
        if key_size < 0:
            keyless += 1
        elif partitions > 0:
            elsewhere += partition_of(data, key, key_size, partitions) != partition
        last = offset
        largest = max(largest, at - begin)
        dense &= offset == index
    if at != end:
        return BYTES_LEFT_OVER, 0, 0, 0, 0, False
    return count, elsewhere, keyless, last, largest, dense


@compiled
def measure_records(
    data: Any, count: int, base_timestamp: int, keep_timestamps: bool, skip_below: int
) -> tuple[int, int, float, int, int]:
    """Measure the bytes of all values (or return an error), the number of records with a time, the sum of the times,
    the first and the last.

    Only records whose offset delta is not below `skip_below` count. The bytes after a record's value are skipped.
    """
    at, end = 0, len(data)
    value_bytes = timed = oldest = newest = 0
    total = 0.0
    for _ in range(count):
        size, at = read_varint(data, at, end, 5)
        if size < 0 or size > end - at:
            return TORN_RECORD, 0, 0.0, 0, 0
        after = at + size
        delta, at = read_varint(data, at + 1, after, 10)
        offset, at = read_varint(data, at, after, 5)
        key_size, at = read_varint(data, at, after, 5)
        value_size, at = read_varint(data, at + max(key_size, 0), after, 5)
        if value_size > after - at:
            return TORN_RECORD, 0, 0.0, 0, 0
        at = after
        if offset < skip_below:
            continue
        value_bytes += max(value_size, 0)
        timestamp = base_timestamp + delta if keep_timestamps else base_timestamp
        if timestamp > 0:
            oldest = min(oldest, timestamp) if timed else timestamp
            newest = max(newest, timestamp)
            total += timestamp
            timed += 1
    return value_bytes, timed, total, oldest, newest


@inlined
def put_into_batch(record: Any, batch: Any, timestamp: int, size: int) -> None:
    """Count a record of `size` bytes in its batch."""
    record[TIMESTAMP] = timestamp
    record[NEW_DELTA] = batch[COUNT]
    batch[COUNT] += 1
    batch[SIZE] += size
    batch[MAX_TIMESTAMP] = max(batch[MAX_TIMESTAMP], timestamp)


@compiled
def place_records(
    data: Any,
    count: int,
    last_delta: int,
    base_timestamp: int,
    keep_timestamps: bool,
    skip_below: int,
    partitions: int,
    null_start: int,
    null_step: int,
    size_limit: int,
    open_batches: Any,
    records: Any,
    batches: Any,
) -> int:
    """Place each record in a new batch, the first half of a regrouping; return the number of batches or an error.

    Keyed records are placed by murmur2, null keys (with `partitions` 0: all) from `null_start` on by `null_step`. A
    batch that would exceed `size_limit` is followed by another one. `open_batches` has an item for each partition.
    """
    at, end = 0, len(data)
    open_batches[:] = _NONE_OPEN
    made = 0
    last = -1
    null_at = null_start
    for index in range(count):
        delta, offset, body, key, key_size, at = read_record(data, at, end)
        if at == TORN:
            return TORN_RECORD
        if not last < offset <= last_delta:
            return OFFSET_OUT_OF_PLACE
        last = offset
        if offset < skip_below:
            records[index, BATCH] = _SKIPPED
            continue
        target = null_at
        if partitions > 0 and key_size >= 0:
            target = partition_of(data, key, key_size, partitions)
        elif null_step != 0:
            null_at = (null_at + null_step) % partitions
        timestamp = base_timestamp + delta if keep_timestamps else base_timestamp
        batch = open_batches[target]
        size = 0
        if batch != _NONE_OPEN:
            timestamp_delta = timestamp - batches[batch, BASE_TIMESTAMP]
            size = record_size(timestamp_delta, batches[batch, COUNT], at - body)
        if batch == _NONE_OPEN or batches[batch, SIZE] + size > size_limit:
            batch = made
            made += 1
            open_batches[target] = batch
            batches[batch, PARTITION] = target
            batches[batch, COUNT] = batches[batch, SIZE] = 0
            batches[batch, BASE_TIMESTAMP] = batches[batch, MAX_TIMESTAMP] = timestamp
            size = record_size(0, 0, at - body)
        put_into_batch(records[index], batches[batch], timestamp, size)
        records[index, BATCH] = batch
        records[index, BODY] = body
        records[index, END] = at
        records[index, OLD_DELTA] = offset
    return made if at == end else BYTES_LEFT_OVER


@compiled
def write_records(data: Any, records: Any, batches: Any, cursors: Any, firsts: Any, out: Any, old_deltas: Any) -> None:
    """Write each placed record to its batch, whose bytes begin at `cursors` in `out`: the second half.

    `old_deltas` gets the offset deltas that the records had, batch by batch; a batch begins at `firsts` there. At the
    end `cursors` are one past each batch.
    """
    for index in range(len(records)):
        batch = records[index, BATCH]
        if batch == _SKIPPED:
            continue
        delta = records[index, TIMESTAMP] - batches[batch, BASE_TIMESTAMP]
        offset_delta = records[index, NEW_DELTA]
        body, end = records[index, BODY], records[index, END]
        cursors[batch] = write_record(out, cursors[batch], delta, offset_delta, data, body, end)
        old_deltas[firsts[batch] + offset_delta] = records[index, OLD_DELTA]


@compiled
def append_records(
    data: Any,
    count: int,
    last_delta: int,
    base_timestamp: int,
    keep_timestamps: bool,
    first_timestamp: int,
    offsets_before: int,
    out: Any,
    out_at: int,
) -> int:
    """Write the records of a batch behind those of others; where `out` goes on, or an error.

    `first_timestamp` is the base of the new batch, `offsets_before` is how much later this one begins. A record grows
    by at most MOST_GROWTH bytes.
    """
    at, end = 0, len(data)
    last = -1
    for _ in range(count):
        delta, offset, body, _, _, at = read_record(data, at, end)
        if at == TORN:
            return TORN_RECORD
        if not last < offset <= last_delta:
            return OFFSET_OUT_OF_PLACE
        last = offset
        timestamp = base_timestamp + delta if keep_timestamps else base_timestamp
        out_at = write_record(out, out_at, timestamp - first_timestamp, offsets_before + offset, data, body, at)
    return out_at if at == end else BYTES_LEFT_OVER
