"""When the reading of a compacted topic ends. librdkafka's consumer is a stand-in: real ones show errors and late
ends only by chance. Its clock goes on while it is waited for.
"""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from legacy_mm import clock
from legacy_mm.clients.librdkafka import compacted
from legacy_mm.clients.librdkafka.compacted import CompactedEntry, read_to_end
from legacy_mm.clock import Deadline
from legacy_mm.config import property_names
from legacy_mm.errors import HostError

END = KafkaError._PARTITION_EOF
FIRST, SECOND = CompactedEntry(0, b"k", b"v"), CompactedEntry(3, None, None)


class Consumer:
    """Gives one message at each poll, then waits."""

    def __init__(self, found: int | Exception, given: list[CompactedEntry | int]) -> None:
        self.now, self.closed, self.assigned = 100.0, False, False
        self._found, self._given = found, given

    def list_topics(self, topic: str, timeout: float) -> Any:
        self.now += 1.0
        if isinstance(self._found, Exception):
            raise self._found
        error = KafkaError(self._found) if self._found else None
        return SimpleNamespace(topics={topic: SimpleNamespace(error=error)})

    def assign(self, partitions: list[Any]) -> None:
        self.assigned = True

    def poll(self, timeout: float) -> Any:
        if not self._given:
            self.now += timeout
            return None
        self.now += 1.0
        given = self._given.pop(0)
        fields: dict[str, object] = {}
        if isinstance(given, CompactedEntry):
            fields = {"offset": given.offset, "key": given.key, "value": given.value, "error": None}
        else:
            fields = {"error": KafkaError(given)}
        return SimpleNamespace(**{name: lambda value=value: value for name, value in fields.items()})

    def consume(self, count: int, timeout: float) -> list[Any]:
        assert timeout == 0
        return []

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Reads with a time of 10 s; the entries, or what was raised, and the consumer."""

    def reading(*given: CompactedEntry | int, found: int | Exception = 0) -> tuple[Any, Consumer]:
        consumer = Consumer(found, list(given))
        monkeypatch.setattr(compacted, "Consumer", lambda _: consumer)
        monkeypatch.setattr(clock, "monotonic", lambda: consumer.now)
        try:
            answer: Any = list(
                read_to_end(property_names.read_connection({"bootstrap.servers": "one:1"}), "t", Deadline.after(10.0))
            )
        except HostError as error:
            answer = str(error)
        assert consumer.closed
        return answer, consumer

    return reading


def test_it_ends_at_the_end(read: Any, caplog: pytest.LogCaptureFixture) -> None:
    entries, consumer = read(FIRST, SECOND, END, CompactedEntry(9, b"late", b"late"))
    assert entries == [FIRST, SECOND]
    assert consumer.now == 104.0
    assert not caplog.records


def test_it_ends_at_the_deadline_with_what_there_is(read: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    entries, consumer = read(FIRST)
    assert entries == [FIRST]
    assert consumer.now == 110.0
    assert caplog.messages == ["The time was over before the end of t was reached"]


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC])
def test_a_topic_that_is_not_there_is_empty(read: Any, code: int, caplog: pytest.LogCaptureFixture) -> None:
    entries, consumer = read(found=code)
    assert (entries, consumer.assigned) == ([], False)
    assert read(FIRST, code)[0] == [FIRST]  # deleted meanwhile
    assert not caplog.records


def test_what_passes_is_waited_for(read: Any) -> None:
    assert read(KafkaError._TRANSPORT, FIRST, END, found=KafkaError.LEADER_NOT_AVAILABLE)[0] == [FIRST]


def test_a_refusal_is_an_error(read: Any) -> None:
    refused = KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert read(found=refused)[0].startswith("looking for t failed: ")
    assert read(FIRST, refused)[0].startswith("reading t failed: ")
    silent = KafkaException(KafkaError(KafkaError._TRANSPORT))
    assert read(found=silent)[0].startswith("looking for t failed: ")
