"""When a record that the target refuses counts as set aside, with a target that is a list."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, Message

from legacy_mm.config.settings import QuarantineSettings
from legacy_mm.dataplane.acks import Part, Pieces, SafeOffsets
from legacy_mm.dataplane.refused_batches import Aside, RefusedBatches
from legacy_mm.dataplane.refused_records import RefusedRecords
from legacy_mm.dataplane.routes import RouteOptions, Router
from legacy_mm.errors import HostError
from legacy_mm.handlers.quarantine import read_file
from legacy_mm.kafka.errors import refuses_the_record
from legacy_mm.kafka.sender import FailedSend
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.testbed.comparison import partition_of
from legacy_mm.wire import failures
from tests.unit.protocol.batches import NOW, Row, build, decode

HERE = TopicPartition("t", 3)
MESSAGE = Message(topic="t", partition=3, offset=7, key=b"k", value=b"v", timestamp=(1, NOW))
TOO_LARGE = FailedSend("t", 1, 1, "too large", "MSG_SIZE_TOO_LARGE", False, False, of_the_record=True)
NO_RIGHT = replace(TOO_LARGE, reason="no right", of_the_record=False)


class Target:
    """Takes what there is room for."""

    def __init__(self, room: int = 10) -> None:
        self.room = room
        self.sent: list[Any] = []
        self.origins: list[Any] = []

    def __call__(self, records: Sequence[Any], begin: int, origins: Sequence[Any]) -> int:
        taken = len(records[begin : begin + self.room])
        self.sent += records[begin : begin + taken]
        self.origins += origins[begin : begin + taken]
        return begin + taken


@pytest.fixture
def settings(tmp_path: Path) -> QuarantineSettings:
    return QuarantineSettings(refused=True, topic="q", file=str(tmp_path / "aside"))


def test_both_clients_tell_the_same_refusals() -> None:
    codes = [code for code in range(1, 130) if refuses_the_record(KafkaError(code))]
    assert codes == [code for code in range(1, 130) if failures.refuses_the_record(code)] == [10, 18, 32, 87]
    assert not any(failures.is_retriable(code) or not failures.may_spare_some(code) for code in codes)


@pytest.mark.parametrize(
    "failed", [NO_RIGHT, replace(TOO_LARGE, fatal=True), replace(TOO_LARGE, refuses_idempotence=True)]
)
def test_what_is_not_the_records_fault_counts_as_ever(settings: QuarantineSettings, failed: FailedSend) -> None:
    refused, target = RefusedRecords(settings), Target()
    assert not refused.admit(MESSAGE, failed)
    assert refused.settle(target)
    assert (target.sent, refused.count) == ([], 0)


def test_it_is_settled_only_when_nothing_is_left_to_send(
    settings: QuarantineSettings, caplog: pytest.LogCaptureFixture
) -> None:
    """Invariant A: the barrier goes on flushing until then."""
    refused, target = RefusedRecords(settings), Target(room=0)
    assert refused.admit(MESSAGE, TOO_LARGE)
    assert [refused.settle(target), refused.settle(target)] == [False, False]
    target.room = 1
    assert [refused.settle(target), refused.settle(target)] == [False, True]
    ((topic, key, value, headers, partition, timestamp),) = target.sent
    assert (topic, key, value, partition, timestamp) == ("q", b"k", b"v", None, NOW)
    assert dict(headers)["legacy_mm.quarantine.error"] == b"too large"
    assert refused.count == 1
    (line,) = caplog.records
    assert line.levelno == logging.WARNING
    assert line.getMessage() == "The target refuses t-3 at offset 7, which goes into the quarantine: too large"


@pytest.mark.parametrize("why", [TOO_LARGE, NO_RIGHT])
def test_what_the_topic_does_not_take_is_in_the_file(settings: QuarantineSettings, why: FailedSend) -> None:
    """Whatever its reason is; the file says why the record was refused at first."""
    refused, target = RefusedRecords(settings), Target()
    refused.admit(MESSAGE, TOO_LARGE)
    refused.settle(target)
    (origin,) = target.origins
    assert refused.admit(origin, why)
    assert not refused.settle(target)
    assert refused.settle(target)
    assert (len(target.sent), refused.count) == (1, 1)
    (record,) = read_file(Path(settings.file))
    assert (record.topic, record.partition, record.offset, record.value) == ("t", 3, 7, b"v")


def test_a_file_that_cannot_be_written_is_the_end(settings: QuarantineSettings) -> None:
    refused = RefusedRecords(replace(settings, topic=None, file="/dev/full"))
    refused.admit(MESSAGE, TOO_LARGE)
    with pytest.raises(HostError, match="/dev/full cannot be written: No space left"):
        refused.settle(Target())


class Batches:
    """Refused batches of one partition, of which 5 to 8 is a piece."""

    def __init__(self, settings: QuarantineSettings, limit: int = 1 << 20) -> None:
        self.safe = SafeOffsets()
        self.pieces = Pieces(self.safe)
        self.refused = RefusedBatches(settings, Router(RouteOptions(None, None, limit, True)), self.pieces, limit)
        self.piece = self.pieces.open(HERE, 8, 1)
        self.partitions: int | str = 4
        self.room = True
        self.sent: list[tuple[TopicPartition, RecordBatch, Aside]] = []

    def add(self, key: bytes | None = b"k") -> None:
        """The record at 7 is refused."""
        self.refused.add(
            Part(self.piece, range(7, 8), None), build([Row(0, NOW, key, b"v", [("h", b"x")])]), "too large"
        )

    def put(self) -> None:
        self.refused.put(lambda topic: self.partitions, self._append)

    def _append(self, partition: TopicPartition, batch: RecordBatch, aside: Aside) -> bool:
        if self.room:
            self.sent.append((partition, batch, aside))
        return self.room


def test_a_piece_is_safe_when_the_topic_has_the_record(settings: QuarantineSettings) -> None:
    """Invariant A."""
    batches = Batches(settings)
    batches.add()
    assert not batches.refused.is_empty()
    batches.room = False
    batches.put()
    assert not batches.refused.is_empty()
    batches.room = True
    batches.put()
    assert batches.refused.is_empty()
    ((place, batch, aside),) = batches.sent
    assert place == ("q", partition_of(b"k", 4))
    (row,) = decode(batch)
    assert row[1:4] == (NOW, b"k", b"v")
    assert dict(row.headers)["legacy_mm.quarantine.offset"] == b"7"
    assert batches.safe.take_moved() == {}
    batches.pieces.acknowledged(aside.piece)
    assert batches.safe.take_moved() == {HERE: 8}


def test_a_record_without_a_key_has_its_place_in_the_topic(settings: QuarantineSettings) -> None:
    batches = Batches(settings)
    batches.add(key=None)
    batches.partitions = 2
    batches.put()
    assert batches.sent[0][0] == ("q", 1)


@pytest.mark.parametrize(("partitions", "limit"), [("no right", 1 << 20), (4, 100)], ids=["no topic", "too large"])
def test_a_batch_that_no_topic_takes_is_in_the_file(
    settings: QuarantineSettings, partitions: int | str, limit: int
) -> None:
    batches = Batches(settings, limit)
    batches.add()
    batches.partitions = partitions
    batches.put()
    (record,) = read_file(Path(settings.file))
    assert (record.offset, record.headers) == (7, (("h", b"x"),))
    assert (batches.sent, batches.safe.take_moved()) == ([], {HERE: 8})


def test_without_a_topic_it_is_safe_at_once(settings: QuarantineSettings) -> None:
    batches = Batches(replace(settings, topic=None))
    batches.add()
    assert batches.refused.is_empty()
    assert batches.safe.take_moved() == {HERE: 8}
    assert len(list(read_file(Path(settings.file)))) == 1
