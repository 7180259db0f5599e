"""One response of a broker as its bytes come in."""

from __future__ import annotations

import struct
from collections.abc import Callable

from legacy_mm.protocol.buffers import unwritten

_HEAD = struct.Struct(">ii")
"""Size, correlation id."""
_ID_SIZE = 4
"""The bytes of the correlation id, which the size counts."""

HeadCheck = Callable[[int, int], None]
"""Is given the size and the correlation id; raises where no such response is waited for."""


class IncomingResponse:
    """A response, head first; its body is read into memory that is not zeroed beforehand."""

    def __init__(self, check: HeadCheck) -> None:
        self.missing = self._head = memoryview(bytearray(_HEAD.size))
        """The bytes that are still to be filled; none: the response is whole."""
        self.body: memoryview | None = None
        """The bytes after the correlation id, once the head has come."""
        self._check = check

    def received(self, count: int) -> None:
        """Record that so many bytes of `missing` are filled."""
        self.missing = self.missing[count:]
        if not self.missing and self.body is None:
            size, correlation_id = _HEAD.unpack(self._head)
            self._check(size, correlation_id)
            self.body = self.missing = unwritten(size - _ID_SIZE)
