"""What a reader of an internal topic gets, portion by portion. librdkafka's consumer is a stand-in: what a real one
finds at once is chance."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from legacy_mm.clock import Deadline
from legacy_mm.kafka import internal_log
from legacy_mm.kafka.internal_log import InternalLog

SECONDS = 20.0
Portion = list[int | KafkaError]


class Broker:
    """A topic whose records are their offsets, and what each question of a consumer finds in it."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.portions: list[Portion] = []

    def __call__(self, settings: Any) -> Broker:
        return self

    def assign(self, partitions: list[Any]) -> None:
        pass

    def get_watermark_offsets(self, place: Any, timeout: float) -> tuple[int, int]:
        return 0, self.ends.pop(0)

    def consume(self, count: int, timeout: float) -> list[Any]:
        return [_message(each) for each in self.portions.pop(0)]

    def close(self) -> None:
        pass


def _message(given: int | KafkaError) -> Any:
    error = given if isinstance(given, KafkaError) else None
    offset = int(given.str()) if isinstance(given, KafkaError) else given
    fields = {"error": error, "offset": offset, "key": b"%d" % offset, "value": b"v"}
    return SimpleNamespace(**{name: lambda value=value: value for name, value in fields.items()})


def end(offset: int) -> KafkaError:
    """What librdkafka says at the end of a partition."""
    return KafkaError(KafkaError._PARTITION_EOF, str(offset))


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    made = Broker()
    monkeypatch.setattr(internal_log, "Consumer", made)
    return made


def read(log: InternalLog) -> list[int]:
    return [int(key or b"") for key, _ in log.read(Deadline.after(SECONDS))]


def test_what_is_written_while_it_is_read_is_not_lost(broker: Broker) -> None:
    log = InternalLog({"bootstrap.servers": "one:1"}, "t", "test")
    broker.ends = [2, 5, 5]
    broker.portions = [[0, 1, end(2), 2, 3], [4]]
    assert [read(log), read(log), read(log)] == [[0, 1, 2, 3], [4], []]


def test_the_end_may_be_behind_the_last_record(broker: Broker) -> None:
    """Compaction leaves the end where it was; so do transactions that were aborted."""
    log = InternalLog({"bootstrap.servers": "one:1"}, "t", "test")
    broker.ends = [3, 3, 9]
    broker.portions = [[0], [], [end(3)], [5, end(9)]]
    assert [read(log), read(log), read(log)] == [[0], [], [5]]
