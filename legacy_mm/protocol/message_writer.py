"""Writing Kafka's messages, in their older encoding and in that of flexible versions."""

from __future__ import annotations

import struct
from typing import Protocol

_INT16, _INT32 = struct.Struct(">h"), struct.Struct(">i")


class Encoding(Protocol):
    """The way in which a version of a message writes what has a length."""

    end: bytes
    """After the last field of a structure: no tagged fields, where there may be some."""

    def count(self, number: int) -> bytes:
        """Encode the number of entries of an array, or of bytes."""

    def string(self, text: str | None) -> bytes:
        """Encode a string; None is null."""


class _Older:
    end = b""

    def count(self, number: int) -> bytes:
        return _INT32.pack(number)

    def string(self, text: str | None) -> bytes:
        if text is None:
            return _INT16.pack(-1)
        data = text.encode()
        return _INT16.pack(len(data)) + data


class _Flexible:
    end = b"\0"

    def count(self, number: int) -> bytes:
        """Encode one more, seven bits a byte, the least significant first: 0 is null."""
        left, written = number + 1, bytearray()
        while left > 0x7F:
            written.append(left & 0x7F | 0x80)
            left >>= 7
        written.append(left)
        return bytes(written)

    def string(self, text: str | None) -> bytes:
        if text is None:
            return self.count(-1)
        data = text.encode()
        return self.count(len(data)) + data


OLDER: Encoding = _Older()
FLEXIBLE: Encoding = _Flexible()
