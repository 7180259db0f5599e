"""What a reader makes of errors; librdkafka's consumer is a stand-in, because only an unclean election makes them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message

from legacy_mm.clients.librdkafka import reader
from legacy_mm.clients.librdkafka.reader import PartitionReader
from legacy_mm.clock import Deadline
from legacy_mm.config import property_names
from legacy_mm.control_channel.frames import Started
from legacy_mm.errors import StreamFailure
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
        self.leaders = dict.fromkeys(range(3), 1)
        self.away: set[int] = set()
        self.refused: dict[int, int] = {}
        self.asked: list[list[int]] = []

    def poll(self, timeout: float) -> Any:
        return self._errors.pop(0)

    def consume(self, count: int, timeout: float) -> list[Any]:
        return []

    def assign(self, partitions: list[Any]) -> None:
        self.assigned = {partition.partition: partition.offset for partition in partitions}

    def position(self, partitions: list[Any]) -> list[Any]:
        return [SimpleNamespace(topic=place.topic, partition=place.partition, offset=2000) for place in partitions]

    def get_watermark_offsets(self, partition: Any, timeout: float) -> tuple[int, int]:
        return 0, 1500

    def list_topics(self, timeout: float) -> Any:
        partitions = {number: SimpleNamespace(leader=leader) for number, leader in self.leaders.items()}
        return SimpleNamespace(topics={"t": SimpleNamespace(partitions=partitions)})

    def offsets_for_times(self, partitions: list[Any], timeout: float) -> list[Any]:
        self.asked.append([place.partition for place in partitions])
        if self.away.intersection(self.leaders[place.partition] for place in partitions):
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        for place in partitions:
            if error := self.refused.get(place.partition):
                raise KafkaException(KafkaError(error))
        offsets = {EARLIEST: 0, LATEST: 1500}
        return [
            SimpleNamespace(topic=place.topic, partition=place.partition, offset=offsets[place.offset], error=None)
            for place in partitions
        ]


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
    reading = PartitionReader(property_names.read_consumer({"bootstrap.servers": "one:1"}), 1.0, print)
    reading.start({PARTITION: 5})
    assert not reading.read(0.0)
    (gap,) = reading.take_gaps()
    assert (gap.topic_partition, gap.reason) == (PARTITION, text)
    assert (gap.wanted, gap.low, gap.high, gap.parts_at) == expected


@pytest.fixture
def consumer(monkeypatch: pytest.MonkeyPatch) -> Consumer:
    """What the next reader reads with; it waits for no leader."""
    monkeypatch.setattr(reader, "_START_TIMEOUT", 0.0)
    made = Consumer([])
    monkeypatch.setattr(reader, "Consumer", lambda _: made)
    return made


def test_a_partition_that_nobody_leads_keeps_no_other_from_being_read(consumer: Consumer) -> None:
    first, second, third = (TopicPartition("t", number) for number in range(3))
    consumer.leaders = {0: 1, 1: -1, 2: 2}
    consumer.away = {2}
    reading = PartitionReader(property_names.read_consumer({}), 1.0, print)
    assert reading.start({first: LATEST, second: LATEST, third: EARLIEST}) == Started({first: 1500}, {first: 0})
    assert consumer.assigned == {0: 1500}
    assert reading.take_started(lambda: {first: 1700}) is None
    consumer.leaders[1], consumer.away = 3, set()
    reading._resolve_at = Deadline.after(0)
    assert reading.take_started(lambda: {first: 1700}) == Started({second: 1500, third: 0}, {second: 0, third: 0})
    assert consumer.assigned == {0: 1700, 1: 1500, 2: 0}, "from what was handed over, whatever librdkafka counts"
    assert not reading.leaderless


def test_each_leader_is_asked_for_the_starts_of_all_its_partitions_at_once(consumer: Consumer) -> None:
    """One by one they took 80 s for 200 idle partitions over a line of 50 ms, at each start of a copy job."""
    places = [TopicPartition("t", number) for number in range(90)]
    consumer.leaders = {place.partition: place.partition % 3 for place in places}
    started = PartitionReader(property_names.read_consumer({}), 1.0, print).start(dict.fromkeys(places, LATEST))
    assert (started.offsets, started.lows) == (dict.fromkeys(places, 1500), dict.fromkeys(places, 0))
    assert [len(asked) for asked in consumer.asked] == [30] * 6, "first offset and last one"


@pytest.mark.parametrize("code", [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.OFFSET_NOT_AVAILABLE])
def test_a_partition_that_its_leader_does_not_have_yet_keeps_no_other_of_it_from_being_read(
    consumer: Consumer, code: int
) -> None:
    """librdkafka then tells none of them."""
    consumer.refused = {1: code}
    places = [TopicPartition("t", number) for number in range(3)]
    reading = PartitionReader(property_names.read_consumer({}), 1.0, print)
    assert reading.start(dict.fromkeys(places, LATEST)).offsets == {places[0]: 1500, places[2]: 1500}
    assert reading.leaderless == {places[1]: LATEST}


def test_a_leader_is_waited_for_at_the_start(consumer: Consumer, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a topic was made; all are asked for at once again, not one by one."""
    monkeypatch.setattr(reader, "_START_TIMEOUT", 60.0)
    monkeypatch.setattr(reader, "_RETRY_BACKOFF", 0.0)
    consumer.refused = {1: KafkaError.NOT_LEADER_FOR_PARTITION}
    places = [TopicPartition("t", number) for number in range(3)]
    asked = consumer.offsets_for_times

    def answer(partitions: list[Any], timeout: float) -> list[Any]:
        if len(consumer.asked) == 5:
            consumer.refused = {}
        return asked(partitions, timeout)

    monkeypatch.setattr(consumer, "offsets_for_times", answer)
    assert PartitionReader(property_names.read_consumer({}), 1.0, print).start(
        dict.fromkeys(places, EARLIEST)
    ).offsets == dict.fromkeys(places, 0)
    assert consumer.asked == 7 * [[0, 1, 2]]


def test_where_nobody_leads_anything_a_leader_is_waited_for_and_that_is_told(
    consumer: Consumer, caplog: pytest.LogCaptureFixture
) -> None:
    """As in Java, for ever: a job that failed each time ended the mirror within half a minute."""
    consumer.leaders = {0: -1}
    assert PartitionReader(property_names.read_consumer({}), 1.0, print).start({PARTITION: LATEST}) == Started({}, {})
    (line,) = caplog.records
    assert vars(line)["fields"]["text"] == "t-0 has no leader, or its leader does not answer"


def test_where_a_start_will_never_be_known_reading_does_not_begin(consumer: Consumer) -> None:
    consumer.refused = {1: KafkaError.TOPIC_AUTHORIZATION_FAILED}
    places = [TopicPartition("t", number) for number in range(3)]
    with pytest.raises(StreamFailure, match="reading t-1 failed: Broker: Topic authorization failed"):
        PartitionReader(property_names.read_consumer({}), 1.0, print).start(dict.fromkeys(places, EARLIEST))


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
    reading = PartitionReader(property_names.read_consumer({}), 1.0, print)
    if ends:
        with pytest.raises(StreamFailure, match="reading t-0 failed: "):
            reading.read(0.0)
    else:
        assert not reading.read(0.0)
        (line,) = caplog.records
        assert vars(line)["fields"]["text"] == f"t-0: {error.str()}"


def test_records_come_before_the_error_that_follows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    corrupt = SimpleNamespace(code=lambda: KafkaError._BAD_MSG, str=lambda: "Local: Bad message", fatal=lambda: False)
    failed = SimpleNamespace(error=lambda: corrupt, topic=lambda: "t", partition=lambda: 0)
    consumer = Consumer([Message(topic="t", partition=0, offset=3, value=b"v", timestamp=(1, 99))])
    monkeypatch.setattr(consumer, "consume", lambda count, timeout: [failed])
    monkeypatch.setattr(reader, "Consumer", lambda _: consumer)
    monkeypatch.setattr(reader, "_error", lambda record: record.error())
    reading = PartitionReader(property_names.read_consumer({}), 1.0, lambda _: None)
    assert reading.read(1.0).next_offsets() == {PARTITION: 4}
    for _ in range(2):
        with pytest.raises(StreamFailure, match="reading t-0 failed: Local: Bad message"):
            reading.read(1.0)
