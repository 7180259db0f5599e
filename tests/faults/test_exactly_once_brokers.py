"""Brokers of the target that fail while engines copy exactly once: contract 10.2."""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Producer
from kafka.admin import KafkaAdminClient

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.holding_proxy import Api, HoldingProxy
from legacy_mm.audit.cluster_access import delete_topic, end_offsets, leader, list_topics
from legacy_mm.audit.ledger_check import check
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import BUNDLES, bundle_of
from tests.faults.crash_points import POINTS, strike
from tests.fixtures.copying import Copying, Start
from tests.fixtures.engine_process import StartProcess
from tests.fixtures.exactly_once import PATIENCE, CopiedOnce, Engines

pytestmark = pytest.mark.faults
RECORDS, PARTITIONS = 2_000, 4
TIME_OUT = 10.0
IMPATIENT = {"request.timeout.ms": "2000", "delivery.timeout.ms": "3000"}
PREFERRED = 0
TRANSACTION_STATE = "__transaction_state"
IN_THE_SUITE = {"EndTxn sent"}
STEPS = [
    pytest.param(name, marks=() if name in IN_THE_SUITE else pytest.mark.slow, id=name)
    for name, point in POINTS.items()
    if not point.way and "AddPartitions" not in name and "added" not in name
]
"""Those of transaction version 2, without the ways that have a fault of their own."""


@pytest.fixture(scope="module")
def brokers(proxy: HoldingProxy, module_clusters: Callable[..., Cluster]) -> Cluster:
    """Three, whose coordinators look for transactions that are overdue each second, not each ten."""
    inspections = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000"}
    return module_clusters(brokers=3, properties=inspections, advertise=proxy.before)


@pytest.fixture
def make_engines(
    source: Any, brokers: Cluster, proxy: HoldingProxy, topic: Callable[..., str], start_copying: Start
) -> Iterator[Callable[..., Engines]]:
    """Make the topics, and write some records: `make_engines(replication=3, config={}, transaction_timeout=10.0)`."""

    def make(
        *, partitions: int = PARTITIONS, replication: int = 3, config: dict[str, str] | None = None, **settings: Any
    ) -> Engines:
        copy = CopiedOnce(source, brokers, topic("once"), partitions, replication, config=config)
        copy.replication = 3  # of the positions
        copy.load(RECORDS)
        settings = {"transaction_timeout": TIME_OUT, **settings}
        return Engines(copy, start_copying, brokers.bootstrap_of(PROXIED), interval=0.2, **settings)

    yield make
    proxy.disarm()
    for broker in brokers.brokers:
        broker.start()
        broker.resume()
    brokers.wait_ready()


def given_up(copying: Copying) -> int:
    """Number of its transactions that were thrown away."""
    totals = copying.engine.delivery.transactions()
    assert totals is not None
    return totals.given_up


def end(engines: Engines, copying: Copying) -> None:
    """Copy some more, and stop; a committed reader has seen all of it once."""
    engines.copy.load(RECORDS)
    copying.wait_reached(engines.copy.total)
    assert copying.stop() == {}, copying.error
    assert engines.copy.differences() == []


def test_too_few_replicas_in_sync(brokers: Cluster, make_engines: Callable[..., Engines]) -> None:
    engines = make_engines(config={"min.insync.replicas": "3"})
    copying = engines.start("first")
    copying.wait_reached(RECORDS)
    with engines.copy.writing():
        brokers.brokers[0].kill()
        wait_until(lambda: given_up(copying) > 0, PATIENCE, "a transaction that was given up")
        brokers.brokers[0].restart()
        brokers.wait_ready()
    end(engines, copying)


@pytest.mark.parametrize(
    ("time_out", "seconds"),
    [(TIME_OUT, 0.0), *(pytest.param(*each, marks=pytest.mark.slow) for each in ((TIME_OUT, 300.0), (60.0, 300.0)))],
)
def test_all_brokers_are_away_longer_than_a_transaction_lasts(
    brokers: Cluster, make_engines: Callable[..., Engines], time_out: float, seconds: float
) -> None:
    """So many seconds, or just longer. Frozen: where all are killed at once, Kafka itself may tear a transaction."""
    engines = make_engines(transaction_timeout=time_out)
    copying = engines.start("first")
    copying.wait_reached(RECORDS)
    with engines.copy.writing():
        for broker in brokers.brokers:
            broker.suspend()
        over = Deadline.after(seconds)
        wait_until(lambda: given_up(copying) > 0, PATIENCE, "a transaction that was given up")
        wait_until(over.expired, seconds + PATIENCE, "the end of the fault")
        for broker in brokers.brokers:
            broker.resume()
        brokers.wait_ready()
    end(engines, copying)


@pytest.mark.slow
def test_at_least_once_doubles(brokers: Cluster, make_engines: Callable[..., Engines]) -> None:
    """The proof that this is a fault: what lies before frozen brokers arrives when its engine has given up.

    An idempotent producer survives the other ones in this file without transactions, too: it goes on by itself.
    """
    engines = make_engines(once=False)
    copy = engines.copy
    first = engines.start("first", **IMPATIENT)
    first.wait_reached(RECORDS)
    engines.begin = copy.ended()
    for broker in brokers.brokers:
        broker.suspend()
    copy.load(RECORDS)
    wait_until(first.over, PATIENCE, "the end of the engine")
    for broker in brokers.brokers:
        broker.resume()
    brokers.wait_ready()
    second = engines.start("second")
    second.wait_reached(copy.total)
    assert second.stop() == {}, second.error
    assert copy.duplicates() > 0


def copy_more(copy: CopiedOnce, copying: Copying, partitions: Collection[int]) -> None:
    """Write to all partitions, and wait until these are committed up to their ends."""
    copy.load(RECORDS)
    ends = end_offsets(copy.source.bootstrap, copy.topic)

    def committed() -> bool:
        return all(copying.safe.get(TopicPartition(copy.topic, number)) == ends[number] for number in partitions)

    wait_until(committed, PATIENCE, f"{partitions} to be committed")


@pytest.mark.parametrize("seconds", [0.0, pytest.param(120.0, marks=pytest.mark.slow)])
def test_a_partition_without_a_leader_holds_up_only_its_bundle(
    brokers: Cluster, make_engines: Callable[..., Engines], seconds: float
) -> None:
    """For so long, or until all others are copied."""
    engines = make_engines(replication=1)
    copy = engines.copy
    copying = engines.start("first")
    copying.wait_reached(RECORDS)
    stuck = leader(brokers.bootstrap, copy.topic, 0)
    others = [number for number in range(PARTITIONS) if leader(brokers.bootstrap, copy.topic, number) != stuck]
    assert others, "one broker leads all partitions"
    brokers.brokers[stuck - 1].kill()
    over = Deadline.after(seconds)
    copy_more(copy, copying, others)
    while not over.expired():
        copy_more(copy, copying, others)
    brokers.brokers[stuck - 1].restart()
    brokers.wait_ready()
    end(engines, copying)


def test_a_topic_that_is_deleted_while_transactions_write_to_it(
    brokers: Cluster, make_engines: Callable[..., Engines]
) -> None:
    """What was in it is gone, as by any deletion; nothing that comes into the new one comes twice."""
    engines = make_engines()
    copy = engines.copy
    copying = engines.start("first")
    copying.wait_reached(RECORDS)
    with copy.writing():
        delete_topic(brokers.bootstrap, copy.topic)  # the mirror's questions make it anew
        wait_until(lambda: copy.written() > RECORDS, PATIENCE, "records in the new topic")
    copying.wait_reached(copy.total)
    assert copying.stop() == {}, copying.error
    verdict = check(copy.ledger, {"bootstrap.servers": brokers.bootstrap})
    assert (verdict.count("duplicated"), verdict.count("reordered"), verdict.count("unexpected")) == (0, 0, 0)
    assert copy.open() == []


def test_a_transaction_that_the_coordinator_ends(proxy: HoldingProxy, make_engines: Callable[..., Engines]) -> None:
    """Its time is over while records are on their way, which arrive when a new owner has long begun."""
    engines = make_engines(transaction_timeout=3.0)
    copying = engines.start("first", **{"request.timeout.ms": "6000"})
    copying.wait_reached(RECORDS)
    late = proxy.hold(Api.PRODUCE, client="^first$", cut=False)
    engines.copy.load(RECORDS)
    wait_until(lambda: given_up(copying) > 0, PATIENCE, "a transaction that was given up")
    copying.wait_reached(2 * RECORDS)
    late.deliver()
    end(engines, copying)


def coordinator(brokers: Cluster, transactional_id: str) -> int:
    """Return the broker that leads the partition of the transactional id's hash, as Java makes it."""
    Producer({"bootstrap.servers": brokers.bootstrap, "transactional.id": "any"}).init_transactions(PATIENCE)
    number = 0
    for letter in transactional_id:
        number = (31 * number + ord(letter)) & 0xFFFFFFFF
    count = list_topics(brokers.bootstrap)[TRANSACTION_STATE]
    return leader(brokers.bootstrap, TRANSACTION_STATE, (number & 0x7FFFFFFF) % count)


@pytest.mark.parametrize("name", STEPS)
def test_the_coordinator_is_killed_between_two_steps(
    brokers: Cluster, make_engines: Callable[..., Engines], start_process: StartProcess, name: str
) -> None:
    """The engine stands still meanwhile, so it finds out when it asks, or waits for an answer."""
    engines = make_engines(partitions=1)
    copy = engines.copy
    bundle = copy.flow.bundle(bundle_of(TopicPartition(copy.topic, 0), BUNDLES))
    node = coordinator(brokers, bundle.transactional_id)
    if "pairs" in name:
        engines.tell_of_pairs()
    engine = engines.start_by(start_process(partial(strike, name, signal.SIGSTOP)), "first")
    with copy.writing():
        wait_until(engine.is_frozen, PATIENCE, "the step")
        brokers.brokers[node - 1].kill()
        engine.wake()
        engine.wait_reached(copy.total)
        assert coordinator(brokers, bundle.transactional_id) != node
        brokers.brokers[node - 1].restart()
        brokers.wait_ready()
    copy.load(RECORDS)
    engine.wait_reached(copy.total)
    assert engine.stop() == {}
    assert copy.differences() == []


@pytest.mark.slow
def test_a_marker_that_brokers_leave_out_comes_with_the_next_transaction(
    proxy: HoldingProxy, brokers: Cluster, make_engines: Callable[..., Engines]
) -> None:
    """Kafka 4.3 ends a transaction without one where a partition has no leader at that moment (KAFKA-20734)."""
    engines = make_engines(partitions=2 * PARTITIONS, replication=1, transaction_timeout=60.0)
    copy = engines.copy
    copying = engines.start("first")
    copying.wait_reached(RECORDS)
    places = [TopicPartition(copy.topic, number) for number in range(copy.partitions)]
    bundles = {place.partition: copy.flow.bundle(bundle_of(place, BUNDLES)) for place in places}
    coordinators = {number: coordinator(brokers, bundle.transactional_id) for number, bundle in bundles.items()}
    leaders = {number: leader(brokers.bootstrap, copy.topic, number) for number in bundles}
    number = next(number for number in bundles if coordinators[number] != leaders[number])
    ending = proxy.hold(Api.END_TXN, containing=bundles[number].transactional_id.encode(), cut=False)
    copy.load(RECORDS)
    wait_until(lambda: ending.applied, PATIENCE, "the end of a transaction")
    brokers.brokers[leaders[number] - 1].kill()
    wait_until(lambda: leader(brokers.bootstrap, copy.topic, number) < 0, PATIENCE, "the partition to have no leader")
    ending.deliver()
    brokers.brokers[leaders[number] - 1].restart()
    brokers.wait_ready()
    copying.wait_reached(copy.total)
    assert copy.unstable() > 0, "no marker was left out, so the test shows nothing"
    end(engines, copying)


@pytest.mark.slow
def test_leaders_move(brokers: Cluster, make_engines: Callable[..., Engines]) -> None:
    """Of coordinators, positions and records: each broker stops cleanly, comes back, and leads again."""
    engines = make_engines()
    copy = engines.copy
    copying = engines.start("first")
    copying.wait_reached(RECORDS)
    topics = (TRANSACTION_STATE, copy.flow.positions_topic, copy.topic)
    moved = dict.fromkeys(topics, 0)
    with copy.writing():
        for broker in brokers.brokers:
            broker.terminate()
            copying.wait_reached(copy.total)
            broker.restart()
            brokers.wait_ready()
            for name in led_again(brokers, topics):
                moved[name] += 1
            copying.wait_reached(copy.total)
    assert all(moved.values()), moved
    end(engines, copying)


def led_again(brokers: Cluster, topics: tuple[str, ...]) -> list[str]:
    """Let the first replica of each partition lead it; return the topics of those whose leader this changed."""
    with closing(KafkaAdminClient(bootstrap_servers=brokers.bootstrap)) as admin:
        elected = admin.elect_leaders(PREFERRED, list(topics), raise_errors=False)
    rows = elected.replica_election_results
    return [row.topic for row in rows for each in row.partition_result if not each.error_code]
