"""Little batches that follow one another are copied as one.

A batch costs this process and the target broker some 0.1 ms each, whatever is in it, and a Java producer with its
default `batch.size` fills it with 16 KB: sixteen records of 1 KB. The old tool, too, made batches of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from legacy_mm.errors import CorruptRecords
from legacy_mm.protocol import records
from legacy_mm.protocol.compression import Codec, Decompressor
from legacy_mm.protocol.record_batch import HEADER_SIZE, RecordBatch
from legacy_mm.protocol.records import Opened

_LITTLE = {
    Codec.NONE: 64 << 10,
    Codec.LZ4: 12 << 10,
    Codec.SNAPPY: 12 << 10,
    Codec.ZSTD: 6 << 10,
    Codec.GZIP: 2 << 10,
}
"""Bytes of a batch, compressed; a larger one costs less to send than to make anew."""
_MOST = 256 << 10
_MOST_OFFSETS = 1 << 30
_NO_TIMESTAMP = -1


class Arrived(NamedTuple):
    """A batch to be copied, and what compressed its records at the source."""

    batch: RecordBatch
    codec: Codec


class Joiner:
    """Joins batches of one partition. Remembers for each target topic what that found too large. For one thread."""

    def __init__(self, limit: int, decompress: Decompressor, *, check_crcs: bool) -> None:
        """`limit`: the most bytes of a batch that is made of several, if that is less than we would make."""
        self._most = min(limit, _MOST)
        self._limits: dict[str, int] = {}
        self._decompress = decompress
        self._check_crcs = check_crcs

    def join(self, topic: str, batches: Iterable[RecordBatch], *, unopened: bool = False) -> Iterator[Arrived]:
        """The same records in the same order, for this target topic; CorruptRecords after the last sound batch.

        `unopened`: what is compressed stays as it is.
        """
        limit = self._limits.get(topic, self._most)
        group: list[RecordBatch] = []
        size = 0
        try:
            for batch in batches:
                if self._check_crcs:
                    batch.check_crc()
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

    def refused(self, topic: str, size: int) -> None:
        """This topic took no batch of so many bytes."""
        self._limits[topic] = min(size // 2, self._limits.get(topic, self._most))

    def _joined(self, group: list[RecordBatch], limit: int) -> Iterator[Arrived]:
        """As few batches as the limit allows; none are joined from a broken one on, so that sound ones are copied."""
        done = 0
        try:
            while len(group) - done > 1:
                opened = self._opened(group[done:], limit)
                batch = records.join(opened) if len(opened) > 1 else group[done]
                yield Arrived(batch, group[done].header.codec)
                done += len(opened)
        except CorruptRecords:
            pass  # it is found again where that batch is copied by itself
        for batch in group[done:]:
            yield Arrived(batch, batch.header.codec)

    def _opened(self, group: list[RecordBatch], limit: int) -> list[Opened]:
        """The first one, and as many others as the limit allows."""
        opened: list[Opened] = []
        room = limit
        for header, buffer in group:
            data = buffer[HEADER_SIZE:]
            if header.codec is not Codec.NONE:
                data = memoryview(bytes(self._decompress(header.codec, data)))
            room -= len(data)
            if opened and room < 0:
                break
            opened.append(Opened(header, data))
        return opened


def _is_little(batch: RecordBatch) -> bool:
    header = batch.header
    return len(batch.buffer) <= _LITTLE[header.codec] and header.max_timestamp != _NO_TIMESTAMP


def _belong_together(group: list[RecordBatch], batch: RecordBatch) -> bool:
    """Whether they are compressed alike, and their offsets ascend and fit into one batch."""
    first, before, header = group[0].header, group[-1].header, batch.header
    near = before.last_offset < header.base_offset and header.last_offset - first.base_offset < _MOST_OFFSETS
    return near and header.codec is first.codec
