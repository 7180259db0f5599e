"""Compiled walks that find the fields of records. Only for records that `survey_records` has found sound.

Places count from where the walk begins; a null has -1 as its end.
"""

from __future__ import annotations

from typing import Any

from legacy_mm.protocol.compilation import compiled, inlined
from legacy_mm.protocol.record_kernels import Int, read_record, read_varint

# Rows of the table that `find_fields` fills, one column for each record...
TIMESTAMP, KEY, KEY_END, VALUE, VALUE_END, OFFSET, HEADERS, HEADERS_AT, FIELD_ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# ... and of that of `find_headers`, one column for each header.
NAME, NAME_END, CONTENT, CONTENT_END, HEADER_ROWS = 0, 1, 2, 3, 4


@inlined
def _field(data: Any, at: int, end: int) -> tuple[Int, Int, Int]:
    """Find the begin and end of the field whose length is at `at`, and the begin of the next field."""
    size, begin = read_varint(data, at, end, 5)
    if size < 0:
        return begin, -1, begin
    return begin, begin + size, begin + size


@compiled
def find_fields(
    data: Any, start: int, most_bytes: int, base_timestamp: int, keep_timestamps: bool, skip_below: int, table: Any
) -> tuple[int, int, int]:
    """Find records; return their number, the number of their headers, and the begin of the next record.

    Stop at the columns of the table, or about `most_bytes`; skip records whose offset delta is below `skip_below`.
    """
    at, end = start, len(data)
    found = named = 0
    while at < end and found < table.shape[1] and at - start < most_bytes:
        delta, offset, body, _, _, after = read_record(data, at, end)
        at = after
        if offset < skip_below:
            continue
        key, key_end, place = _field(data, body, after)
        value, value_end, place = _field(data, place, after)
        headers, place = read_varint(data, place, after, 5)
        table[OFFSET, found] = offset
        table[TIMESTAMP, found] = base_timestamp + delta if keep_timestamps else base_timestamp
        table[KEY, found] = key - start
        table[KEY_END, found] = key_end - start if key_end >= 0 else -1
        table[VALUE, found] = value - start
        table[VALUE_END, found] = value_end - start if value_end >= 0 else -1
        table[HEADERS, found] = headers
        table[HEADERS_AT, found] = place
        named += headers
        found += 1
    return found, named, at


@compiled
def find_headers(data: Any, start: int, found: int, table: Any, headers: Any) -> None:
    """Find names and values of the headers of the first `found` records of the table."""
    number = 0
    end = len(data)
    for record in range(found):
        at = table[HEADERS_AT, record]
        for _ in range(table[HEADERS, record]):
            name, name_end, at = _field(data, at, end)
            content, content_end, at = _field(data, at, end)
            headers[NAME, number] = name - start
            headers[NAME_END, number] = name_end - start
            headers[CONTENT, number] = content - start
            headers[CONTENT_END, number] = content_end - start if content_end >= 0 else -1
            number += 1
