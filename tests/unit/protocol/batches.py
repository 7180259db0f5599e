"""Batches for tests, written and read by kafka-python's record classes, which share no code with ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from legacy_mm.protocol.compression import Codec, Decompressor, compress
from legacy_mm.protocol.record_batch import Header, RecordBatch, assemble, seal
from legacy_mm.protocol.record_set import RecordSet

NOW = 1_700_000_000_000
ROOM = 1 << 20
decompress = Decompressor()
decompress_little = Decompressor(ROOM)
"""For broken frames: each is tried up to the limit, which takes 90 ms where that is 256 MB."""


class Row(NamedTuple):
    """A record in the order in which kafka-python's builder wants its fields."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]] = ()


class Latin(str):
    """A text that is written in another code."""

    def encode(self, *_: Any) -> bytes:
        """Not UTF-8."""
        return super().encode("latin-1")


def build(rows: Iterable[Row], *, base_offset: int = 0, codec: Codec = Codec.NONE, attributes: int = 0) -> RecordBatch:
    """A batch whose offset deltas are the rows' offsets, at `base_offset` of a log."""
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1 << 24)
    for row in rows:
        builder.append(*row[:4], list(row.headers))
    plain = RecordBatch.read(memoryview(bytearray(builder.build())))
    header = plain.header._replace(base_offset=base_offset, attributes=attributes | codec)
    return assemble(header, compress(codec, plain.payload))


def record_set(*batches: RecordBatch) -> RecordSet:
    """The batches as a fetch response has them."""
    return RecordSet.read(memoryview(bytearray().join(batch.buffer for batch in batches)))


def decode(batch: RecordBatch) -> list[Row]:
    """The records as kafka-python reads them; only decompression is ours."""
    plain = assemble(batch.header.with_codec(Codec.NONE), records_of(batch))
    return [
        Row(record.offset, record.timestamp, record.key, record.value, tuple(record.headers))
        for record in DefaultRecordBatch(plain.buffer)
    ]


def records_of(batch: RecordBatch) -> memoryview:
    """A copy of the decompressed records."""
    return memoryview(bytes(decompress(batch.header.codec, batch.payload)))


def changed(batch: RecordBatch, **fields: int) -> RecordBatch:
    """A copy with other header fields and the right checksum."""
    header: Header = batch.header._replace(**fields)
    return seal(header, memoryview(bytearray(batch.buffer)))


_bytes = st.none() | st.binary(max_size=40) | st.binary(min_size=120, max_size=200)


@st.composite
def rows(draw: st.DrawFn, *, holes: bool = False, min_size: int = 1) -> list[Row]:
    """Records of one batch; with `holes`, offsets leave some out."""
    step = st.integers(1, 5) if holes else st.just(1)
    made: list[Row] = []
    offset = draw(st.integers(0, 3)) if holes else 0
    for _ in range(draw(st.integers(min_size, 12))):
        headers = draw(st.lists(st.tuples(st.text(max_size=5), _bytes), max_size=3))
        timestamp = draw(st.integers(0, 1 << 45) | st.integers(NOW, NOW + 1000))
        made.append(Row(offset, timestamp, draw(_bytes), draw(_bytes), tuple(headers)))
        offset += draw(step)
    return made
