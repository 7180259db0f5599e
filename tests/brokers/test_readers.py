"""The two readers of the `records` engine, between real brokers: what one hands over, the other does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import end_offsets
from legacy_mm.audit.load import load_compacted, load_kinds
from legacy_mm.clients.librdkafka.reader import PartitionReader
from legacy_mm.compat.client_properties.apply import apply
from legacy_mm.config import property_names
from legacy_mm.dataplane.keep_alive import KeepAlive, RetryLoop
from legacy_mm.dataplane.native_reader import NativeReader
from legacy_mm.model import TopicPartition
from tests.fixtures.copying import PATIENCE

pytestmark = pytest.mark.brokers
Row = tuple[Any, ...]


def rows_of(
    reader: PartitionReader | NativeReader, places: dict[TopicPartition, int]
) -> dict[TopicPartition, list[Row]]:
    """All that is there of these partitions, from offset 3 of each on."""
    found: dict[TopicPartition, list[Row]] = {place: [] for place in places}
    with closing(reader):
        assert reader.start(dict.fromkeys(places, 3)).offsets == dict.fromkeys(places, 3)
        idle = 0
        while idle < 20:
            read = reader.read(0.1)
            idle = 0 if read else idle + 1
            for row in read.rows():
                found[TopicPartition(row[0], row[1])].append(row)
        assert reader.take_gaps() == []
    return found


@pytest.fixture
def patience() -> Iterator[RetryLoop]:
    stopping = threading.Event()
    yield RetryLoop(stopping, KeepAlive(lambda: None), lambda: None)
    stopping.set()


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_both_readers_hand_over_the_same_records(
    source: Any, topic: Callable[[], str], patience: RetryLoop, isolation: str
) -> None:
    """Every kind of record, every codec, transactions, holes: all fields, in the same order."""
    name = topic()
    topics = [loaded.topic for loaded in load_kinds(source.bootstrap, name)]
    load_compacted(source.bootstrap, f"{name}-holes")
    ends = {
        TopicPartition(one, number): end
        for one in (*topics, f"{name}-holes")
        for number, end in end_offsets(source.bootstrap, one).items()
        if end > 3
    }
    given = {"bootstrap.servers": source.bootstrap, "group.id": "g", "isolation.level": isolation}
    properties = dict(apply("consumer", given, streams=1).properties)
    wire = rows_of(NativeReader(property_names.read_consumer(properties), PATIENCE, lambda _: None, patience), ends)
    librdkafka = rows_of(PartitionReader(property_names.read_consumer(properties), PATIENCE, lambda _: None), ends)
    assert sum(map(len, wire.values())) > 10_000
    for place, rows in librdkafka.items():
        assert wire[place] == rows, place
