"""A topic that keeps state, in memory: its writer and its log. mypy holds it to both clients."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.clients.topics.internal_log import InternalLog, KeyAndValue
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter, OnResult

Headers = tuple[tuple[str, bytes | None], ...]


class FakeInternalTopic(InternalTopicWriter, InternalLog):
    """Its records are those that it begins with, and those that it takes."""

    def __init__(self, *written: KeyAndValue) -> None:
        self.written: list[KeyAndValue] = list(written)
        self.places: list[tuple[int, Headers]] = []
        """Partition and headers of each record that was sent."""
        self.full = False
        """It takes nothing more, until it is flushed."""
        self.turned_away = 0
        """Records for which there was no room."""
        self.refuses = ""
        self.unreadable = False
        self.flushed = False
        self.read_to = 0
        self._on_result: OnResult = lambda key, reason: None

    def writer(self, on_result: OnResult) -> FakeInternalTopic:
        """The same topic, whose outcomes are told to this function."""
        self._on_result = on_result
        return self

    def again(self) -> FakeInternalTopic:
        """The same topic for a reader that begins from its start."""
        return FakeInternalTopic(*self.written)

    @override
    def send(
        self,
        key: bytes,
        value: bytes | None,
        timestamp: int | None = None,
        *,
        partition: int = 0,
        headers: Headers = (),
    ) -> bool:
        if self.full:
            self.turned_away += 1
            return False
        if not self.refuses:
            self.written.append((key, value))
            self.places.append((partition, headers))
        self._on_result(key, self.refuses or None)
        return True

    @override
    def waiting(self) -> int:
        return 0

    @override
    def flush(self, deadline: Deadline) -> bool:
        self.flushed, self.full = True, False
        return True

    @override
    def read(self, deadline: Deadline) -> Iterator[KeyAndValue]:
        if self.unreadable:
            raise HostError("cannot be read")
        new, self.read_to = self.written[self.read_to :], len(self.written)
        return iter(new)

    @override
    def close(self) -> None:
        self.read_to = 0
