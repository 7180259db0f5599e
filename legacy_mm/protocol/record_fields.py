"""The fields of the records of a batch as Python objects, some hundred records at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from legacy_mm.protocol import field_kernels as kernels
from legacy_mm.protocol.record_batch import Header
from legacy_mm.protocol.records import as_array, survey

RawHeaders = tuple[tuple[bytes, bytes | None], ...]
"""Names as they are written, which need not be text."""


class Fields(NamedTuple):
    """Some records of one batch, turned: one sequence per field, all of the same length."""

    offsets: Sequence[int]
    timestamps: list[int]
    """The broker's where it has set them."""
    keys: list[bytes | None]
    values: list[bytes | None]
    headers: Sequence[RawHeaders]
    size: int
    """Bytes that they took in the batch, decompressed."""


def fields(header: Header, records: memoryview, *, from_offset: int, most: int, most_bytes: int) -> Iterator[Fields]:
    """Yield all decompressed records from that offset on, `most` at a time, or about `most_bytes`.

    Raise CorruptRecords before the first ones.
    """
    survey(header, records, 0, 0)
    data = as_array(records)
    time = header.max_timestamp if header.has_append_time else header.base_timestamp
    skip_below = from_offset - header.base_offset
    table = np.empty((kernels.FIELD_ROWS, min(most, header.records)), np.int64)
    at = 0
    while at < len(data):
        begin = at
        found, named, at = kernels.find_fields(
            data, begin, most_bytes, time, not header.has_append_time, skip_below, table
        )
        if not found:
            continue
        raw = bytes(records[begin:at])
        timestamps, keys, key_ends, values, value_ends = table[: kernels.OFFSET, :found].tolist()
        headers: Sequence[RawHeaders] = [()] * found
        if named:
            places = np.empty((kernels.HEADER_ROWS, named), np.int64)
            kernels.find_headers(data, begin, found, table, places)
            headers = _headers(raw, table[kernels.HEADERS, :found].tolist(), places.tolist())
        offsets = table[kernels.OFFSET, :found] + header.base_offset
        first, last = int(offsets[0]), int(offsets[-1])
        yield Fields(
            range(first, last + 1) if last - first == found - 1 else offsets.tolist(),
            timestamps,
            [raw[start:end] if end >= 0 else None for start, end in zip(keys, key_ends, strict=True)],
            [raw[start:end] if end >= 0 else None for start, end in zip(values, value_ends, strict=True)],
            headers,
            len(raw),
        )


def warm_up() -> None:
    """Compile every kernel, or load it from the cache: before the first batch waits for it."""
    record = memoryview(bytes((18, 0, 0, 0, 1, 1, 2, 2, 65, 1)))  # nulls, and a header
    list(fields(Header.new(1, 0, 0), record, from_offset=0, most=1, most_bytes=1))


def _headers(raw: bytes, counts: Sequence[int], places: Sequence[Sequence[int]]) -> list[RawHeaders]:
    """Return the headers of each record, from their numbers and places."""
    each = iter(
        [
            (raw[name:name_end], raw[begin:end] if end >= 0 else None)
            for name, name_end, begin, end in zip(*places, strict=True)
        ]
    )
    return [tuple(islice(each, count)) for count in counts]
