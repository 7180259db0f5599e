"""Which source offsets are safe when a handler stands between, with clients that are lists."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.clients.librdkafka.sender import FailedSend
from legacy_mm.config import property_names
from legacy_mm.config.kafka_clients import ProducerSettings
from legacy_mm.config.settings import HandlerSettings, QuarantineSettings
from legacy_mm.control_channel.frames import CopiedRun, Frame, Gap, Pairs, Progress, TaskConfig
from legacy_mm.dataplane import native_reader, partition_counts, records_engine
from legacy_mm.dataplane.handler_engine import HandlerEngine
from legacy_mm.errors import HandlerFailure, StreamFailure
from legacy_mm.handlers.quarantine import read_file
from legacy_mm.model import NO_RECORDS, Columns, Offsets, Outgoing, TopicPartition
from tests.fakes.reader import FakeReader
from tests.fakes.sender import FakeSender
from tests.unit.source_records import row

HERE = TopicPartition("t", 0)
SCRIPT = """
import sys
from legacy_mm.handlers.api import MessageHandler

class Repeat(MessageHandler):
    '''As many records as the value says.'''

    def __init__(self):
        sys.modules["made"].append(self)

    def handle(self, record):
        return [record.to(f"copy-{number}") for number in range(int(record.value))]
"""
PLACE = """
from legacy_mm.handlers.api import MessageHandler

class Place(MessageHandler):
    '''Two records: one in the partition that the value says, one in no particular one.'''

    def handle(self, record):
        return [record.to("copy")._replace(partition=int(record.value)), record.to("other")]
"""
CYCLES = """
import sys
import weakref
from legacy_mm.handlers.api import MessageHandler

class Node:
    pass

class Leave(MessageHandler):
    '''As many nodes that know themselves as the value says; drops the record when those of the first are gone.'''

    def handle(self, record):
        for _ in range(int(record.value)):
            node = Node()
            node.itself = node
        made = sys.modules["made"]
        made.append(weakref.ref(node))
        return [record.to("copy")] if made[0]() else []
"""
TOO_LARGE = FailedSend("t", 1, 1, "too large", "MSG_SIZE_TOO_LARGE", False, False, of_the_record=True)


class Reader(FakeReader):
    """Gives one batch, and calls back when it is asked for more."""

    batch = NO_RECORDS
    gaps: Sequence[Gap] = ()
    resumed: tuple[int, Offsets]
    exhausted: Callable[[], None]

    @override
    def read(self, timeout: float) -> Columns:
        batch, Reader.batch = Reader.batch, NO_RECORDS
        if not batch:
            Reader.exhausted()
        return batch

    @override
    def take_gaps(self) -> list[Gap]:
        gaps, Reader.gaps = Reader.gaps, ()
        return list(gaps)

    @override
    def resume(self, offsets: Offsets, positions: Offsets) -> None:
        Reader.resumed = (len(Sender.sent), dict(positions))


class Sender(FakeSender):
    """Takes `room` records a call, `limit` in all; all of them are acknowledged by a flush.

    Those for the topic that it `refuses` are told as too large.
    """

    room, limit = 2, 1_000
    refuses = ""
    counts: dict[str, int]
    full: Callable[[], None]
    sent: list[Outgoing]
    refused: Callable[[Any, FailedSend], bool]
    delivered: Callable[[Any, str, int], None]

    def __init__(
        self, settings: ProducerSettings, names: Mapping[str, str], on_failure: Callable[[FailedSend], None], *more: Any
    ) -> None:
        super().__init__(settings, names, on_failure)
        Sender.sent = []
        *_, Sender.delivered, Sender.refused = more

    @override
    def send_outgoing(
        self, records: Sequence[Outgoing], begin: int = 0, origins: Any = None, *, are_rows: bool = False
    ) -> int:
        room = min(Sender.room, Sender.limit - len(Sender.sent))
        if not room and begin < len(records):
            Sender.full()
        for number, record in enumerate(records[begin : begin + room], begin):
            if record[0] == Sender.refuses:
                assert Sender.refused(origins[number], TOO_LARGE)
            else:
                Sender.sent.append(record)
                if are_rows:
                    Sender.delivered(origins[number], record[0], 100 + len(Sender.sent))
        return min(len(records), begin + room)

    @override
    def partitions(self, topic: str) -> int | None:
        return Sender.counts[topic]


class Run:
    """An engine over records whose values are these, and what it reported."""

    def __init__(
        self, folder: Path, text: str = SCRIPT, *, preserve: bool = False, pairs: bool = False, **quarantine: Any
    ) -> None:
        script = folder / "handler.py"
        script.write_text(text)
        config = TaskConfig(
            {HERE: 10},
            {"t": "copy"},
            property_names.read_consumer({}),
            property_names.read_producer({}),
            60.0,
            1.0,
            abort_on_send_failure=True,
            synchronous=False,
            handler=HandlerSettings(str(script)),
            quarantine=QuarantineSettings(**quarantine),
            keeps_partition=["t"] if preserve or pairs else [],
            pairs=pairs,
        )
        self.frames: list[Frame] = []
        self.left: Any = None
        self.engine = HandlerEngine(config, self.frames.append)

    def over(self, *values: bytes) -> Run:
        """Copy these records, from offset 10 on, until there is no more or the queue stays full."""
        Reader.batch = Columns.from_rows([row(value, offset) for offset, value in enumerate(values, 10)])
        Reader.exhausted = Sender.full = staticmethod(lambda: self.engine.stop(1.0))
        self.left = self.engine.run()
        return self

    @property
    def safe(self) -> int | None:
        """The offset that was last reported as safe."""
        moved = [frame.offsets[HERE] for frame in self.frames if isinstance(frame, Progress) and frame.offsets]
        return moved[-1] if moved else None

    @property
    def last(self) -> Progress:
        """What was last reported."""
        return [frame for frame in self.frames if isinstance(frame, Progress)][-1]


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Handlers that were made; clients are lists."""
    found: list[Any] = []
    monkeypatch.setattr(native_reader, "NativeReader", Reader)
    monkeypatch.setattr(records_engine, "RecordSender", Sender)
    monkeypatch.setattr(Sender, "limit", 1_000)
    monkeypatch.setattr(Sender, "counts", defaultdict(lambda: 1), raising=False)
    monkeypatch.setitem(sys.modules, "made", found)
    return found


def test_dropped_and_fanned_out_records_are_safe(tmp_path: Path) -> None:
    """Invariant A; invariant F: what is dropped on purpose is counted."""
    run = Run(tmp_path).over(b"1", b"0", b"3", b"0")
    assert [target[0] for target in Sender.sent] == ["copy-0", "copy-0", "copy-1", "copy-2"]
    assert run.safe == 14
    assert (run.last.records, run.last.filtered, run.last.quarantined) == (4, 2, 0)


@pytest.mark.parametrize(("limit", "safe"), [(1, 12), (2, 12), (3, 12), (4, 14), (5, 15)])
def test_a_record_is_safe_with_the_last_of_its_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, safe: int
) -> None:
    """Invariant A: a stop in the middle of a fan-out leaves its source offset unsafe."""
    monkeypatch.setattr(Sender, "limit", limit)
    assert Run(tmp_path).over(b"1", b"0", b"3", b"0", b"1").safe == safe


@pytest.mark.parametrize("records", [1, 5], ids=["all sent at once", "more than the queue takes"])
def test_what_is_safe_before_a_gap_is_reported_before_it(tmp_path: Path, records: int) -> None:
    """Invariant B: reported behind it, it would be taken for what is safe after the partition goes on elsewhere."""
    end = 10 + records
    Reader.gaps = [Gap(*HERE, end, 0, 5, "it was cut", -1)]
    frames = Run(tmp_path).over(*records * [b"1"]).frames
    (gap,) = (number for number, frame in enumerate(frames) if isinstance(frame, Gap))
    before, after = (
        [frame.offsets for frame in some if isinstance(frame, Progress) and frame.offsets]
        for some in (frames[:gap], frames[gap:])
    )
    assert (before, after) == ([{HERE: end}], [])


def test_a_partition_goes_on_elsewhere_only_with_nothing_of_it_in_hand(tmp_path: Path) -> None:
    """Records of before a cut that are sent behind it would count as copied in the log that came after it."""
    run = Run(tmp_path)
    run.engine.resume({HERE: 3})
    run.over(*5 * [b"1"])
    assert Reader.resumed == (5, {HERE: 15})


def test_a_partition_that_the_handler_names_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    def partitions(sender: Sender, topic: str) -> int:
        sent.append(len(Sender.sent))
        return 4 if len(sent) < 3 else 6

    monkeypatch.setattr(Sender, "partitions", partitions)
    run = Run(tmp_path, PLACE).over(b"5", b"3")
    assert sent == [0, 0, 0]
    assert sent_to() == [("copy", 5), ("other", None), ("copy", 3), ("other", None)]
    assert run.safe == 12


def test_cycles_that_a_handler_makes_are_collected(tmp_path: Path) -> None:
    """Copying without a handler makes none, so the collector is off there."""
    assert Run(tmp_path, CYCLES).over(b"150000", b"150000", b"1").last.filtered >= 1


def test_what_came_before_a_failure_is_sent_and_not_reported_safe(tmp_path: Path) -> None:
    """Difference: handler-exceptions-alike. It is flushed, and no offset since the last commit is committed."""
    run = Run(tmp_path)
    with pytest.raises(HandlerFailure, match=r"failed on t-0 at offset 12: ValueError: invalid literal"):
        run.over(b"1", b"2", b"x", b"1")
    assert len(Sender.sent) == 3
    assert run.safe is None


def test_a_quarantined_record_is_safe_when_it_is_in_the_topic(tmp_path: Path) -> None:
    run = Run(tmp_path, failed=True, topic="q").over(b"1", b"x", b"2")
    assert [target[0] for target in Sender.sent] == ["copy-0", "q", "copy-0", "copy-1"]
    assert dict(Sender.sent[1][3])["legacy_mm.quarantine.offset"] == b"11"
    assert (run.safe, run.last.quarantined, run.last.filtered) == (13, 1, 0)


def test_a_quarantined_record_is_on_the_disk_before_the_next(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    run = Run(tmp_path, failed=True, file=str(file)).over(b"x", b"1")
    assert file.stat().st_mode & 0o777 == 0o600
    (record,) = read_file(file).records
    assert (record.topic, record.partition, record.offset, record.value, record.timestamp) == ("t", 0, 10, b"x", 99)
    assert (run.safe, len(Sender.sent)) == (12, 1)


def test_a_refused_target_sets_its_source_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was at the source, for the handler to make anew; what else was made of it is at the target."""
    monkeypatch.setattr(Sender, "refuses", "copy-1")
    run = Run(tmp_path, refused=True, topic="q").over(b"1", b"0", b"3", b"1")
    assert [target[0] for target in Sender.sent] == ["copy-0", "copy-0", "copy-2", "copy-0", "q"]
    (aside,) = (target for target in Sender.sent if target[0] == "q")
    assert (aside[2], dict(aside[3])["legacy_mm.quarantine.offset"]) == (b"3", b"12")
    assert (run.safe, run.last.quarantined, run.last.dropped) == (14, 1, {})


def test_what_failed_and_what_was_refused_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sender, "refuses", "copy-0")
    file = tmp_path / "q.jsonl"
    run = Run(tmp_path, failed=True, refused=True, file=str(file)).over(b"1", b"x", b"0")
    assert sorted(record.offset for record in read_file(file).records) == [10, 11]
    assert (run.safe, run.last.quarantined, Sender.sent) == (13, 2, [])


def test_a_stop_before_the_quarantine_has_it_leaves_the_source_offset_unsafe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Invariant A."""
    monkeypatch.setattr(Sender, "refuses", "copy-0")
    monkeypatch.setattr(Sender, "flush", lambda self, seconds: not any(record[0] == "q" for record in Sender.sent))
    run = Run(tmp_path, refused=True, topic="q")
    monkeypatch.setattr(run.engine, "_report_when_due", lambda blocked: run.engine.stop(0.0))
    assert run.over(b"1").safe is None
    assert run.left == {HERE: 11}


def sent_to() -> list[tuple[str, int | None]]:
    """Topic and partition of what was sent."""
    return [(target[0], target[4]) for target in Sender.sent]


def test_partitions_are_preserved_where_the_handler_says_nothing_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is the quarantine topic meant, which need not have as many."""
    monkeypatch.setattr(Sender, "counts", {"copy": 8, "other": 8}, raising=False)
    run = Run(tmp_path, PLACE, preserve=True, failed=True, topic="q").over(b"5", b"x", b"7")
    assert sent_to() == [("copy", 5), ("other", 0), ("q", None), ("copy", 7), ("other", 0)]
    assert run.safe == 13
    Run(tmp_path, PLACE).over(b"5")
    assert sent_to() == [("copy", 5), ("other", None)]


def test_nothing_is_sent_to_a_topic_that_cannot_hold_the_partitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sender, "counts", {"other": 7}, raising=False)
    monkeypatch.setattr(partition_counts, "GROWTH_TIMEOUT", 0.0)
    with pytest.raises(StreamFailure, match="other has 7 partitions at the target and 8 at the source"):
        Run(tmp_path, PLACE, preserve=True).over(b"5")
    assert sent_to() == []


def test_each_engine_makes_its_own_handler(tmp_path: Path, made: list[Any]) -> None:
    """Difference: handler-for-each-job."""
    Run(tmp_path), Run(tmp_path)
    assert len(made) == 2


ROUTE = """
def handle(record):
    return {b"stay": [record.to("copy")], b"move": [record.to("other")], b"drop": []}[record.value]
"""


def test_a_pair_is_noted_where_a_record_is_its_topic_s_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An offset in another topic says nothing of the copy; a dropped record has none."""
    monkeypatch.setattr(Sender, "counts", defaultdict(lambda: 8))
    run = Run(tmp_path, ROUTE, pairs=True).over(b"stay", b"move", b"drop", b"stay", b"stay")
    assert run.safe == 15
    runs = [found for frame in run.frames if isinstance(frame, Pairs) for found in frame.runs]
    assert runs == [CopiedRun("t", 0, 10, 101, 1), CopiedRun("t", 0, 13, 103, 2)]
