"""Little batches that follow one another are copied as one.

A batch costs this process and the target broker some 0.1 ms each, whatever is in it, and a Java producer with its
default `batch.size` fills it with 16 KB: sixteen records of 1 KB. The legacy tool, too, made batches of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from legacy_mm.errors import CorruptRecords
from legacy_mm.protocol import records
from legacy_mm.protocol.compression import Codec, Decompressor
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.record_set import LITTLE_BYTES
from legacy_mm.protocol.records import Opened

_LITTLE = {
    Codec.NONE: LITTLE_BYTES,
    Codec.LZ4: 12 << 10,
    Codec.SNAPPY: 12 << 10,
    Codec.ZSTD: 6 << 10,
    Codec.GZIP: 2 << 10,
}
"""Bytes of a batch, compressed; a larger one costs less to send than to make anew."""
_MOST = 256 << 10
_MOST_OFFSETS = 1 << 30


class Arrived(NamedTuple):
    """A batch to be copied, and what compressed its records at the source."""

    batch: RecordBatch
    codec: Codec


class Joiner:
    """Joins batches of one partition. Remembers for each target topic what that found too large. For one thread."""

    def __init__(self, limit: int, decompress: Decompressor) -> None:
        """Create the joiner; `limit` is the most bytes of a joined batch, if less than the default."""
        self._most = min(limit, _MOST)
        self._limits: dict[str, int] = {}
        self._decompress = decompress

    def join(self, topic: str, batches: Iterable[RecordBatch], *, unopened: bool = False) -> Iterator[Arrived]:
        """Join batches for this target topic without changing records or order; an error of `batches` comes after all
        before it.

        `unopened`: compressed batches stay as they are.
        """
        limit = self.limit(topic)
        group: list[RecordBatch] = []
        size = 0
        try:
            for batch in batches:
                codec = batch.header.codec
                may_join = _is_little(batch) and not (unopened and codec is not Codec.NONE)
                fits = group and size + len(batch.buffer) <= limit and _belong_together(group, batch)
                if not (may_join and fits):
                    yield from self._joined(group, limit)
                    group, size = [], 0
                if may_join:
                    group.append(batch)
                    size += len(batch.buffer)
                else:
                    yield Arrived(batch, codec)
        except CorruptRecords:
            yield from self._joined(group, limit)
            raise
        yield from self._joined(group, limit)

    def limit(self, topic: str) -> int:
        """Return the most bytes of a joined batch for this topic."""
        return self._limits.get(topic, self._most)

    def refused(self, topic: str, size: int) -> None:
        """Note that this topic refused a batch of this many bytes."""
        self._limits[topic] = min(size // 2, self.limit(topic))

    def _joined(self, group: list[RecordBatch], limit: int) -> Iterator[Arrived]:
        """Yield as few batches as the limit allows; join none from a broken one on, so that sound ones are copied."""
        done = size = 0
        part: list[Opened] = []
        try:
            for batch in group if len(group) > 1 else ():
                data = self._opened(batch)
                if part and size + len(data) > limit:
                    yield _one(group[done], part)
                    done += len(part)
                    part, size = [], 0
                part.append(Opened(batch.header, data))
                size += len(data)
            if part:
                yield _one(group[done], part)
                done += len(part)
        except CorruptRecords:
            pass  # it is found again where that batch is copied by itself
        for batch in group[done:]:
            yield Arrived(batch, batch.header.codec)

    def _opened(self, batch: RecordBatch) -> memoryview:
        """Return the records in memory that the next call does not reuse."""
        codec = batch.header.codec
        data = self._decompress(codec, batch.payload)
        return data if codec is Codec.NONE else memoryview(bytes(data))


def _one(first: RecordBatch, part: list[Opened]) -> Arrived:
    """Return the joined batch; the first one itself if it is alone."""
    return Arrived(records.join(part) if len(part) > 1 else first, first.header.codec)


def _is_little(batch: RecordBatch) -> bool:
    header = batch.header
    return len(batch.buffer) <= _LITTLE[header.codec] and header.has_time


def _belong_together(group: list[RecordBatch], batch: RecordBatch) -> bool:
    """Return True if they have the same compression, and their offsets ascend and fit into one batch."""
    first, before, header = group[0].header, group[-1].header, batch.header
    near = before.last_offset < header.base_offset and header.last_offset - first.base_offset < _MOST_OFFSETS
    return near and header.codec is first.codec
