"""The engine between real brokers, without Spark: what it does when the network and the brokers misbehave."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.proxy import Proxy
from legacy_mm.audit.cluster_access import create_topic, end_offsets, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import SendFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Gap, Started, Statistics
from legacy_mm.dataplane.routes import Placed
from tests.fixtures.copying import PATIENCE, Start

pytestmark = pytest.mark.brokers
LITTLE, SIZE = 2_000, 400
"""Bytes of a batch, and of a record."""


@pytest.fixture
def name(topic: Callable[[], str]) -> str:
    return topic()


class Network:
    """Three target brokers, each behind a proxy."""

    def __init__(self, folder: Path) -> None:
        self.proxies: list[Proxy] = []
        self.cluster = Cluster(folder, brokers=3, advertise=self._advertise)

    @property
    def bootstrap(self) -> str:
        return self.cluster.bootstrap_of(PROXIED)

    def _advertise(self, port: int) -> tuple[str, int]:
        self.proxies.append(Proxy(port))
        return self.proxies[-1].address


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    network = Network(tmp_path_factory.mktemp("network"))
    with network.cluster:
        yield network
    for proxy in network.proxies:
        proxy.close()


def prepare(source: str, target: str, topic: str, count: int, **settings: Any) -> None:
    for bootstrap in (source, target):
        create_topic(bootstrap, topic, partitions=6, config=settings.get("config", {}) if bootstrap == target else {})
    load(source, topic, count, settings.get("size", 100), partitions=6, batch_bytes=settings.get("batch_bytes", 0))


def differences(source: str, target: str, topic: str) -> list[str]:
    return same_records(read_all(source, topic), read_all(target, topic), target_partitions=6)


@pytest.mark.parametrize(
    "batch_bytes",
    [pytest.param(0, id="large batches", marks=pytest.mark.slow), pytest.param(LITTLE, id="joined batches")],
)
def test_connections_that_are_cut_again_and_again_lose_nothing_and_double_nothing(
    source: Any, network: Network, name: str, start_copying: Start, batch_bytes: int
) -> None:
    """Invariants A and C; the idempotent producer makes it exactly once within one copy job."""
    count = 25_000
    prepare(source.bootstrap, network.cluster.bootstrap, name, count, size=SIZE, batch_bytes=batch_bytes)
    copying = start_copying(
        source.bootstrap, network.bootstrap, name, 6, consumer={"max.partition.fetch.bytes": "20000"}
    )
    cuts, chance = 0, random.Random(7)
    while sum(copying.safe.values()) < count and not copying.over():
        network.proxies[chance.randrange(3)].cut()
        cuts += 1
        before = sum(copying.safe.values())
        wait_until(lambda: copying.over() or sum(copying.safe.values()) > before, PATIENCE, "progress")  # noqa: B023
    assert copying.stop() == {}
    assert copying.error is None
    assert cuts > 3
    assert differences(source.bootstrap, network.cluster.bootstrap, name) == []


def test_stops_in_the_midst_of_little_answers_leave_nothing_out(
    source: Any, target: Any, name: str, start_copying: Start
) -> None:
    """What a reader has begun to copy itself and what it reads next: a stop between them must not lose the rest."""
    count, stops, chance = 15_000, 25, random.Random(11)
    prepare(source.bootstrap, target.bootstrap, name, count, size=SIZE, batch_bytes=LITTLE)
    begin: Any = dict.fromkeys((TopicPartition(name, number) for number in range(6)), 0)
    little = {"max.partition.fetch.bytes": "8000", "fetch.max.bytes": "14000"}
    for stop in range(stops):
        copying = start_copying(
            source.bootstrap,
            target.bootstrap,
            name,
            6,
            begin=begin,
            consumer=little,
            producer={"max.request.size": "2500"},
        )
        wanted = min(count, sum(begin.values()) + chance.randrange(2 * count // stops)) if stop < stops - 1 else count
        wait_until(lambda: sum((begin | copying.safe).values()) >= wanted, PATIENCE, f"{wanted} safe")  # noqa: B023
        assert copying.stop() == {}
        begin |= copying.safe
    assert differences(source.bootstrap, target.bootstrap, name) == []


def test_a_leader_that_is_killed_moves_its_partitions_without_loss(
    source: Any, network: Network, name: str, start_copying: Start
) -> None:
    count = 20_000
    create_topic(source.bootstrap, name, partitions=6)
    create_topic(network.cluster.bootstrap, name, partitions=6, replication=3, config={"min.insync.replicas": "2"})
    load(source.bootstrap, name, count, SIZE, partitions=6)
    little = {"max.partition.fetch.bytes": "4000", "fetch.max.bytes": "20000"}
    copying = start_copying(source.bootstrap, network.bootstrap, name, 6, consumer=little)
    copying.wait_safe(1)
    network.cluster.brokers[1].kill()
    try:
        assert sum(copying.safe.values()) < count
        copying.wait_safe(count)
    finally:
        network.cluster.brokers[1].start()
        network.cluster.wait_ready()
    assert copying.stop() == {}
    assert differences(source.bootstrap, network.cluster.bootstrap, name) == []


def test_a_source_leader_that_is_killed_hands_over_to_the_reader_of_another_broker(
    target: Any, network: Network, name: str, start_copying: Start
) -> None:
    """Little answers, which readers copy themselves: what two of them read of one partition stays in order."""
    count = 15_000
    create_topic(network.cluster.bootstrap, name, partitions=6, replication=3)
    create_topic(target.bootstrap, name, partitions=6)
    load(network.cluster.bootstrap, name, count, SIZE, partitions=6, batch_bytes=LITTLE)
    little = {"max.partition.fetch.bytes": "2100", "fetch.max.bytes": "14000"}
    copying = start_copying(network.bootstrap, target.bootstrap, name, 6, consumer=little)
    copying.wait_safe(1)
    network.cluster.brokers[1].kill()
    try:
        assert sum(copying.safe.values()) < count
        copying.wait_safe(count)
    finally:
        network.cluster.brokers[1].start()
        network.cluster.wait_ready()
    assert copying.stop() == {}
    assert differences(network.cluster.bootstrap, target.bootstrap, name) == []


def test_a_stop_with_a_silent_target_ends_in_time_and_says_what_was_not_acknowledged(
    source: Any, network: Network, name: str, start_copying: Start
) -> None:
    prepare(source.bootstrap, network.cluster.bootstrap, name, 25_000, size=SIZE)
    copying = start_copying(
        source.bootstrap, network.bootstrap, name, 6, consumer={"max.partition.fetch.bytes": "20000"}
    )
    copying.wait_safe(1)
    for proxy in network.proxies:
        proxy.stall()
    try:
        left = copying.stop(1.0)
    finally:
        for proxy in network.proxies:
            proxy.resume()
    assert copying.error is None
    assert all(left[partition] > copying.safe.get(partition, 0) for partition in left)
    assert left or sum(copying.safe.values()) == 25_000


def test_a_source_that_is_paused_is_waited_for(start_copying: Start, target: Any, own_clusters: Any, name: str) -> None:
    cluster = own_clusters()
    prepare(cluster.bootstrap, target.bootstrap, name, 1_000)
    copying = start_copying(cluster.bootstrap, target.bootstrap, name, 6)
    copying.wait_safe(1_000)
    pid = cluster.brokers[0].pid
    os.kill(pid, signal.SIGSTOP)
    said = len(copying.frames)
    wait_until(lambda: len(copying.frames) > said + 6, PATIENCE, "progress of a job that waits")
    os.kill(pid, signal.SIGCONT)
    load(cluster.bootstrap, name, 1_000, 100, partitions=6)
    copying.wait_safe(2_000)
    assert copying.stop() == {}


@pytest.mark.parametrize("abort", [True, False], ids=["abort", "go on"])
def test_a_record_that_the_target_will_not_take(
    source: Any, target: Any, name: str, start_copying: Start, abort: bool
) -> None:
    """The one record fails, not the batch that it came in."""
    create_topic(source.bootstrap, name, partitions=1)
    create_topic(target.bootstrap, name, partitions=1, config={"max.message.bytes": "3000"})
    for size, count in ((100, 500), (5_000, 1), (100, 500)):
        load(source.bootstrap, name, count, size, partitions=1)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 1, abort_on_send_failure=abort)
    if abort:
        wait_until(copying.over, PATIENCE, "the end")
        assert isinstance(copying.error, SendFailure)
        assert copying.safe.get(TopicPartition(name, 0), 0) <= 500
    else:
        copying.wait_safe(1_001)
        assert copying.stop() == {}
        assert copying.dropped() == 1
        assert end_offsets(target.bootstrap, name) == {0: 1_000}


def test_a_gap_waits_for_an_answer_and_goes_on_there(source: Any, target: Any, name: str, start_copying: Start) -> None:
    """Invariant F."""
    create_topic(source.bootstrap, name, partitions=1)
    create_topic(target.bootstrap, name, partitions=1)
    load(source.bootstrap, name, 100, 100, partitions=1)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 1, begin=5_000)
    wait_until(lambda: copying.of(Gap), PATIENCE, "a gap")
    (gap,) = copying.of(Gap)
    assert (gap.topic, gap.partition, gap.wanted, gap.low, gap.high) == (name, 0, 5_000, 0, 100)
    copying.engine.resume({TopicPartition(name, 0): 40})
    wait_until(lambda: copying.safe.get(TopicPartition(name, 0)) == 100, PATIENCE, "the rest")
    assert copying.stop() == {}
    assert [frame.offsets for frame in copying.of(Started)][-1] == {TopicPartition(name, 0): 40}
    assert end_offsets(target.bootstrap, name) == {0: 60}


def test_what_it_did_is_reported_in_the_words_of_the_other_engine(
    source: Any, target: Any, name: str, start_copying: Start
) -> None:
    prepare(source.bootstrap, target.bootstrap, name, 5_000)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 6)
    copying.wait_safe(5_000)
    wait_until(lambda: len(copying.of(Statistics)) >= 2, PATIENCE, "statistics of both clients")
    totals = {frame.client: frame.measured[0].counters for frame in copying.of(Statistics)}
    assert totals["consumer"]["received_records"] == totals["producer"]["sent_records"] == 5_000
    assert totals["consumer"]["fetches"] > 0
    assert totals["producer"]["produces"] > 0


def largest_batch(copying: Any) -> float:
    """Records in the largest batch that the target was sent."""
    spreads = [frame.measured[0].spreads for frame in copying.of(Statistics) if frame.client == "producer"]
    return max((spread["batch_records"][2] for spread in spreads if "batch_records" in spread), default=0)


@pytest.mark.parametrize("keeps_partition", [False, True], ids=["by key", "in place"])
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_little_batches_are_joined_if_they_may_be_opened(
    source: Any, target: Any, name: str, start_copying: Start, codec: str, keeps_partition: bool
) -> None:
    count = 30_000
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions=6)
    load(source.bootstrap, name, count, 100, partitions=6, codec=codec, batch_bytes=LITTLE)
    kept = {"keeps_partition": [name]} if keeps_partition else {}
    copying = start_copying(source.bootstrap, target.bootstrap, name, 6, **kept)
    copying.wait_safe(count)
    wait_until(lambda: largest_batch(copying), PATIENCE, "statistics of the producer")
    assert copying.stop() == {}
    assert differences(source.bootstrap, target.bootstrap, name) == []
    assert (largest_batch(copying) > 500) == (codec == "none" or not keeps_partition)


def test_a_topic_that_takes_no_large_batches_gets_smaller_ones(
    source: Any, target: Any, name: str, start_copying: Start, halved: list[Placed]
) -> None:
    """One refusal for each halving of the limit, and none once it is known."""
    create_topic(source.bootstrap, name, partitions=6)
    create_topic(target.bootstrap, name, partitions=6, config={"max.message.bytes": "10000"})
    load(source.bootstrap, name, 30_000, 100, partitions=6, batch_bytes=LITTLE)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 6)
    copying.wait_safe(30_000)
    refusals = len(halved)
    load(source.bootstrap, name, 30_000, 100, partitions=6, batch_bytes=LITTLE)
    copying.wait_safe(60_000)
    assert copying.stop() == {}
    assert copying.dropped() == 0
    assert differences(source.bootstrap, target.bootstrap, name) == []
    assert 0 < refusals == len(halved)


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_a_source_of_tiny_batches_is_copied_in_larger_ones(
    source: Any, target: Any, name: str, start_copying: Start, codec: str
) -> None:
    """One record in each, as of a producer that flushes each: nothing else could be slower."""
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions=6)
    settings = {"bootstrap.servers": source.bootstrap, "batch.num.messages": 1, "compression.type": codec}
    tiny = Producer(settings)
    for number in range(20_000):
        tiny.produce(name, b"%d" % number, b"key-%d" % number)
        tiny.poll(0)
    tiny.flush()
    copying = start_copying(source.bootstrap, target.bootstrap, name, 6)
    copying.wait_safe(20_000)
    assert copying.stop() == {}
    assert differences(source.bootstrap, target.bootstrap, name) == []
