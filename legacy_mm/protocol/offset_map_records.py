"""Keys and values of our own compacted topic of offset maps: one record for each place in the rings of a partition.

A key is a version, partition, place, and the topic in UTF-8 up to its end. A value of version 0 is a chunk: its number
and `copied_until`, the run it follows (of length -1: none), and its runs. A value of version 1 is a joined chunk: its
number, `until` and its run, then the same; its runs, and the one it follows, have a slack. Numbers are big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import JoinedChunk, OffsetMapChunk, OffsetRun

_VERSION, _JOINED = 0, 1
_KEY = struct.Struct(">bii")
_HEAD, _JOINED_HEAD = struct.Struct(">bqqqqq"), struct.Struct(">bqqqqqqqqq")
_RUN, _JOINED_RUN = struct.Struct(">qqq"), struct.Struct(">qqqq")
_NOTHING = OffsetRun(0, 0, -1)
_GREATEST = (1 << 62) - 1
"""No honest number comes near it, and sums of two stay in 64 bits."""


class OffsetMapRecord(NamedTuple):
    """One chunk of the map of a partition."""

    topic: str  # its name at the source
    partition: int
    place: int
    chunk: OffsetMapChunk | JoinedChunk

    def encode(self) -> tuple[bytes, bytes]:
        key = _KEY.pack(_VERSION, self.partition, self.place) + self.topic.encode()
        if isinstance(self.chunk, JoinedChunk):
            return key, _joined_bytes(self.chunk)
        number, copied_until, follows, runs = self.chunk
        head = _HEAD.pack(_VERSION, number, copied_until, *(follows or _NOTHING)[:3])
        return key, head + b"".join(_RUN.pack(*run[:3]) for run in runs)

    @classmethod
    def decode(cls, key: bytes | None, value: bytes | None) -> Self:
        """Decode a chunk; raise CorruptRecords, also for future versions."""
        if key is None or value is None:
            raise CorruptRecords("an offset map's record without a key or a value")
        try:
            key_version, partition, place = _KEY.unpack_from(key)
            topic = key[_KEY.size :].decode()
            (version,) = struct.unpack_from(">b", value)
            if key_version != _VERSION or version not in (_VERSION, _JOINED):
                raise CorruptRecords(f"an offset map's record of version {max(key_version, version)}, not {_JOINED}")
            chunk = _joined_chunk(value) if version == _JOINED else _chunk(value)
        except (struct.error, UnicodeDecodeError) as error:
            raise CorruptRecords(f"an offset map's record that is torn: {error}") from error
        if not (topic and partition >= 0 and place >= 0 and _is_sound(chunk)):
            raise CorruptRecords("an offset map's record whose numbers cannot be")
        return cls(topic, partition, place, chunk)


def _chunk(value: bytes) -> OffsetMapChunk:
    _, number, copied_until, *follows = _HEAD.unpack_from(value)
    runs = tuple(OffsetRun(*run) for run in _RUN.iter_unpack(value[_HEAD.size :]))
    return OffsetMapChunk(number, copied_until, _if_any(OffsetRun(*follows)), runs)


def _joined_chunk(value: bytes) -> JoinedChunk:
    _, number, until, *rest = _JOINED_HEAD.unpack_from(value)
    until_run, follows = OffsetRun(*rest[:3]), OffsetRun(*rest[3:])
    runs = tuple(OffsetRun(*run) for run in _JOINED_RUN.iter_unpack(value[_JOINED_HEAD.size :]))
    return JoinedChunk(number, until, until_run, _if_any(follows), runs)


def _joined_bytes(chunk: JoinedChunk) -> bytes:
    number, until, until_run, follows, runs = chunk
    head = _JOINED_HEAD.pack(_JOINED, number, until, *until_run[:3], *(follows or _NOTHING))
    return head + b"".join(_JOINED_RUN.pack(*run) for run in runs)


def _if_any(follows: OffsetRun) -> OffsetRun | None:
    return None if follows == _NOTHING else follows


def _is_sound(chunk: OffsetMapChunk | JoinedChunk) -> bool:
    """Return True if the numbers are possible: none negative or huge, and target offsets only grow."""
    runs: Sequence[OffsetRun] = chunk.runs if chunk.follows is None else (chunk.follows, *chunk.runs)
    numbers = [number for run in runs for number in run]
    if isinstance(chunk, JoinedChunk):
        numbers += [chunk.number, chunk.until, *chunk.until_run]
    else:
        numbers += [chunk.number, chunk.copied_until]
    begins = isinstance(chunk, OffsetMapChunk) and chunk.follows is None
    return (
        bool(chunk.runs or begins)
        and all(0 <= number <= _GREATEST for number in numbers)
        and all(before.end.downstream <= after.downstream + after.slack for before, after in pairwise(runs))
    )
