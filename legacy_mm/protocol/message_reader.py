"""Reading Kafka's messages; nothing reads outside."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from legacy_mm.base.errors import CorruptRecords

_INT16, _INT32, _INT64 = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")


_MOST_VARINT = 5
"""Bytes of the longest number of 32 bits."""


class MessageReader:
    """A position in the bytes of one message, in the older encoding: fixed integers, 16-bit string lengths.

    Every method raises CorruptRecords where the bytes do not suffice.
    """

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
        count = self._count()
        if count > len(self._body) - self._at:
            raise CorruptRecords(f"a message with {count} entries where {len(self._body) - self._at} bytes are left")
        return max(count, 0)

    def names(self) -> Iterator[str]:
        """Yield the names that an array's entries begin with; the caller reads the rest of each."""
        for _ in range(self.count()):
            yield self.text() or ""

    def text(self) -> str | None:
        size = self._text_size()
        return None if size < 0 else bytes(self._take(size)).decode(errors="replace")

    def data(self) -> memoryview:
        """Read bytes; null is empty."""
        return self._take(max(self._count(), 0))

    def end_structure(self) -> None:
        """Read to the end of a structure whose fields are read; nothing follows them in this encoding."""

    def _count(self) -> int:
        return self.int32()

    def _text_size(self) -> int:
        return self.int16()

    def _take(self, size: int) -> memoryview:
        begin, self._at = self._at, self._at + size
        self._check_end()
        return self._body[begin : self._at]

    def _check_end(self) -> None:
        if self._at > len(self._body):
            raise CorruptRecords(f"a message of {len(self._body)} bytes that should have {self._at}")


class FlexibleReader(MessageReader):
    """The same in the encoding of flexible versions: each length is a varint, one more than it says, 0 is null.

    Tagged fields end each structure.
    """

    def end_structure(self) -> None:
        """Read past the tagged fields: nobody needs them."""
        for _ in range(self._varint()):
            self._varint()
            self._take(self._varint())

    def _count(self) -> int:
        return self._varint() - 1

    def _text_size(self) -> int:
        return self._varint() - 1

    def _varint(self) -> int:
        number = 0
        for place in range(_MOST_VARINT):
            byte = self._take(1)[0]
            number |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return number
        raise CorruptRecords(f"a number of more than {_MOST_VARINT} bytes in a message")
