"""When the piece of a record that the target refuses is safe, with a quarantine that is a list or a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from legacy_mm.audit.record_comparison import partition_of
from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import QuarantineSettings
from legacy_mm.dataplane.acks import Part, Pieces, SafeOffsets
from legacy_mm.dataplane.refused_batches import Aside, RefusedBatches
from legacy_mm.dataplane.routes import RouteOptions, Router
from legacy_mm.dataplane.send_failure import Unsendable
from legacy_mm.handlers.quarantine import read_file
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch
from tests.unit.protocol.batches import NOW, Latin, Row, build, decode

HERE = TopicPartition("t", 3)


@pytest.fixture
def settings(tmp_path: Path) -> QuarantineSettings:
    return QuarantineSettings(refused=True, topic="q", file=str(tmp_path / "aside"))


class Batches:
    """Refused batches of one partition, of which 5 to 8 is a piece."""

    def __init__(self, settings: QuarantineSettings, limit: int = 1 << 20) -> None:
        self.safe = SafeOffsets()
        self.pieces = Pieces(self.safe)
        self.stopping = Event()
        router = Router(RouteOptions(None, None, limit))
        self.refused = RefusedBatches(settings, router, self.pieces, limit, self.stopping)
        self.piece = self.pieces.open(HERE, 8, 1)
        self.partitions: list[int | Exception] = [0, 4]
        """What the target answers, one question after the other."""
        self.room = True
        self.sent: list[tuple[TopicPartition, RecordBatch, Aside]] = []

    def add(self, key: bytes | None = b"k", header: str = "h") -> None:
        """The record at 7 is refused."""
        lone = build([Row(0, NOW, key, b"v", [(header, b"x")])])
        self.refused.add(Part(self.piece, range(7, 8), None), lone, "too large", "give it room")

    def put(self) -> None:
        self.refused.put(self._partitions, lambda: None, self._append)

    def _partitions(self, topic: str, least: int) -> int:
        answer = self.partitions.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

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
    batches.room, batches.partitions = True, [4]
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
    batches.partitions = [2]
    batches.put()
    assert batches.sent[0][0] == ("q", 1)


@pytest.mark.parametrize("why", ["no topic", "too large", "a stop"])
def test_a_batch_that_no_topic_takes_is_in_the_file(settings: QuarantineSettings, why: str) -> None:
    batches = Batches(settings, 100 if why == "too large" else 1 << 20)
    batches.add()
    batches.partitions = [Unsendable(ErrorCode.TOPIC_AUTHORIZATION_FAILED)] if why == "no topic" else [4]
    if why == "a stop":
        batches.stopping.set()
    batches.put()
    (record,) = read_file(Path(settings.file)).records
    assert (record.offset, record.headers) == (7, (("h", b"x"),))
    assert (batches.sent, batches.safe.take_moved()) == ([], {HERE: 8})


def test_without_a_topic_it_is_safe_at_once(settings: QuarantineSettings) -> None:
    batches = Batches(replace(settings, topic=None))
    batches.add()
    assert batches.refused.is_empty()
    assert batches.safe.take_moved() == {HERE: 8}
    assert len(read_file(Path(settings.file)).records) == 1


def test_a_record_that_cannot_be_set_aside_as_it_is_is_the_end(
    settings: QuarantineSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its header has a name that is no text; nothing is changed silently."""
    batches = Batches(settings)
    with pytest.raises(StreamFailure, match=r"t-3 at offset 7 \(too large\), and it cannot be .* not UTF-8") as failed:
        batches.add(header=Latin("größe"))
    assert failed.value.exit_code == 255
    assert batches.safe.take_moved() == {}
