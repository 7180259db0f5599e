"""The fields of the records of a batch as Python objects, some hundred records at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.record_batch import Header
from legacy_mm.protocol.records import batch_records, survey

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
    walked = batch_records(header, records)
    skip_below = from_offset - header.base_offset
    table = kernels.RecordFields(min(most, header.records))
    at = 0
    while at < len(records):
        begin = at
        found, named, at = kernels.find_fields(walked, begin, most_bytes, skip_below, table)
        if not found:
            continue
        raw = bytes(records[begin:at])
        deltas, timestamps, keys, key_ends, values, value_ends, header_counts, _ = (
            column[:found].tolist() for column in table.columns
        )
        headers: Sequence[RawHeaders] = [()] * found
        if named:
            places = kernels.HeaderFields(named)
            kernels.find_headers(walked, begin, found, table, places)
            headers = _headers(raw, header_counts, [column.tolist() for column in places.columns])
        first, last = header.base_offset + deltas[0], header.base_offset + deltas[-1]
        yield Fields(
            range(first, last + 1) if last - first == found - 1 else [header.base_offset + delta for delta in deltas],
            timestamps,
            [raw[start:end] if end >= 0 else None for start, end in zip(keys, key_ends, strict=True)],
            [raw[start:end] if end >= 0 else None for start, end in zip(values, value_ends, strict=True)],
            headers,
            len(raw),
        )


def _headers(raw: bytes, counts: Sequence[int], places: Sequence[Sequence[int]]) -> list[RawHeaders]:
    """Return the headers of each record, from their numbers and places."""
    each = iter(
        [
            (raw[name:name_end], raw[begin:end] if end >= 0 else None)
            for name, name_end, begin, end in zip(*places, strict=True)
        ]
    )
    return [tuple(islice(each, count)) for count in counts]
