"""Producers that wait for nothing, for each record, or have no regard for keys: the legacy tool and ours."""

from __future__ import annotations

import signal
from collections import Counter

import pytest

from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.waiting import wait_until
from tests.side_by_side.conftest import Side

pytestmark = pytest.mark.side_by_side
OURS = "our_mirror"
COPIED = 120.0
RECORDS, PARTITIONS = 6_000, 4


def copy(side: Side, topic: str, group: str, producer: dict[str, str], *options: str) -> None:
    """Copy `RECORDS` records and stop; all must be committed."""
    for cluster in (side.source, side.target):
        create_topic(cluster.bootstrap, topic, PARTITIONS)
    load(side.source.bootstrap, topic, RECORDS, 100)
    tool = side.mirror(group, "--whitelist", topic, *options, producer=producer)
    ends = lambda: sum(end_offsets(side.target.bootstrap, topic).values())  # noqa: E731
    wait_until(lambda: ends() >= RECORDS, COPIED, f"{RECORDS} records")
    tool.signal(signal.SIGTERM)
    assert tool.wait(60) == 143, tool.output()
    assert sum(committed(side.source.bootstrap, group, [topic]).values()) == RECORDS


@pytest.mark.parametrize("producer", [{"acks": "0"}, {"producer.type": "sync"}], ids=["acks=0", "sync"])
def test_records_and_their_places_are_the_same(side: Side, topic: str, group: str, producer: dict[str, str]) -> None:
    copy(side, topic, group, producer)
    sent, copied = (read_all(cluster.bootstrap, topic) for cluster in (side.source, side.target))
    assert same_records(sent, copied, target_partitions=PARTITIONS) == []


@pytest.mark.parametrize("partitioner", ["RoundRobinPartitioner", "UniformStickyPartitioner"])
def test_a_partitioner_that_does_not_look_at_keys(side: Side, topic: str, group: str, partitioner: str) -> None:
    """Difference: partitioner-without-keys. Both spread all records; which one goes where is left to chance.

    The legacy tool's RoundRobinPartitioner may leave every second partition out (KAFKA-9965).
    """
    copy(side, topic, group, {"partitioner.class": f"org.apache.kafka.clients.producer.{partitioner}"})
    sent, copied = (read_all(cluster.bootstrap, topic) for cluster in (side.source, side.target))
    assert Counter((row.key, row.value) for row in sent) == Counter((row.key, row.value) for row in copied)
    found = {row.partition for row in copied}
    assert len(found) > 1 if side.name == "old" else found == set(range(PARTITIONS))
    by_key = {row.key: row.partition for row in sent}
    moved = sum(row.partition != by_key[row.key] for row in copied)
    assert moved > RECORDS / 4, "keys do not decide"


def test_a_synchronous_producer_ends_at_the_first_refusal(side: Side, topic: str, group: str) -> None:
    """Whatever `abort.on.send.failure` says; what follows is not committed."""
    for cluster, most in ((side.source, "2000000"), (side.target, "1000")):
        create_topic(cluster.bootstrap, topic, 1, config={"max.message.bytes": most})
    load(side.source.bootstrap, topic, 10, 100, partitions=1)
    load(side.source.bootstrap, topic, 1, 50_000, partitions=1)
    load(side.source.bootstrap, topic, 10, 100, partitions=1)
    options = ("--whitelist", topic, "--abort.on.send.failure", "false")
    tool = side.mirror(group, *options, producer={"producer.type": "sync"})
    assert tool.wait(COPIED) == 255, tool.output()
    assert end_offsets(side.target.bootstrap, topic)[0] == 10
    assert committed(side.source.bootstrap, group, [topic]).get((topic, 0), 0) <= 10
