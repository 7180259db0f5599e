"""The way of a batch where no handler stands between."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.dataplane.plain_stage import Outbound, PlainStage
from legacy_mm.dataplane.send_failure import Unsendable
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.runtime.channel.frames import TaskConfig
from tests.fakes.stage_engine import FakeStageEngine
from tests.fixtures import client_settings
from tests.unit.protocol.batches import NOW, Row, build

ROWS = [Row(number, NOW, b"k%d" % number, b"v") for number in range(3)]
FORBIDDEN = 29


def outbound(target: FakeStageEngine, topic: str = "t", **config: Any) -> tuple[PlainStage, Outbound | None]:
    clients = client_settings.read_consumer({}), client_settings.read_producer({})
    made = TaskConfig({}, {"t": "copy"}, *clients, 0.0, 1.0, abort_on_send_failure=False, synchronous=False, **config)
    stage = PlainStage(target.services(made))
    batch = Arrived(build(ROWS, base_offset=10), Codec.NONE)
    return stage, stage.outbound(TopicPartition(topic, 1), batch, 11)


def test_a_batch_goes_to_the_copy_of_its_topic() -> None:
    _, found = outbound(target := FakeStageEngine(copy=4))
    assert found is not None
    ((topic, route),) = found.routes
    assert (topic, found.records, found.next_offset) == ("copy", route.records, 13)
    assert {offset for placed in route.batches for offset in placed.offsets} == {11, 12}
    assert target.least == [1]


def test_a_topic_without_a_copy_is_dropped_and_counted() -> None:
    stage, found = outbound(FakeStageEngine(), topic="other")
    assert found == Outbound([], 3, 13)
    assert stage.counts() == (3, 0)


@pytest.mark.parametrize(("keeps", "least"), [([], 1), (["t"], 4)])
def test_a_topic_that_is_missing_or_too_small_is_waited_for(keeps: list[str], least: int) -> None:
    _, found = outbound(target := FakeStageEngine(copy=3 if keeps else 0), keeps_partition=keeps)
    assert found is None
    assert target.held == [(TopicPartition("t", 1), 11, "copy", least)]


def test_a_topic_that_cannot_be_had_costs_its_records() -> None:
    _, found = outbound(target := FakeStageEngine(copy=Unsendable(FORBIDDEN)))
    assert found == Outbound([], 3, 13)
    assert target.failed == [("copy", 3, FORBIDDEN)]
