"""What is measured of copied batches, and that nothing is made of what nobody asked for."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import CopiedRun, Portion
from legacy_mm.dataplane.acks import Part, Pieces, SafeOffsets
from legacy_mm.dataplane.copy_measures import BatchMeasures, CopyMeasures
from legacy_mm.dataplane.plain_stage import Outbound
from legacy_mm.dataplane.routes import RouteOptions, Router
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.runtime.channel.frames import Copied, Pairs, TaskConfig
from tests.fixtures import client_settings
from tests.unit.protocol.batches import NOW, Row, build, changed

HERE = TopicPartition("t", 0)
ROWS = [Row(0, NOW, b"key", b"value"), Row(1, NOW, None, b"v"), Row(3, NOW, b"k", None)]


def make(**more: Any) -> CopyMeasures:
    brokers = {"bootstrap.servers": "one:1"}
    config = TaskConfig(
        {HERE: 0},
        {"t": "t"},
        client_settings.read_consumer(brokers),
        client_settings.read_producer(brokers),
        0.0,
        1.0,
        abort_on_send_failure=False,
        synchronous=False,
        keeps_partition=["t"],
        **more,
    )
    return CopyMeasures(config, Router(RouteOptions(codec=None, level=None, limit=1 << 20)))


def measured(measures: CopyMeasures, batch: RecordBatch, begin: int = 0) -> BatchMeasures:
    """Of a batch that nobody has opened."""
    found = Outbound([], 3, batch.header.next_offset)
    return measures.outbound(HERE, Arrived(batch, batch.header.codec), begin, found)


def test_what_nobody_asks_for_is_not_measured() -> None:
    measures = make()
    assert measured(measures, changed(build(ROWS), records=9)) == (None, None), "and the batch is not opened"
    assert measures.tally is None
    assert list(measures.frames({})) == []
    assert measures.statistics_when_due({}) is None


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_a_receipt_has_the_bytes_of_keys_and_values_whether_the_batch_was_opened_or_not(codec: Codec) -> None:
    measures = make(receipts=True)
    _, counted = measured(measures, build(ROWS, base_offset=50, codec=codec))
    assert counted == Portion("t", 0, 50, 54, 3, 3 + 5 + 1 + 1)


def test_records_before_the_start_are_not_in_the_receipt() -> None:
    _, counted = measured(make(receipts=True), build(ROWS, base_offset=50), begin=51)
    assert counted is not None
    assert (counted.begin, counted.bytes) == (51, 2)


def test_a_batch_that_cannot_be_opened_has_no_receipt() -> None:
    with pytest.raises(CorruptRecords):
        measured(make(receipts=True), changed(build(ROWS), records=9))


def test_receipts_come_when_everything_before_is_safe_and_before_it_is_told() -> None:
    measures = make(receipts=True)
    pieces = Pieces(SafeOffsets(), measures.tally)
    first, second = (pieces.open(HERE, end, 1, Portion("t", 0, end - 5, end, 5, 100)) for end in (5, 10))
    pieces.acknowledged(second)
    assert list(measures.frames({})) == [], "the first is not there yet"
    pieces.acknowledged(first)
    assert list(measures.frames({"too large": 2})) == [Copied([Portion("t", 0, 0, 10, 10, 200)], {"too large": 2})]
    assert list(measures.frames({})) == []


def test_records_that_could_not_be_sent_are_told_without_others() -> None:
    assert list(make(receipts=True).frames({"too large": 1})) == [Copied([], {"too large": 1})]
    assert list(make().frames({"too large": 1})) == []


def test_pairs_are_of_records_in_the_copy_of_their_partition() -> None:
    measures = make(pairs=True)
    piece = Pieces(SafeOffsets()).open(HERE, 3, 3)
    measures.acknowledged(Part(piece, range(3), None), 100)
    measures.acknowledged(Part(piece, range(3), None, in_copy=False), 200)
    measures.acknowledged(Part(piece, range(3), None, moved=True), 300)
    assert list(measures.frames({})) == [Pairs([CopiedRun("t", 0, 0, 100, 3)])]
