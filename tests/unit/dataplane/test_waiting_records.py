"""When a refused record is sent again, what is said of it, and what a stop makes of it."""

from __future__ import annotations

import logging

import pytest

from legacy_mm.base.errors import CorruptRecords, HandlerFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.produce.partition_queue import PartitionQueue, ProducerBatch
from legacy_mm.dataplane import waiting_records as module
from legacy_mm.dataplane.acks import Part, Piece
from legacy_mm.dataplane.waiting_records import WaitingRecords
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fakes.appender import FakeAppender
from tests.unit.protocol.batches import Row, build

SOURCE, TARGET = TopicPartition("t", 3), TopicPartition("A.t", 3)
DATED = 1_700_000_000_000


class Bench:
    """Records that wait, and a clock that is turned by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.appender = FakeAppender()
        self.waiting = WaitingRecords(self.appender)
        self.queue = PartitionQueue(TARGET, (7, 0), 5)
        self.part = Part(Piece(SOURCE, 43, 1), range(42, 43), None)

    def refuse(self, code: int = ErrorCode.INVALID_TIMESTAMP, time: int = DATED) -> bool:
        batch = build([Row(0, time, b"k", b"v")])
        return self.waiting.add(ProducerBatch(self.queue, batch, self.part, 1, 0.0, 0.0, refusal=code))

    def sent_again(self, seconds: float) -> bool:
        self.now += seconds
        self.waiting.poll()
        sent, self.appender.replaced = self.appender.replaced, []
        return [opaque for _, opaque in sent] == [self.part]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Bench:
    caplog.set_level(logging.INFO, "legacy_mm")
    return Bench(monkeypatch)


def test_pauses_grow_while_it_is_refused(bench: Bench) -> None:
    for pause in (5, 10, 20, 40, 80, 160, 300, 300):
        bench.refuse()
        assert not bench.sent_again(pause - 0.1)
        assert bench.sent_again(0.2)
        assert not bench.sent_again(1_000), "it has no answer yet"


def test_the_line_says_what_and_where_and_what_to_do(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.refuse()
    assert caplog.messages == [
        "The target does not take t-3 at offset 42, a record of 2023-11-14 22:13:20 UTC, into topic A.t: "
        "INVALID_TIMESTAMP: The timestamp of the message is out of acceptable range. It waits, and what follows it in "
        "its partition; it is sent again in 5 s. To mend it raise message.timestamp.after.max.ms or "
        "message.timestamp.before.max.ms (message.timestamp.difference.max.ms before 3.6) of topic A.t at the target; "
        "or set errors.tolerance=all to leave such records out"
    ]
    assert bench.waiting.reasons() == {
        "A.t": "t-3 waits at offset 42: INVALID_TIMESTAMP: The timestamp of the message is out of acceptable range."
    }
    assert list(bench.waiting.places()) == [TARGET]
    assert bench.queue.trouble is not None


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (ErrorCode.MESSAGE_TOO_LARGE, "raise max.message.bytes of topic A.t"),
        (ErrorCode.INVALID_RECORD, "see cleanup.policy of topic A.t"),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, "give the principal the right WRITE on topic A.t"),
        (ErrorCode.UNKNOWN_SERVER_ERROR, "see to topic A.t at the target"),
    ],
)
def test_each_refusal_has_a_remedy(bench: Bench, caplog: pytest.LogCaptureFixture, code: int, remedy: str) -> None:
    bench.refuse(code)
    assert f"To mend it {remedy}" in caplog.text


def test_a_time_that_no_calendar_has(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.refuse(time=1 << 62)
    assert f"a record of {1 << 62} ms since 1970" in caplog.text


def test_it_goes_on_once_the_target_has_it(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.refuse()
    bench.waiting.acknowledged(bench.part)
    assert bench.waiting.reasons(), "it was not sent again yet"
    assert bench.sent_again(6)
    bench.waiting.acknowledged(bench.part)
    assert caplog.messages[-1] == "The target has t-3 at offset 42 now"
    assert not bench.waiting.reasons()
    bench.refuse()
    assert bench.sent_again(5.1), "pauses begin anew"


def test_a_stop_waits_for_none_of_them(bench: Bench) -> None:
    bench.refuse()
    assert [each.queue for each in bench.waiting.give_up()] == [bench.queue]
    assert not bench.refuse(), "one that comes back later waits no more"


def failure(time: int | None = DATED) -> HandlerFailure:
    made = HandlerFailure("the transforms failed on t-3 at offset 42: bad")
    made.timestamp = time
    return made


def test_pauses_grow_while_the_same_record_fails(bench: Bench) -> None:
    pauses = [bench.waiting.failed(SOURCE, 42, "A.t", failure()) for _ in range(8)]
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300]
    assert bench.waiting.failed(SOURCE, 43, "A.t", failure()) == 5
    assert bench.waiting.failed(TopicPartition("t", 4), 43, "A.t", failure()) == 5


def test_the_line_of_a_failure_says_what_to_do(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.waiting.failed(SOURCE, 42, "A.t", failure())
    bench.waiting.failed(TopicPartition("t", 4), 7, "A.t", failure(None))
    bench.waiting.failed(TopicPartition("t", 5), 8, "A.u", CorruptRecords("t-5: bad checksum"))
    assert caplog.messages == [
        "t-3 waits at offset 42, a record of 2023-11-14 22:13:20 UTC: the transforms failed on t-3 at offset 42: bad; "
        "all other partitions go on. It is tried again in 5 s. To mend it see to what the transforms need; or set "
        "errors.tolerance=all to leave such records out",
        "t-4 waits at offset 7, a record without a time: the transforms failed on t-3 at offset 42: bad; all other "
        "partitions go on. It is tried again in 5 s. To mend it see to what the transforms need; or set "
        "errors.tolerance=all to leave such records out",
        "t-5 waits at offset 8, a record without a time: t-5: bad checksum; all other partitions go on. It is tried "
        "again in 5 s. To mend it see to the log at the source: another replica of the partition may be intact",
    ]
    assert bench.waiting.reasons()["A.u"] == "t-5 waits at offset 8: t-5: bad checksum"


def test_a_partition_goes_on_once_the_record_is_behind_it(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.waiting.failed(SOURCE, 42, "A.t", failure())
    bench.waiting.passed(SOURCE, 42)
    bench.waiting.passed(TopicPartition("t", 4), 100)
    assert bench.waiting.reasons()
    bench.waiting.passed(SOURCE, 43)
    assert caplog.messages[-1] == "t-3 goes on at offset 42"
    assert not bench.waiting.reasons()


def test_a_partition_that_goes_on_elsewhere_is_forgotten(bench: Bench) -> None:
    bench.waiting.failed(SOURCE, 42, "A.t", failure())
    bench.waiting.forget(SOURCE)
    assert not bench.waiting.reasons()
