"""Exactly once between real brokers, without Spark and a group: claims, commits, and what follows a doubt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.proxy import Proxy
from legacy_mm.audit.cluster_access import (
    change_topic,
    create_topic,
    delete_records,
    delete_topic,
    end_offsets,
    read_all,
)
from legacy_mm.audit.load import load
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import Undecided
from legacy_mm.base.model import EARLIEST, UNDEFINED, TopicPartition
from legacy_mm.base.reports import Gap, Started
from legacy_mm.base.settings import ExactlyOnceSettings
from legacy_mm.clients.produce.broker_sender import BrokerSender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.dataplane.plain_stage import Outbound, PlainStage
from legacy_mm.protocol.record_set import Arrived
from legacy_mm.runtime.channel.frames import Pairs
from legacy_mm.transactions import linger
from legacy_mm.transactions.bundle import BUNDLES, FlowBundles
from legacy_mm.transactions.bundle_positions import BundlePositions
from legacy_mm.transactions.bundle_session import BundleState
from legacy_mm.transactions.copied_bundle import CopiedBundle
from legacy_mm.transactions.transactional_delivery import ExactlyOnce
from legacy_mm.transactions.transactional_queue import TransactionalQueue
from legacy_mm.transactions.txn_requests import TransactionVersion
from tests.fixtures.copying import PATIENCE, Copying, Start
from tests.fixtures.exactly_once import COMMITTED, CopiedOnce, Engines, formatted, read_committed

pytestmark = pytest.mark.brokers
GROUP = "g"
RECORDS, SIZE = 25_000, 4_000
FEW = 1_000
BACKLOG, TOO_LARGE_TO_JOIN = 48, 500_000
LINE_MS, SHORT_TIMEOUT = 200.0, 4.0


@pytest.fixture(scope="module")
def target_1(module_clusters: Callable[..., Cluster]) -> Cluster:
    """A current broker whose cluster has not finalized transaction version 2."""
    return module_clusters(format_options=formatted(TransactionVersion.ONE))


@pytest.fixture(scope="module")
def target_2(module_clusters: Callable[..., Cluster]) -> Cluster:
    """One whose cluster has."""
    return module_clusters(format_options=formatted(TransactionVersion.TWO))


@pytest.fixture(params=TransactionVersion, ids=lambda version: f"version {version:d}")
def version(request: pytest.FixtureRequest) -> TransactionVersion:
    made: TransactionVersion = request.param
    return made


@pytest.fixture
def target(request: pytest.FixtureRequest, version: TransactionVersion) -> Any:
    """One of each version."""
    return request.getfixturevalue("target_1" if version is TransactionVersion.ONE else "target_2")


@pytest.fixture
def name(topic: Callable[[], str]) -> str:
    return topic()


@pytest.fixture
def topics(source: Cluster, target: Cluster, name: str) -> None:
    """The topic at both ends, with records for some transactions."""
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, 4)
    load(source.bootstrap, name, RECORDS, SIZE)


def note_requests(monkeypatch: pytest.MonkeyPatch, topic: str) -> list[set[TopicPartition]]:
    """Return the partitions of a topic that each Produce request has, as they are sent; a later try is one more."""
    send, sent = BrokerSender.send, list[set[TopicPartition]]()

    def noted(sender: BrokerSender, entries: list[ProducerBatch]) -> None:
        if partitions := {entry.queue.partition for entry in entries if entry.queue.partition.topic == topic}:
            sent.append(partitions)
        send(sender, entries)

    monkeypatch.setattr(BrokerSender, "send", noted)
    return sent


def wait_pieces(bundle: CopiedBundle, count: int) -> None:
    """Until so many pieces are in the open transaction."""
    wait_until(lambda: len(bundle.uncommitted.pieces) == count, PATIENCE, f"{count} pieces")


def assert_once(source: Cluster, target: Cluster, name: str) -> None:
    """A committed reader sees what the source has."""
    written, copied = (read_committed(each.bootstrap, name) for each in (source, target))
    assert same_records(written, copied) == []


@pytest.fixture
def settings(name: str, target: Cluster) -> ExactlyOnceSettings:
    settings = ExactlyOnceSettings(group=f"{GROUP}-{name}", source="source", target="target", interval=0.2)
    flow = FlowBundles(settings.group, settings.source, settings.target)
    create_topic(target.bootstrap, flow.positions_topic, BUNDLES, config={"cleanup.policy": "compact"})
    return settings


def test_a_marker_belongs_to_the_position(
    source: Cluster, target: Cluster, name: str, settings: ExactlyOnceSettings, start_copying: Start
) -> None:
    """Retention takes it with the records before it; that is no gap."""
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, 1)
    writer = Producer({"bootstrap.servers": source.bootstrap, "log_level": 0, "transactional.id": name})
    writer.init_transactions(PATIENCE)
    writer.begin_transaction()
    for number in range(FEW):
        writer.produce(name, str(number).encode())
    writer.commit_transaction(PATIENCE)
    first = start_copying(source.bootstrap, target.bootstrap, name, 1, exactly_once=settings)
    first.wait_safe(FEW)
    assert first.stop() == {}
    delete_records(source.bootstrap, name, {0: FEW + 1})
    second = start_copying(source.bootstrap, target.bootstrap, name, 1, exactly_once=settings)
    load(source.bootstrap, name, FEW, 100)
    second.wait_reached(2 * FEW + 1)
    assert second.of(Gap) == []
    assert second.stop() == {}


def test_where_copies_are_is_told_when_they_are_committed(
    source: Cluster, target: Cluster, name: str, topics: None, settings: ExactlyOnceSettings, start_copying: Start
) -> None:
    """Offset syncs and checkpoints are made of it: of an open transaction it might not come true."""
    settings = replace(settings, interval=3600.0, transaction_timeout=600.0)
    pairs = {"pairs": True, "keeps_partition": [name]}
    copying = start_copying(source.bootstrap, target.bootstrap, name, 4, exactly_once=settings, **pairs)
    wait_until(lambda: sum(end_offsets(target.bootstrap, name).values()) >= RECORDS, PATIENCE, "an open transaction")
    assert copying.of(Pairs) == []
    assert copying.stop() == {}
    copies = {(each.partition, each.offset): each for each in read_committed(target.bootstrap, name)}
    written = {(each.partition, each.offset): each for each in read_all(source.bootstrap, name)}
    told = {
        (run.partition, run.upstream + number): (run.partition, run.downstream + number)
        for frame in copying.of(Pairs)
        for run in frame.runs
        for number in range(run.records)
    }
    assert told.keys() == written.keys()
    assert all(copies[there].value == written[here].value for here, there in told.items())


def test_a_record_that_the_target_refuses_is_left_out_of_its_transaction(
    source: Cluster, target: Cluster, name: str, settings: ExactlyOnceSettings, start_copying: Start
) -> None:
    """With `abort.on.send.failure=false`: batches are halved until it is alone, and the others are there once."""
    create_topic(source.bootstrap, name, 1)
    create_topic(target.bootstrap, name, 1, config={"max.message.bytes": "3000"})
    writer = Producer({"bootstrap.servers": source.bootstrap, "log_level": 0, "linger.ms": 500})
    for number in range(FEW):
        writer.produce(name, b"x" * 50_000 if number == FEW // 2 else str(number).encode(), partition=0)
    assert writer.flush(PATIENCE) == 0
    copying = start_copying(
        source.bootstrap, target.bootstrap, name, 1, exactly_once=settings, abort_on_send_failure=False
    )
    copying.wait_safe(FEW)
    assert copying.stop() == {}
    assert copying.dropped() >= 1
    copied = [each.value for each in read_committed(target.bootstrap, name)]
    assert copied == [str(number).encode() for number in range(FEW) if number != FEW // 2]


def test_all_records_once(
    source: Cluster,
    target: Cluster,
    version: TransactionVersion,
    name: str,
    settings: ExactlyOnceSettings,
    start_copying: Start,
) -> None:
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, 4)
    load(source.bootstrap, name, 10_000, 100)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 4, exactly_once=settings)
    copying.wait_safe(10_000)
    delivery = copying.engine.delivery
    assert isinstance(delivery, ExactlyOnce)
    assert {bundle.owner.version for bundle in delivery._numbers.values()} == {version}
    assert copying.stop() == {}
    assert_once(source, target, name)
    assert sum(end_offsets(target.bootstrap, name).values()) > 10_000, "no markers, no transactions"


@pytest.mark.usefixtures("topics")
def test_an_owner_that_vanishes(
    source: Cluster, target: Cluster, name: str, settings: ExactlyOnceSettings, start_copying: Start
) -> None:
    """What it had under way is never seen by committed readers, and the next owner begins at the last commit."""
    longer = replace(settings, interval=5.0)
    first = start_copying(source.bootstrap, target.bootstrap, name, 4, exactly_once=longer)
    first.wait_reached(RECORDS)
    written = sum(end_offsets(target.bootstrap, name).values())
    load(source.bootstrap, name, FEW, SIZE)
    with_markers = written + 2 * 4
    wait_until(
        lambda: sum(end_offsets(target.bootstrap, name).values()) > with_markers, PATIENCE, "an open transaction"
    )
    first.engine.purge()  # as if it were killed: nothing is flushed, nothing is committed
    second = start_copying(source.bootstrap, target.bootstrap, name, 4, exactly_once=settings)
    second.wait_reached(RECORDS + FEW)
    assert second.stop() == {}
    assert_once(source, target, name)
    assert len(read_all(target.bootstrap, name)) > RECORDS + FEW, "nothing was aborted, so the test shows nothing"


@pytest.mark.usefixtures("topics")
def test_two_owners_at_once(
    source: Cluster, target: Cluster, name: str, settings: ExactlyOnceSettings, start_copying: Start
) -> None:
    """The one that claims later fences the other; a group lets the first ask again only if it holds the bundle."""
    first = start_copying(source.bootstrap, target.bootstrap, name, 4, exactly_once=settings)
    first.wait_safe(1)
    first.confirms = False
    second = start_copying(source.bootstrap, target.bootstrap, name, 4, exactly_once=settings)
    second.wait_reached(RECORDS)
    load(source.bootstrap, name, FEW, 100)  # if the first was idle, it begins a transaction now
    second.wait_reached(RECORDS + FEW)
    delivery = first.engine.delivery
    assert isinstance(delivery, ExactlyOnce)
    wait_until(lambda: delivery.transactions().given_up, PATIENCE, "the fence")
    assert second.stop() == {}
    assert_once(source, target, name)


def test_a_time_out_that_the_target_does_not_allow(
    source: Cluster, target: Cluster, name: str, settings: ExactlyOnceSettings, start_copying: Start
) -> None:
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, 1)
    longer = replace(settings, transaction_timeout=3_600.0)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 1, exactly_once=longer)
    wait_until(copying.over, PATIENCE, "its end")
    assert "lower exactly.once.transaction.timeout.ms to the target's transaction.max.timeout.ms" in str(copying.error)


def copied(source: Cluster, target: Cluster, name: str, settings: ExactlyOnceSettings, start_copying: Start) -> Copying:
    """Return an engine that has copied a few records of one partition, and goes on."""
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, 1)
    load(source.bootstrap, name, 1_000, 100)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 1, exactly_once=settings)
    copying.wait_safe(1_000)
    return copying


def test_a_policy_that_deletes_by_now_ends_the_next_claim(
    source: Cluster, target: Cluster, name: str, settings: ExactlyOnceSettings, start_copying: Start
) -> None:
    copied(source, target, name, settings, start_copying)
    positions_topic = FlowBundles(settings.group, settings.source, settings.target).positions_topic
    change_topic(target.bootstrap, positions_topic, {"cleanup.policy": "delete"})
    second = start_copying(source.bootstrap, target.bootstrap, name, 1, exactly_once=settings)
    wait_until(second.over, PATIENCE, "its end")
    assert f"--entity-name {positions_topic} --add-config cleanup.policy=compact" in str(second.error)


def test_what_is_open_is_committed_when_a_person_must_decide(
    source: Cluster,
    target: Cluster,
    name: str,
    settings: ExactlyOnceSettings,
    start_copying: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else readers of all other bundles would wait for the time-out of their transactions."""
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, 4)
    load(source.bootstrap, name, FEW, 100)
    undecided, *others = (TopicPartition(name, number) for number in range(4))
    ask, first_offsets = threading.Event(), BundlePositions._first_offsets

    def late(positions: BundlePositions, unset: Any) -> Any:
        assert undecided not in unset or ask.wait(PATIENCE)
        return first_offsets(positions, unset)

    monkeypatch.setattr(BundlePositions, "_first_offsets", late)
    begin = {undecided: UNDEFINED, **dict.fromkeys(others, EARLIEST)}
    longer = replace(settings, interval=40.0)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 4, begin=begin, exactly_once=longer)
    delivery = copying.engine.delivery
    assert isinstance(delivery, ExactlyOnce)
    ends = end_offsets(source.bootstrap, name)
    read = sum(ends[each.partition] for each in others)
    bundles = delivery._numbers.values()
    wait_until(lambda: sum(each.uncommitted.records for each in bundles) == read, PATIENCE, "open transactions")
    assert not copying.safe
    ask.set()
    wait_until(copying.over, PATIENCE, "its end")
    assert isinstance(copying.error, Undecided)
    assert copying.safe == {each: ends[each.partition] for each in others}
    assert len(read_committed(target.bootstrap, name)) == read


def test_positions_that_are_deleted_end_the_copying(
    source: Cluster, target: Cluster, name: str, settings: ExactlyOnceSettings, start_copying: Start
) -> None:
    """Nothing is copied beyond, also where brokers have made the topic anew: nobody could say what the target has."""
    copying = copied(source, target, name, settings, start_copying)
    delete_topic(target.bootstrap, FlowBundles(settings.group, settings.source, settings.target).positions_topic)
    load(source.bootstrap, name, 1_000, 100)
    wait_until(copying.over, PATIENCE, "its end")
    assert "legacy-mm exactly-once adopt takes the group's offset" in str(copying.error)
    assert len(read_all(target.bootstrap, name, isolation=COMMITTED)) == 1_000


@pytest.mark.slow
def test_a_transaction_takes_what_the_target_takes_in_time(
    source: Cluster, module_clusters: Callable[..., Cluster], topic: Callable[..., str], start_copying: Start
) -> None:
    """Over a line on which a backlog takes several time-outs; what is read in an interval is soon more than enough."""
    proxies: list[Proxy] = []

    def advertise(port: int) -> tuple[str, int]:
        proxies.append(Proxy(port))
        return proxies[-1].address

    far = module_clusters(advertise=advertise)
    copy = CopiedOnce(source, far, topic("slow"), partitions=1)
    engines = Engines(copy, start_copying, far.bootstrap_of(PROXIED), interval=1.0, transaction_timeout=SHORT_TIMEOUT)
    copy.load(BACKLOG, size=TOO_LARGE_TO_JOIN)
    for proxy in proxies:
        proxy.delay(LINE_MS)
    engine = engines.start("slow")
    engine.wait_reached(BACKLOG)
    assert copy.aborted() > 0, "all was taken in time, so the test shows nothing"
    for proxy in proxies:
        proxy.delay(0)
    assert engine.stop() == {}
    assert copy.differences() == []
    for proxy in proxies:
        proxy.close()


def test_a_little_of_several_partitions_goes_together(
    source: Cluster,
    target: Cluster,
    name: str,
    settings: ExactlyOnceSettings,
    start_copying: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four partitions of one bundle bring a record each, one after the other; the end of the transaction sends them."""
    partitions = [TopicPartition(name, BUNDLES * number) for number in range(4)]
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions[-1].partition + 1)
    monkeypatch.setattr(linger, "_LONGEST", inf)
    produced = note_requests(monkeypatch, name)
    copying = start_copying(
        source.bootstrap,
        target.bootstrap,
        name,
        0,
        begin=dict.fromkeys(partitions, EARLIEST),
        exactly_once=replace(settings, interval=inf),
    )
    wait_until(lambda: sum(len(started.offsets) for started in copying.of(Started)) == 4, PATIENCE, "the claim")
    writer = Producer({"bootstrap.servers": source.bootstrap})
    delivery = copying.engine.delivery
    assert isinstance(delivery, ExactlyOnce)
    (bundle,) = delivery._numbers.values()
    for count, partition in enumerate(partitions, 1):
        writer.produce(name, b"value", partition=partition.partition)
        assert not writer.flush(PATIENCE)
        wait_pieces(bundle, count)
    for queue in copying.engine.ends.appender._followed:
        if isinstance(queue, TransactionalQueue) and queue.partition in partitions:
            wait_until(partial(getattr, queue, "added"), PATIENCE, "the transaction to have the partition")
    assert produced == []
    assert copying.stop() == {}
    assert produced[0] == set(partitions)
    assert_once(source, target, name)


@pytest.mark.parametrize("how", ["it waited long", "its transaction takes no more"])
def test_a_transaction_goes_on_while_a_piece_waits(
    source: Cluster,
    target: Cluster,
    topic: Callable[..., str],
    start_copying: Start,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    """The way to the target was asked for meanwhile. What is in hand is read again, so it must not be sent."""
    copy = CopiedOnce(source, target, topic("waits"), partitions=1)
    engines = Engines(copy, start_copying, target.bootstrap, interval=2.0)  # longer than the writer's pauses
    copy.load(FEW)
    outbound, waited = PlainStage.outbound, list[int]()

    def wait(stage: PlainStage, partition: TopicPartition, arrived: Arrived, begin: int) -> Outbound | None:
        found = outbound(stage, partition, arrived, begin)
        delivery = engine.engine.delivery
        assert isinstance(delivery, ExactlyOnce)
        bundle = delivery._bundles[partition]
        if bundle.owner.state is BundleState.OPEN and not waited:
            waited.append(begin)
            if how == "it waited long":
                bundle.park()
            else:
                bundle.owner._move_on(inf)
        return found

    monkeypatch.setattr(PlainStage, "outbound", wait)
    engine = engines.start("waits")
    with copy.writing():
        wait_until(lambda: waited, PATIENCE, "a piece in the middle")
    engine.wait_reached(copy.total)
    assert engine.stop() == {}
    assert copy.differences() == []
