"""What a log says of a batch whose answer was lost. Its fetches and its leader's end are stood for by rows."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.metadata import Metadata
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.cluster.offset_fetcher import OffsetFetcher
from legacy_mm.clients.net.connection_errors import RequestRefused, UnsupportedVersion
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce import log_inquiry
from legacy_mm.clients.produce.append_options import options_from
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.log_inquiry import LogInquiry
from legacy_mm.clients.produce.partition_queue import PartitionQueue, ProducerBatch, Question
from legacy_mm.protocol.fetch_messages import FetchedPartition, Wanted
from legacy_mm.protocol.record_batch import ProducerStamp
from tests.fixtures import client_settings
from tests.unit.protocol.batches import NOW, Row, build

PLACE = TopicPartition("t", 0)
OURS, OTHERS = ProducerStamp(7, 0, 40), ProducerStamp(8, 0, 40)
FORBIDDEN, NOT_LEADER, OUT_OF_RANGE = 29, 6, 1
RECORDS = 3
SECONDS = 10.0


class Log:
    """A partition: batches of some producers from offset `start` on, of which all before `readable` can be read."""

    def __init__(
        self,
        *producers: ProducerStamp,
        start: int = 10,
        readable: int = 1_000,
        error: int = 0,
        records: int = RECORDS,
    ) -> None:
        self.start, self.readable, self.error, self.records = start, readable, error, records
        self.end = start + records * len(producers)
        self.batches: dict[int, bytes] = {}
        for number, producer in enumerate(producers):
            made = build([Row(at, NOW, b"k", b"v") for at in range(records)]).restamp(producer)
            base_offset = start + records * number
            made.buffer[:8] = base_offset.to_bytes(8, "big")
            self.batches[base_offset] = bytes(made.buffer)
        self.fetches = 0

    def fetch(self, _: object, wanted: Wanted) -> FetchedPartition:
        self.fetches += 1
        high = min(self.end, self.readable)
        error = OUT_OF_RANGE if wanted.offset < self.start else self.error
        data = b"".join(data for at, data in self.batches.items() if wanted.offset <= at < high and not error)
        return FetchedPartition(PLACE, error, high, high, -1, (), -1, memoryview(bytearray(data)))

    def epoch_end(self, _: object) -> Any:
        row = SimpleNamespace(error_code=0, end_offset=self.end)
        return SimpleNamespace(topics=[SimpleNamespace(partitions=[row])])


class SlowLog(Log):
    """Only each third fetch brings something."""

    def fetch(self, _: object, wanted: Wanted) -> FetchedPartition:
        self.readable = 1_000 if self.fetches % 3 == 2 else 0
        return super().fetch(_, wanted)


def mocked() -> Any:
    """A cluster whose parts tell what a test says."""
    cluster = Mock(spec=Cluster)
    cluster.metadata, cluster.offsets = Mock(spec=Metadata), Mock(spec=OffsetFetcher)
    cluster.network = Mock(spec=NetworkClient)
    return cluster


def appender_of(cluster: Cluster) -> BatchAppender:
    options = options_from(client_settings.read_producer({"enable.idempotence": "true", "retry.backoff.ms": "1"}))
    return BatchAppender(cluster, options, Traffic("producer", print))


def inquiry_of(cluster: Cluster) -> LogInquiry:
    return LogInquiry(cluster, threading.RLock(), 0.001, print, print)


def ask(log: Log, monkeypatch: pytest.MonkeyPatch, *, since: int = 10, told: bool = True) -> Any:
    """The answer; None: it has to be asked again."""
    monkeypatch.setattr(log_inquiry, "_fetch", log.fetch)
    cluster = mocked()
    cluster.metadata.leader_epoch.return_value = 3
    cluster.offsets.of_led.return_value = {PLACE: log.start}
    cluster.connect.return_value.call = log.epoch_end if told else Mock(side_effect=UnsupportedVersion)
    batch = build([Row(at, NOW, b"k", b"v") for at in range(log.records)]).restamp(OURS)
    entry = ProducerBatch(PartitionQueue(PLACE, OURS[:2], 5), batch, "opaque", len(batch.buffer), 0.0, 0.0)
    inquiry = inquiry_of(cluster)
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
        (Log(OURS, records=1), 10, 10),
    ],
    ids=[
        "alone",
        "among others",
        "others only",
        "another number, another epoch",
        "nothing new",
        "retention cut it",
        "the last record",
    ],
)
def test_the_batch_is_looked_for_by_its_producer_and_number(
    monkeypatch: pytest.MonkeyPatch, log: Log, since: int, place: int, told: bool
) -> None:
    assert ask(log, monkeypatch, since=since, told=told) == (-1, place)


def test_a_log_that_has_not_grown_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log()
    assert ask(log, monkeypatch) == (-1, -1)
    assert not log.fetches


def test_a_leader_that_does_not_tell_its_end_may_be_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(SlowLog(OURS), monkeypatch, told=False) == (-1, 10)


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


def test_who_may_not_ask_for_the_end_of_a_log_sends_without_it(caplog: pytest.LogCaptureFixture) -> None:
    cluster = mocked()
    cluster.offsets.of_led.side_effect = RequestRefused("no right")
    question = Question(PLACE, 10, None)
    assert list(inquiry_of(cluster)._answers([question])) == [(question, (-1, None))]
    assert "no right" in caplog.text


def asking(*told: Any) -> BatchAppender:
    """An appender with a batch of old records, whose thread is told these ends of the log."""
    cluster = mocked()
    cluster.offsets.of_led.side_effect = told
    cluster.metadata.leader.return_value = None
    appender = appender_of(cluster)
    appender._ids = Mock(current=(7, 0))
    appender.append(PLACE, build([Row(0, NOW, b"k", b"v")]), "opaque")
    return appender


def test_an_error_of_the_thread_ends_the_sending() -> None:
    appender = asking(ZeroDivisionError)
    appender.wait_empty(SECONDS)
    with pytest.raises(ZeroDivisionError):
        appender.poll()


def test_the_thread_asks_again_until_it_is_told() -> None:
    """And ends with the sending."""
    appender = asking({}, {PLACE: 17})
    inquiry = appender._inquiry
    queue = appender._queues[PLACE]
    wait_until(lambda: not queue.asking, SECONDS, "the end of the log")
    assert queue._end == 17
    appender.purge()
    inquiry.join(SECONDS)
    assert not inquiry.is_alive()
