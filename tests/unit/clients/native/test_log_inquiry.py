"""What a log says of a batch whose answer was lost. Its fetches and its leader's end are stood for by rows."""

from __future__ import annotations

from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.clients.native import log_inquiry
from legacy_mm.clients.native.append_options import options_from
from legacy_mm.clients.native.appender import BatchAppender
from legacy_mm.clients.native.cluster import Cluster
from legacy_mm.clients.native.log_inquiry import LogInquiry
from legacy_mm.clients.native.partition_queue import PartitionQueue, ProducerBatch, Question
from legacy_mm.clients.native.traffic import Traffic
from legacy_mm.config import property_names
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.fetch_messages import FetchedPartition, Wanted
from legacy_mm.protocol.record_batch import ProducerStamp
from tests.unit.protocol.batches import NOW, Row, build

PLACE = TopicPartition("t", 0)
OURS, OTHERS = ProducerStamp(7, 0, 40), ProducerStamp(8, 0, 40)
FORBIDDEN, NOT_LEADER, OUT_OF_RANGE = 29, 6, 1
RECORDS = 3


class Log:
    """A partition: batches of some producers from offset `start` on, of which all before `readable` can be read."""

    def __init__(self, *producers: ProducerStamp, start: int = 10, readable: int = 1_000, error: int = 0) -> None:
        self.start, self.readable, self.error = start, readable, error
        self.end = start + RECORDS * len(producers)
        self.batches: dict[int, bytes] = {}
        for number, producer in enumerate(producers):
            made = build([Row(at, NOW, b"k", b"v") for at in range(RECORDS)]).restamp(producer)
            base_offset = start + RECORDS * number
            made.buffer[:8] = base_offset.to_bytes(8, "big")
            self.batches[base_offset] = bytes(made.buffer)
        self.fetches = 0

    def fetch(self, _: object, wanted: Wanted) -> FetchedPartition:
        self.fetches += 1
        high = min(self.end, self.readable)
        error = OUT_OF_RANGE if wanted.offset < self.start else self.error
        data = b"".join(data for at, data in self.batches.items() if wanted.offset <= at < high and not error)
        return FetchedPartition(PLACE, error, high, high, -1, (), -1, memoryview(bytearray(data)))


def ask(log: Log, monkeypatch: pytest.MonkeyPatch, *, since: int = 10, told: bool = True) -> Any:
    """The answer; None: it has to be asked again."""
    monkeypatch.setattr(log_inquiry, "_fetch", log.fetch)
    end = log.end if told else None
    monkeypatch.setattr(log_inquiry._Reader, "_log_end", lambda *_: end)
    cluster = Mock(spec=Cluster)
    cluster.leader_epoch.return_value = 3
    cluster.offsets_of_led.return_value = {PLACE: log.start}
    appender = BatchAppender(
        cluster, options_from(property_names.read_producer({"enable.idempotence": "true"})), Traffic("producer", print)
    )
    batch = build([Row(at, NOW, b"k", b"v") for at in range(RECORDS)]).restamp(OURS)
    entry = ProducerBatch(PartitionQueue(PLACE, OURS[:2], 5), batch, "opaque", len(batch.buffer), 0.0, 0.0)
    inquiry = LogInquiry(appender)
    question = Question(PLACE, since, entry)
    answers = [dict(inquiry._answers([question])).get(question) for _ in range(2)]
    assert answers[0] == answers[1]
    return answers[0]


@pytest.mark.parametrize("told", [True, False], ids=["the leader tells its end", "it does not"])
@pytest.mark.parametrize(
    ("log", "since", "place"),
    [
        (Log(OURS), 10, 10),
        (Log(OTHERS, OTHERS, OURS, OTHERS), 10, 16),
        (Log(OTHERS, OTHERS), 10, -1),
        (Log(OURS._replace(sequence=37), OURS._replace(epoch=1)), 10, -1),
        (Log(), 10, -1),
        (Log(OTHERS, OURS, start=50), 10, 53),
    ],
    ids=["alone", "among others", "others only", "another number, another epoch", "nothing new", "retention cut it"],
)
def test_the_batch_is_looked_for_by_its_producer_and_number(
    monkeypatch: pytest.MonkeyPatch, log: Log, since: int, place: int, told: bool
) -> None:
    assert ask(log, monkeypatch, since=since, told=told) == (-1, place)


def test_a_log_that_has_not_grown_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    assert ask(log, monkeypatch) == (-1, -1)
    assert not log.fetches


@pytest.mark.parametrize("log", [Log(OTHERS, OURS, readable=13), Log(OURS, error=NOT_LEADER)])
def test_what_cannot_be_read_yet_is_asked_again(monkeypatch: pytest.MonkeyPatch, log: Log) -> None:
    """It has to reach the other replicas first, or somebody else leads."""
    assert ask(log, monkeypatch) is None


def test_without_the_right_to_read_nobody_knows_and_it_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert ask(Log(OURS, error=FORBIDDEN), monkeypatch) == (-1, None)
    (said,) = caplog.messages
    assert "t-0" in said
    assert "AUTHORIZATION" in said.upper()


def test_the_thread_asks_again_until_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """And ends with the sending."""
    cluster = Mock(spec=Cluster)
    cluster.offsets_of_led.side_effect = [{}, {PLACE: 17}]
    options = options_from(property_names.read_producer({"enable.idempotence": "true", "retry.backoff.ms": "1"}))
    appender = BatchAppender(cast(Cluster, cluster), options, Traffic("producer", print))
    appender._ids = Mock(current=(7, 0))
    cluster.leader.return_value = None
    appender.append(PLACE, build([Row(0, NOW, b"k", b"v")]), "opaque")
    inquiry = appender._inquiry
    assert inquiry is not None
    queue = appender._queues[PLACE]
    while queue.asking:
        assert inquiry.is_alive()
        inquiry.join(0.01)
    assert queue._end == 17
    appender.purge()
    inquiry.join(10)
    assert not inquiry.is_alive()
