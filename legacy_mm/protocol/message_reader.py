"""Reading Kafka's messages in their older encoding (fixed integers, 16-bit string lengths); nothing reads outside."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from legacy_mm.errors import CorruptRecords

_INT16, _INT32, _INT64 = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")


class MessageReader:
    """A position in the bytes of one message. Every method raises CorruptRecords where they do not suffice."""

    def __init__(self, body: memoryview) -> None:
        self._body = body
        self._at = 0

    def int16(self) -> int:
        return int(*self.fields(_INT16))

    def int32(self) -> int:
        return int(*self.fields(_INT32))

    def int64(self) -> int:
        return int(*self.fields(_INT64))

    def fields(self, kind: struct.Struct) -> tuple[Any, ...]:
        """Read numbers that follow each other, in one call."""
        begin, self._at = self._at, self._at + kind.size
        self._check_end()
        return kind.unpack_from(self._body, begin)

    def count(self) -> int:
        """Read the number of entries of an array; a null one has none."""
        count = self.int32()
        if count > len(self._body) - self._at:
            raise CorruptRecords(f"a message with {count} entries where {len(self._body) - self._at} bytes are left")
        return max(count, 0)

    def names(self) -> Iterator[str]:
        """Yield the names that an array's entries begin with; the caller reads the rest of each."""
        for _ in range(self.count()):
            yield self.text() or ""

    def text(self) -> str | None:
        size = self.int16()
        return None if size < 0 else bytes(self._take(size)).decode(errors="replace")

    def data(self) -> memoryview:
        """Read bytes with a 32-bit length; null is empty."""
        return self._take(max(self.int32(), 0))

    def _take(self, size: int) -> memoryview:
        begin, self._at = self._at, self._at + size
        self._check_end()
        return self._body[begin : self._at]

    def _check_end(self) -> None:
        if self._at > len(self._body):
            raise CorruptRecords(f"a message of {len(self._body)} bytes that should have {self._at}")


def string(text: str | None) -> bytes:
    """Encode a string as messages hold it; None is null."""
    if text is None:
        return _INT16.pack(-1)
    data = text.encode()
    return _INT16.pack(len(data)) + data
