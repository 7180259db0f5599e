"""Keys and values of our own compacted topic of offset maps: one record for each place in a partition's ring of chunks.

A key is a version, partition, place, and the topic in UTF-8 up to its end. A value is a version, the chunk's number and
`copied_until`, the run it follows (of length -1: none), and its runs. Numbers are big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from legacy_mm.errors import CorruptRecords
from legacy_mm.model import OffsetMapChunk, OffsetRun

_VERSION = 0
_KEY = struct.Struct(">bii")
_HEAD = struct.Struct(">bqqqqq")
_RUN = struct.Struct(">qqq")
_NOTHING = OffsetRun(0, 0, -1)
_GREATEST = (1 << 62) - 1
"""No honest number comes near it, and sums of two stay in 64 bits."""


class OffsetMapRecord(NamedTuple):
    """One chunk of the map of a partition."""

    topic: str  # its name at the source
    partition: int
    place: int
    chunk: OffsetMapChunk

    def encode(self) -> tuple[bytes, bytes]:
        number, copied_until, follows, runs = self.chunk
        head = _HEAD.pack(_VERSION, number, copied_until, *(follows or _NOTHING))
        return (
            _KEY.pack(_VERSION, self.partition, self.place) + self.topic.encode(),
            head + b"".join(_RUN.pack(*run) for run in runs),
        )

    @classmethod
    def decode(cls, key: bytes | None, value: bytes | None) -> Self:
        """Decode a chunk; raise CorruptRecords, also for future versions."""
        if key is None or value is None:
            raise CorruptRecords("an offset map's record without a key or a value")
        try:
            key_version, partition, place = _KEY.unpack_from(key)
            topic = key[_KEY.size :].decode()
            version, number, copied_until, *follows = _HEAD.unpack_from(value)
            runs = tuple(map(OffsetRun._make, _RUN.iter_unpack(value[_HEAD.size :])))
        except (struct.error, UnicodeDecodeError) as error:
            raise CorruptRecords(f"an offset map's record that is torn: {error}") from error
        if (key_version, version) != (_VERSION, _VERSION):
            raise CorruptRecords(f"an offset map's record of version {max(key_version, version)}, not {_VERSION}")
        before = OffsetRun._make(follows)
        chunk = OffsetMapChunk(number, copied_until, None if before == _NOTHING else before, runs)
        if not (topic and partition >= 0 and place >= 0 and _is_sound(chunk)):
            raise CorruptRecords("an offset map's record whose numbers cannot be")
        return cls(topic, partition, place, chunk)


def _is_sound(chunk: OffsetMapChunk) -> bool:
    """Return True if the numbers are possible: none negative or huge, and target offsets only grow."""
    runs: Sequence[OffsetRun] = chunk.runs if chunk.follows is None else (chunk.follows, *chunk.runs)
    numbers = (chunk.number, chunk.copied_until, *(number for run in runs for number in run))
    return (
        bool(chunk.runs or chunk.follows is None)
        and all(0 <= number <= _GREATEST for number in numbers)
        and all(before.end.downstream <= after.downstream for before, after in pairwise(runs))
    )
