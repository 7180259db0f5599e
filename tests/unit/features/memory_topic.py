"""Stands in for a compacted topic: its writer and its log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from legacy_mm.clock import Deadline
from legacy_mm.errors import HostError

Pair = tuple[bytes | None, bytes | None]


class Topic:
    """A writer of a compacted topic and a log of it, in memory."""

    def __init__(self, *written: Pair) -> None:
        self.written: list[Pair] = list(written)
        self.full = False
        self.refuses = ""
        self.unreadable = False
        self.read_to = 0
        self._on_result: Callable[[bytes, str | None], None] = lambda key, reason: None

    def writer(self, on_result: Callable[[bytes, str | None], None]) -> Any:
        self._on_result = on_result
        return self

    def send(self, key: bytes, value: bytes, timestamp: int | None = None) -> bool:
        if self.full:
            return False
        if not self.refuses:
            self.written.append((key, value))
        self._on_result(key, self.refuses or None)
        return True

    def waiting(self) -> int:
        return 0

    def flush(self, deadline: Deadline) -> bool:
        return True

    def read(self, deadline: Deadline) -> list[Pair]:
        if self.unreadable:
            raise HostError("cannot be read")
        new, self.read_to = self.written[self.read_to :], len(self.written)
        return new

    def again(self) -> Topic:
        """The same topic for a reader that begins from its start."""
        return Topic(*self.written)
