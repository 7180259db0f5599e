"""Keys and values of MirrorMaker 2's internal topics: heartbeats, checkpoints, offset syncs.

Big-endian integers, and strings of a 16-bit length and UTF-8. Bytes after the last field are ignored, and so is the
number of the version that heartbeats and checkpoints begin with, as MirrorMaker 2 does.
"""

from __future__ import annotations

import struct
from typing import NamedTuple, Self

from legacy_mm.base.errors import CorruptRecords

_SHORT, _INT, _LONG, _STRING = "h", "i", "q", "string"
_LONGEST_STRING = (1 << 15) - 1
_VERSION = 0

Field = int | str

_HEARTBEAT_KEY = (_STRING, _STRING)
_HEARTBEAT_VALUE = (_SHORT, _LONG)
_CHECKPOINT_KEY = (_STRING, _STRING, _INT)
_CHECKPOINT_VALUE = (_SHORT, _LONG, _LONG, _STRING)
_OFFSET_SYNC_KEY = (_STRING, _INT)
_OFFSET_SYNC_VALUE = (_LONG, _LONG)


class Heartbeat(NamedTuple):
    """Proof that a flow is alive."""

    source: str
    target: str
    timestamp: int

    def encode(self) -> tuple[bytes, bytes]:
        return _write(_HEARTBEAT_KEY, self[:2]), _write(_HEARTBEAT_VALUE, (_VERSION, self.timestamp))

    @classmethod
    def decode(cls, key: bytes | None, value: bytes | None) -> Self:
        return cls._make(_read(_HEARTBEAT_KEY, key) + _read(_HEARTBEAT_VALUE, value)[1:])


class Checkpoint(NamedTuple):
    """The position at which a group resumes at the target: offsets are those of the next record to read."""

    group: str
    topic: str  # its name at the target
    partition: int
    upstream: int
    downstream: int
    metadata: str

    def encode(self) -> tuple[bytes, bytes]:
        return _write(_CHECKPOINT_KEY, self[:3]), _write(_CHECKPOINT_VALUE, (_VERSION, *self[3:]))

    @classmethod
    def decode(cls, key: bytes | None, value: bytes | None) -> Self:
        return cls._make(_read(_CHECKPOINT_KEY, key) + _read(_CHECKPOINT_VALUE, value)[1:])


class OffsetSync(NamedTuple):
    """One record's offset at the source and at the target. The value has no version."""

    topic: str  # its name at the source
    partition: int
    upstream: int
    downstream: int

    def encode(self) -> tuple[bytes, bytes]:
        return _write(_OFFSET_SYNC_KEY, self[:2]), _write(_OFFSET_SYNC_VALUE, self[2:])

    @classmethod
    def decode(cls, key: bytes | None, value: bytes | None) -> Self:
        return cls._make(_read(_OFFSET_SYNC_KEY, key) + _read(_OFFSET_SYNC_VALUE, value))


def _write(kinds: tuple[str, ...], fields: tuple[Field, ...]) -> bytes:
    out = bytearray()
    for kind, field in zip(kinds, fields, strict=True):
        if isinstance(field, str):
            text = field.encode()
            if len(text) > _LONGEST_STRING:
                raise CorruptRecords(f"a string of {len(text)} bytes does not fit: {_LONGEST_STRING} is the most")
            out += struct.pack(">h", len(text)) + text
        else:
            out += struct.pack(">" + kind, field)
    return bytes(out)


def _read(kinds: tuple[str, ...], data: bytes | None) -> tuple[Field, ...]:
    if data is None:
        raise CorruptRecords("a mirror record without a key or a value")
    fields: list[Field] = []
    at = 0
    try:
        for kind in kinds:
            (field,) = struct.unpack_from(">" + (_SHORT if kind == _STRING else kind), data, at)
            at += struct.calcsize(_SHORT if kind == _STRING else kind)
            if kind == _STRING:
                if not 0 <= field <= len(data) - at:
                    raise CorruptRecords(f"a mirror record with a string of {field} bytes where {len(data) - at} are")
                fields.append(data[at : at + field].decode())
                at += field
            else:
                fields.append(field)
    except (struct.error, UnicodeDecodeError) as error:
        raise CorruptRecords(f"a mirror record that is torn: {error}") from error
    return tuple(fields)
