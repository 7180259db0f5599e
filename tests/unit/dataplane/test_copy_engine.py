"""What the engine makes of what its target answers; no socket, no Kafka."""

from __future__ import annotations

from dataclasses import replace
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.errors import SendFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import UNKNOWN, CopiedRun, Gap, LogPosition, Progress, Statistics
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.clients.fetch.fetch_buffer import CompletedFetch
from legacy_mm.clients.net.buffer_pool import Buffers
from legacy_mm.clients.net.connection_errors import ProducerForgotten, UnsupportedVersion
from legacy_mm.clients.produce.appender import Acknowledged
from legacy_mm.clients.produce.partition_queue import PartitionQueue, ProducerBatch
from legacy_mm.dataplane import handler_stage, keep_alive
from legacy_mm.dataplane.acks import Part
from legacy_mm.dataplane.copy_ends import open_ends
from legacy_mm.dataplane.copy_engine import CopyEngine
from legacy_mm.dataplane.handler_stage import HandlerStage
from legacy_mm.dataplane.plain_stage import Outbound, PlainStage
from legacy_mm.dataplane.routes import Placed, Route
from legacy_mm.dataplane.send_failure import ProducerBroken, SendFailures, Unsent
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.produce_messages import Appended
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.runtime.channel.frames import Pairs, TaskConfig
from tests.fakes.appender import FakeAppender
from tests.fakes.cluster import FakeCluster
from tests.fakes.fetcher import FakeFetcher
from tests.fixtures import client_settings
from tests.unit.protocol.batches import NOW, Row, build, decode, record_set

HERE, OTHER = (TopicPartition("t", number) for number in (0, 1))
TIMED_OUT, FORBIDDEN, UNKNOWN_PRODUCER, REFUSES_CODEC, INVALID = 7, 29, 59, 76, 87
RECORDS = 3
PATIENCE = 10.0


def make(check_crcs: str = "true", **more: Any) -> tuple[CopyEngine, list[Any]]:
    """An engine that asks nobody, and what it reports."""
    frames: list[Any] = []
    brokers = {"bootstrap.servers": "one:1"}
    source = {**brokers, "check.crcs": check_crcs}
    config = TaskConfig(
        {},
        {"t": "t"},
        client_settings.read_consumer(source),
        client_settings.read_producer(brokers),
        0.0,
        1.0,
        abort_on_send_failure=False,
        synchronous=False,
        **more,
    )
    return CopyEngine(config, frames.append, open_ends(config, Buffers())), frames


def write_to(engine: CopyEngine, target: Any) -> None:
    """Let it append to this."""
    engine.ends.appender = target
    engine.delivery._appender = target  # type: ignore[attr-defined]


def hear(engine: CopyEngine, target: FakeAppender) -> None:
    """Let it see what has arrived."""
    write_to(engine, target)
    for _ in range(2):
        engine._poll(blocked=False)


def told(refusal: int, *, doubtful: bool, keeps_partition: bool = True) -> list[CopiedRun]:
    """The pairs of two batches that arrived and of one between them that was given up; all of them are safe then."""
    engine, frames = make(pairs=True, keeps_partition=["t"] if keeps_partition else [])
    first, lost, last = (
        Part(engine.book.pieces.open(HERE, begin + RECORDS, 1), range(begin, begin + RECORDS), None)
        for begin in range(0, 3 * RECORDS, RECORDS)
    )
    batch = build([Row(at, NOW, b"k", b"v") for at in range(RECORDS)])
    refused = ProducerBatch(
        PartitionQueue(HERE, None, 1), batch, lost, len(batch.buffer), 0.0, 0.0, refusal=refusal, doubtful=doubtful
    )
    for answers in ([Acknowledged(first, 100), refused], [Acknowledged(last, 103)]):
        hear(engine, FakeAppender(*answers))
    engine._send_progress(blocked=False)
    safe: dict[TopicPartition, int] = {}
    for frame in frames:
        safe |= frame.offsets if isinstance(frame, Progress) else {}
    assert safe == {HERE: 3 * RECORDS}
    return [run for frame in frames if isinstance(frame, Pairs) for run in frame.runs]


ARRIVED = [CopiedRun(*HERE, 0, 100, RECORDS), CopiedRun(*HERE, 2 * RECORDS, 103, RECORDS)]


@pytest.mark.parametrize(("refusal", "doubtful"), [(TIMED_OUT, False), (FORBIDDEN, True)])
def test_a_batch_that_is_given_up_and_may_have_arrived_is_told_as_unknown(refusal: int, doubtful: bool) -> None:
    """As a hole it would let a group that is translated skip records that are there."""
    assert told(refusal, doubtful=doubtful) == [ARRIVED[0], CopiedRun(*HERE, RECORDS, UNKNOWN, RECORDS), ARRIVED[1]]


def test_a_batch_that_was_certainly_refused_is_a_hole() -> None:
    assert told(FORBIDDEN, doubtful=False) == ARRIVED


def test_a_batch_whose_codec_the_target_refuses_arrives_uncompressed() -> None:
    """What the source compressed in zstd, a target with `inter.broker.protocol.version` below 2.1 refuses."""
    engine, _ = make()
    batch = build([Row(at, NOW, b"k", b"v" * 100) for at in range(RECORDS)], codec=Codec.ZSTD)
    part = Part(engine.book.pieces.open(HERE, RECORDS, 1), range(RECORDS), None)
    target = FakeAppender(
        ProducerBatch(PartitionQueue(HERE, None, 1), batch, part, len(batch.buffer), 0.0, 0.0, refusal=REFUSES_CODEC)
    )
    hear(engine, target)
    ((sent, opaque),) = target.replaced
    assert (sent.header.codec, sent.header.records) == (Codec.NONE, RECORDS)
    hear(engine, FakeAppender(Acknowledged(opaque, 0)))
    assert (engine.refusals.failures.dropped.total(), engine.book.safe.safe()) == (0, {HERE: RECORDS})


def test_what_is_on_its_way_is_told_as_missing_at_the_target() -> None:
    engine, frames = make()
    part = Part(engine.book.pieces.open(HERE, RECORDS, 1, begin=1), range(1, RECORDS), None)
    engine.ends.read.carried(HERE, RECORDS - 1, 100, RECORDS)
    engine.ends.read.note_log(HERE, 0, RECORDS)
    for answers in ([], [Acknowledged(part, 0)]):
        hear(engine, FakeAppender(*answers))
        engine.ends.read._next = 0.0
        engine.book.send_statistics()
    told = [frame.positions for frame in frames if isinstance(frame, Statistics) and frame.positions]
    assert told == [[LogPosition(*HERE, 1, RECORDS)], [LogPosition(*HERE, RECORDS, RECORDS)]]


def test_the_last_numbers_of_a_job_are_told_when_it_ends() -> None:
    """Though the next ones were not due: else what came since the last ones is never counted."""
    engine, frames = make()
    engine.book.send_statistics()
    frames.clear()
    engine.ends.written.carried(HERE, RECORDS, 100)
    engine.book.send_statistics()
    assert frames == [], "they are not due"
    engine._drain(lambda: True)
    told = {
        row.name: row.counters["sent_records"]
        for frame in frames
        if isinstance(frame, Statistics)
        for row in frame.measured
        if row.level == "topic" and "sent_records" in row.counters
    }
    assert told == {HERE.topic: RECORDS}


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("Compacted topic cannot accept message without key.",) * 2,
        ("", "This record has failed the validation on broker and hence will be rejected."),
    ],
)
def test_a_record_that_is_refused_is_told_in_the_broker_s_words(
    caplog: pytest.LogCaptureFixture, reason: str, told: str
) -> None:
    engine, _ = make()
    part = Part(engine.book.pieces.open(HERE, 1, 1), range(1), None)
    refused = ProducerBatch(
        PartitionQueue(HERE, None, 1), build([Row(0, NOW, None, b"v")]), part, 0, 0.0, 0.0, 0, INVALID, reason
    )
    with caplog.at_level("ERROR"):
        hear(engine, FakeAppender(refused))
    assert [line.getMessage() for line in caplog.records] == [
        f"Record for topic t (key null, value 1 bytes) could not be sent: {told} (INVALID_RECORD)"
    ]


def test_what_a_refusal_names_is_not_sent_again_and_the_rest_is(caplog: pytest.LogCaptureFixture) -> None:
    """Each with its own reason; the driver hears meanwhile that the task lives, for there may be thousands."""
    engine, frames = make()
    engine.book.times.interval, engine.book.times.next_at = 0.0, 0.0
    batch = build([Row(at, NOW, b"k", b"%d" % at) for at in range(RECORDS)])
    part = Part(engine.book.pieces.open(HERE, RECORDS, 1), range(RECORDS), None)
    target = FakeAppender(
        ProducerBatch(
            PartitionQueue(HERE, None, 1),
            batch,
            part,
            0,
            0.0,
            0.0,
            refusal=INVALID,
            reason="first",
            blamed={0: "a", 2: ""},
        )
    )
    hear(engine, target)
    assert [line.getMessage().partition("sent: ")[2] for line in caplog.records if line.levelname == "ERROR"] == [
        "a (INVALID_RECORD)",
        "first (INVALID_RECORD)",
    ]
    assert len([frame for frame in frames if isinstance(frame, Progress)]) > 2
    ((sent, opaque),) = target.replaced
    assert [row.value for row in decode(sent)] == [b"1"]
    assert (engine.refusals.failures.dropped.total(), engine.book.safe.safe()) == (2, {})
    hear(engine, FakeAppender(Acknowledged(opaque, 0)))
    assert engine.book.safe.safe() == {HERE: RECORDS}


def test_a_checksum_that_nobody_looked_at_is_made_anew() -> None:
    """As the legacy tool's producer made its own; the target would refuse the source's again and again."""
    engine, _ = make(check_crcs="false")
    sound = build([Row(0, NOW, b"k", b"v")])
    sound.buffer[-2] ^= 1
    appended: list[RecordBatch] = []
    engine._started.is_started = True
    engine.ends.target = SimpleNamespace(metadata=SimpleNamespace(partitions=lambda _: 1))  # type: ignore[assignment]
    assert isinstance(engine._stage, PlainStage)
    engine._stage._engine = engine._stage._engine._replace(at_source=lambda _: 1)
    write_to(
        engine,
        SimpleNamespace(
            has_room=lambda: True, takes=lambda _: True, append=lambda _, batch, opaque: appended.append(batch)
        ),
    )
    engine._copy(CompletedFetch(HERE, 0, record_set(sound), (), 0))
    (sent,) = appended
    RecordBatch.read(sent.restamp().buffer).check_crc()


def stored_and_refused(engine: CopyEngine, *, doubtful: bool) -> ProducerBatch:
    """One batch that the target has, not reported yet, and the next, for which it does not know the producer."""
    appender = engine.ends.appender
    appender._ids = SimpleNamespace(current=(7, 0), acquire=lambda: (8, 0))  # type: ignore[assignment]
    appender.cluster = FakeCluster()
    for begin in (0, 1):
        part = Part(engine.book.pieces.open(HERE, begin + 1, 1), range(begin, begin + 1), None)
        appender.append(HERE, build([Row(0, epoch_ms(), b"k", b"v")]), part)
    queue = appender._queues[HERE]
    queue.paused = False
    with appender.lock:
        appender.acknowledged(queue.begin(), 0)
        refused = queue.begin()
        refused.doubtful = doubtful
        appender.failed(refused, Appended(HERE, UNKNOWN_PRODUCER, -1, "", {}))
    return refused


def test_who_is_forgotten_by_the_target_goes_on_under_another_producer_id() -> None:
    engine, _ = make()
    refused = stored_and_refused(engine, doubtful=False)
    engine._poll(blocked=False)
    queue = refused.queue
    queue.paused = False
    assert queue.begin() is refused
    assert refused.batch.header.producer == (8, 0, 0)


@pytest.mark.parametrize("error", [ProducerBroken, ProducerForgotten, UnsupportedVersion])
def test_what_arrived_before_the_producer_broke_is_not_sent_again(error: type[Exception]) -> None:
    """The next copy job begins where this one was safe."""
    engine, frames = make()
    stored_and_refused(engine, doubtful=error is ProducerBroken)
    if error is not ProducerBroken:
        engine.ends.appender.ended(error("as it is"))
    engine.book.times.next_at = float("inf")
    engine._run = lambda: engine._poll(blocked=False)  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(error):
        engine.run()
    assert [frame.offsets for frame in frames if isinstance(frame, Progress)] == [{HERE: 1}]


def test_a_gap_waits_for_what_is_under_way_of_its_own_partition_only() -> None:
    """Else a target partition that nobody leads would keep the whole stream from being copied."""
    engine, frames = make()
    part, stuck = (Part(engine.book.pieces.open(place, 1, 1), range(1), None) for place in (HERE, OTHER))
    gaps = [Gap(*HERE, 1, 5, 9, "as it is")]
    engine.ends.batches.fetcher = SimpleNamespace(  # type: ignore[assignment]
        take_gaps=lambda: [gaps.pop()] if gaps else [], take_started=lambda: None, is_settled=lambda: True
    )
    target = FakeAppender()
    write_to(engine, target)
    engine.book.times.next_at = float("inf")
    engine._turn([])
    assert frames == []
    target.arriving = [Acknowledged(part, 0)]
    for _ in range(2):
        engine._turn([])
    told = [(frame.offsets if isinstance(frame, Progress) else frame.wanted) for frame in frames]
    assert told == [{HERE: 1}, 1], "and what is safe of it is told before it"
    assert stuck.piece.missing


def test_partitions_that_are_not_preserved_have_no_pairs() -> None:
    assert told(TIMED_OUT, doubtful=False, keeps_partition=False) == []


def test_records_whose_topic_cannot_be_had_end_the_mirror_before_they_count() -> None:
    """Invariant A: they are neither acknowledged nor dropped on purpose."""
    engine, _ = make()
    engine.refusals.failures = SendFailures(lambda batch: [(1, 1)], abort=True)
    batch = build([Row(0, NOW, b"k", b"v")])

    def outbound(*_: object) -> Outbound:
        engine.refusals.failures.batch(Unsent(HERE, range(1), "t", batch), FORBIDDEN)
        return Outbound([], 1, 1)

    engine._stage = SimpleNamespace(outbound=outbound)
    with pytest.raises(SendFailure):
        engine._send(HERE, Arrived(batch, Codec.NONE), 0)
    assert engine.book.safe.safe() == {}


def routed(*routes: Route) -> SimpleNamespace:
    """A stage that answers this."""
    return SimpleNamespace(outbound=lambda *_: Outbound([("t", route) for route in routes], 3, 13))


def test_a_record_too_large_for_any_request_is_not_passed() -> None:
    engine, _ = make()
    engine.refusals.failures = SendFailures(engine.ends.router.sizes, abort=True)
    batch = build([Row(0, NOW, b"k", b"v")])
    engine._stage = routed(Route([], [Placed(0, batch, range(10, 11))], 1, 11))
    with pytest.raises(SendFailure):
        engine._send(HERE, Arrived(batch, Codec.NONE), 0)
    assert engine.book.safe.safe() == {}
    assert not engine.book.pieces.are_open(HERE)


def test_half_a_piece_is_not_safe_behind_a_record_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another record fails while there is room for one batch of two only."""
    engine, _ = make()
    write_to(engine, FakeAppender())
    engine.book.pieces.acknowledged(engine.book.pieces.open(HERE, 10, 1))
    batch = build([Row(0, NOW, b"k", b"v")])
    engine._stage = routed(Route([Placed(0, batch, range(12, 13)), Placed(1, batch, range(10, 12))], [], 3, 13))
    room = iter([True])

    def wait_for_room() -> bool:
        for answer in room:
            return answer
        raise SendFailure("it fails")

    monkeypatch.setattr(engine, "_wait_for_room", wait_for_room)
    with pytest.raises(SendFailure):
        engine._send(HERE, Arrived(batch, Codec.NONE), 0)
    engine.book.pieces.abandon(HERE, 12)
    engine.delivery.finish()
    assert engine.book.safe.safe() == {HERE: 10}


class Emptied(FakeAppender):
    """One that has nothing under way."""

    @override
    def is_empty(self) -> bool:
        return True


def test_without_work_it_waits_for_its_next_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records bring back the reports of each second, and wake it once a reader has copied them."""
    engine, frames = make()
    engine.book.times.interval = 1.0
    engine.ends.batches.fetcher = fetcher = FakeFetcher()
    engine.ends.appender = FakeAppender()
    monkeypatch.setattr(keep_alive, "monotonic", lambda: 100.0)
    engine._send_progress(blocked=False)
    assert (engine.book.times.pause(), engine.book.times.next_at) == (0.1, 101.0)
    engine.ends.appender = Emptied()
    engine._send_progress(blocked=False)
    assert engine.book.times.pause() == engine.book.times.next_at - 100.0 == 2.5
    engine._turn([CompletedFetch(HERE, 1, record_set(), (), 0)])
    assert (fetcher.woken, engine.book.times.pause()) == (1, 1.0)
    engine.stop(1.0)
    engine.resume({HERE: 1})
    assert (fetcher.woken, engine.book.times.pause()) == (3, 0.1)
    assert len(frames) == 2


def test_while_a_handler_is_made_the_driver_hears_that_the_task_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that takes long to load is no task that hangs."""
    monkeypatch.setattr(keep_alive, "BEAT_INTERVAL", 0.001)
    frames: SimpleQueue[object] = SimpleQueue()

    def load(*_: object, **__: object) -> SimpleNamespace:
        assert isinstance(frames.get(timeout=PATIENCE), Progress)
        return SimpleNamespace()

    monkeypatch.setattr(handler_stage, "load_handler", load)
    config = replace(make()[0]._config, handler=HandlerSettings("slow.py"))
    assert isinstance(CopyEngine(config, frames.put, open_ends(config, Buffers()))._stage, HandlerStage)
