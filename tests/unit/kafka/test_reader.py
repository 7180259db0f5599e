"""What a reader makes of errors; librdkafka's consumer is a stand-in, because only an unclean election makes them."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError

from legacy_mm.errors import StreamFailure
from legacy_mm.kafka import reader
from legacy_mm.kafka.reader import PartitionReader
from legacy_mm.model import TopicPartition

PARTITION = TopicPartition("t", 0)
CUT = (
    "Partition log truncation detected at offset 2000 (leader epoch 0): broker end offset is 1000 (offset leader epoch "
    "0). Reset to INVALID."
)
UNKNOWN = "No epoch found less or equal to offset 2000: broker end offset is -1 (offset leader epoch -1)."


class Consumer:
    """Has read up to 2000 of a log that ends at 1500 now."""

    def __init__(self, errors: list[Any]) -> None:
        self._errors = errors

    def poll(self, timeout: float) -> Any:
        return self._errors.pop(0)

    def consume(self, count: int, timeout: float) -> list[Any]:
        return []

    def assign(self, partitions: list[Any]) -> None: ...

    def position(self, partitions: list[Any]) -> list[Any]:
        return [SimpleNamespace(offset=2000)]

    def get_watermark_offsets(self, partition: Any, timeout: float) -> tuple[int, int]:
        return 0, 1500


@pytest.mark.parametrize(
    ("offset", "text", "expected"),
    [
        (2100, "Broker: Offset out of range", (2100, 0, 1500, -1)),
        (None, CUT, (2000, 0, 1500, 1000)),
        (None, UNKNOWN, (2000, 0, 1500, -1)),
    ],
    ids=["out of range", "cut", "epoch unknown"],
)
def test_a_gap_has_an_offset(
    monkeypatch: pytest.MonkeyPatch, offset: int | None, text: str, expected: tuple[int, ...]
) -> None:
    """A log that was cut is told without one, which ended the mirror."""
    error = SimpleNamespace(code=lambda: KafkaError._AUTO_OFFSET_RESET, str=lambda: text, fatal=lambda: False)
    message = SimpleNamespace(error=lambda: error, topic=lambda: "t", partition=lambda: 0, offset=lambda: offset)
    monkeypatch.setattr(reader, "Consumer", lambda _: Consumer([message]))
    monkeypatch.setattr(reader, "_error", lambda record: record.error())
    reading = PartitionReader({"bootstrap.servers": "one:1"}, 1.0, print)
    reading.start({PARTITION: 5})
    assert reading.read(0.0) == []
    (gap,) = reading.take_gaps()
    assert (gap.partition, gap.reason) == (PARTITION, text)
    assert (gap.wanted, gap.low, gap.high, gap.parts_at) == expected


def test_records_come_before_the_error_that_follows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    corrupt = SimpleNamespace(code=lambda: KafkaError._BAD_MSG, str=lambda: "Local: Bad message", fatal=lambda: False)
    messages = [SimpleNamespace(failure=error, topic=lambda: "t", partition=lambda: 0) for error in (None, corrupt)]
    for message in messages:
        message.error = partial(getattr, message, "failure")
    consumer = Consumer(messages[:1])
    monkeypatch.setattr(consumer, "consume", lambda count, timeout: messages[1:])
    monkeypatch.setattr(reader, "Consumer", lambda _: consumer)
    monkeypatch.setattr(reader, "_error", lambda record: record.error())
    reading = PartitionReader({}, 1.0, lambda _: None)
    assert reading.read(1.0) == messages[:1]
    for _ in range(2):
        with pytest.raises(StreamFailure, match="reading t-0 failed: Local: Bad message"):
            reading.read(1.0)
