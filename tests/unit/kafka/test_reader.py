"""What a reader makes of errors; librdkafka's consumer is a stand-in, because only an unclean election makes them."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from legacy_mm.clock import Deadline
from legacy_mm.copyjob import Started
from legacy_mm.errors import StreamFailure
from legacy_mm.kafka import reader
from legacy_mm.kafka.reader import PartitionReader
from legacy_mm.model import EARLIEST, LATEST, TopicPartition

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
        self.no_offsets: dict[int, int] = {}

    def poll(self, timeout: float) -> Any:
        return self._errors.pop(0)

    def consume(self, count: int, timeout: float) -> list[Any]:
        return []

    def assign(self, partitions: list[Any]) -> None:
        self.assigned = {partition.partition: partition.offset for partition in partitions}

    def position(self, partitions: list[Any]) -> list[Any]:
        return [SimpleNamespace(topic=place.topic, partition=place.partition, offset=2000) for place in partitions]

    def get_watermark_offsets(self, partition: Any, timeout: float) -> tuple[int, int]:
        if error := self.no_offsets.get(partition.partition):
            raise KafkaException(KafkaError(error))
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
    assert (gap.topic_partition, gap.reason) == (PARTITION, text)
    assert (gap.wanted, gap.low, gap.high, gap.parts_at) == expected


def test_a_partition_that_nobody_leads_keeps_no_other_from_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    consumer = Consumer([])
    monkeypatch.setattr(reader, "Consumer", lambda _: consumer)
    reading = PartitionReader({}, 1.0, print)
    consumer.no_offsets = {1: KafkaError._TIMED_OUT, 2: KafkaError._UNKNOWN_PARTITION}
    first, second, third = (TopicPartition("t", number) for number in range(3))
    assert reading.start({first: LATEST, second: LATEST, third: EARLIEST}) == Started({first: 1500}, {first: 0})
    assert consumer.assigned == {0: 1500}
    assert reading.take_started({first: 1700}) is None
    consumer.no_offsets.clear()
    reading._resolve_at = Deadline.after(0)
    assert reading.take_started({first: 1700}) == Started({second: 1500, third: 0}, {second: 0, third: 0})
    assert consumer.assigned == {0: 1700, 1: 1500, 2: 0}, "from what was handed over, whatever librdkafka counts"
    assert not reading.unled


@pytest.mark.parametrize("code", [KafkaError._TIMED_OUT, KafkaError.TOPIC_AUTHORIZATION_FAILED])
def test_where_no_start_is_known_or_one_never_will_be_reading_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    consumer = Consumer([])
    monkeypatch.setattr(reader, "Consumer", lambda _: consumer)
    consumer.no_offsets = {1: code}
    others = {PARTITION: 5} if code != KafkaError._TIMED_OUT else {}
    with pytest.raises(TimeoutError):
        PartitionReader({}, 1.0, print).start({**others, TopicPartition("t", 1): EARLIEST})


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        (KafkaError.INVALID_MSG, True),
        (KafkaError.UNSUPPORTED_COMPRESSION_TYPE, True),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, True),
        (KafkaError.UNKNOWN, False),
        (KafkaError.NOT_LEADER_FOR_PARTITION, False),
        (KafkaError._UNKNOWN_PARTITION, False),
    ],
)
def test_an_error_ends_the_reading_as_in_java_or_is_told(
    code: int, ends: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """librdkafka asks again for ever, whatever a broker says."""
    error = KafkaError(code)
    message = SimpleNamespace(error=lambda: error, topic=lambda: "t", partition=lambda: 0)
    monkeypatch.setattr(reader, "Consumer", lambda _: Consumer([message]))
    monkeypatch.setattr(reader, "_error", lambda record: record.error())
    reading = PartitionReader({}, 1.0, print)
    if ends:
        with pytest.raises(StreamFailure, match="reading t-0 failed: "):
            reading.read(0.0)
    else:
        assert reading.read(0.0) == []
        (line,) = caplog.records
        assert vars(line)["fields"]["text"] == f"t-0: {error.str()}"


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
