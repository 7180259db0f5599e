"""Apache's own integration tests of MirrorMaker 2 in dedicated mode; compat/reports/apache-tests.md has their list.

Each case has aliases of its own, so that all of them share two clusters.
"""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from compat.laboratory.cluster import Cluster
from compat.laboratory.security import Stores, secured_cluster
from compat.laboratory.tools import our_driver
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.protocol.mirror_records import Checkpoint
from tests.fixtures.driver_files import driver_file
from tests.fixtures.offsets import commit
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
STOPPED = 128 + signal.SIGTERM
IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
_NUMBERS = itertools.count(1)


@dataclass(frozen=True)
class Case:
    """One flow between the two clusters, and its nodes."""

    folder: Path
    source: Cluster
    target: Cluster
    origin: str
    destination: str
    topic: str
    run: Callable[..., ToolProcess | WarmMirror]
    started: list[ToolProcess | WarmMirror]

    def file(self, **properties: str) -> dict[str, str]:
        """The flow from `origin` to `destination`; `properties` as `driver_file` takes them, `_` is the flow."""
        flow = f"{self.origin}->{self.destination}"
        own = {key.replace("_->", f"{flow}."): text for key, text in properties.items()}
        return driver_file(
            {self.origin: self.source, self.destination: self.target},
            **{f"{flow}.enabled": "true", "topics": f"{self.topic}.*", "groups": f"{self.topic}.*", **own},
        )

    def start(self, properties: dict[str, str]) -> None:
        self.started.append(self.run(properties))

    def arrived(self, copy: str) -> int:
        there = copy in list_topics(self.target.bootstrap)
        return sum(end_offsets(self.target.bootstrap, copy).values()) if there else 0

    def wait_for(self, copy: str, count: int) -> None:
        wait_until(lambda: self.arrived(copy) == count, SECONDS, f"{count} records in {copy}")

    def checkpoints(self) -> dict[tuple[str, int], Checkpoint]:
        """The last ones by group and partition."""
        name = f"{self.origin}.checkpoints.internal"
        there = name in list_topics(self.target.bootstrap)
        records = read_all(self.target.bootstrap, name) if there else []
        found = (Checkpoint.decode(each.key, each.value) for each in records)
        return {(each.group, each.partition): each for each in found}

    def stop(self) -> None:
        for node in self.started:
            node.signal(signal.SIGTERM)
            assert node.wait(SECONDS) == STOPPED
        self.started.clear()


@pytest.fixture(scope="module")
def clusters(module_clusters: Callable[..., Cluster]) -> tuple[Cluster, Cluster]:
    return module_clusters(), module_clusters()


@pytest.fixture
def case(
    clusters: tuple[Cluster, Cluster],
    topic: Callable[..., str],
    tmp_path: Path,
    warm_driver: Callable[..., WarmMirror],
) -> Iterator[Case]:
    number = next(_NUMBERS)
    found = Case(tmp_path, *clusters, f"P{number}", f"B{number}", topic("t"), warm_driver, [])
    yield found
    for each in found.started:
        each.kill_tree()


@pytest.mark.slow
def test_without_offset_syncs_records_are_copied_and_there_is_no_topic_for_them(case: Case) -> None:
    """MirrorConnectorsIntegrationBaseTest:563, DedicatedMirrorIntegrationTest:134 and 197; a topic comes later."""
    name, later = case.topic, f"{case.topic}-later"
    load(case.source.bootstrap, name, 100, 50, partitions=2)
    case.start(case.file(**{"_->emit.offset-syncs.enabled": "false"}))
    case.wait_for(f"{case.origin}.{name}", 100)
    load(case.source.bootstrap, later, 20, 50, partitions=2)
    case.wait_for(f"{case.origin}.{later}", 20)
    case.stop()
    for cluster in (case.source, case.target):
        of_this_flow = {
            each for each in list_topics(cluster.bootstrap) if case.origin in each or case.destination in each
        }
        assert not {each for each in of_this_flow if "offset-syncs" in each or "checkpoints" in each}


def test_names_are_kept_and_offset_syncs_are_at_the_target(case: Case) -> None:
    """Base test:436 and 606, with IdentityReplicationPolicy: the last partition is empty, and a group has read all."""
    name, reader = case.topic, f"{case.topic}-reader"
    create_topic(case.source.bootstrap, name, 3)
    writer = Producer({"bootstrap.servers": case.source.bootstrap})
    for number in range(40):
        writer.produce(name, b"%d" % number, partition=number % 2)
    writer.flush()
    commit(case.source, reader, {(name, 0): 20, (name, 1): 20, (name, 2): 0})
    case.start(case.file(**{
        "replication.policy.class": IDENTITY, "offset-syncs.topic.location": "target",
        "sync.group.offsets.enabled": "true", "_->offset.lag.max": "10",
    }))  # fmt: skip
    case.wait_for(name, 40)
    wait_until(lambda: (reader, 1) in case.checkpoints(), SECONDS, "checkpoints")
    both = {(name, 0), (name, 1)}
    wait_until(lambda: both <= committed(case.target.bootstrap, reader, [name]).keys(), SECONDS, "the group")
    case.stop()
    assert f"mm2-offset-syncs.{case.origin}.internal" in list_topics(case.target.bootstrap)
    assert f"mm2-offset-syncs.{case.destination}.internal" not in list_topics(case.source.bootstrap)

    own = {"bootstrap.servers": case.target.bootstrap, "group.id": reader, "auto.offset.reset": "earliest"}
    consumer = Consumer({**own, "enable.auto.commit": False})
    consumer.assign([TopicPartition(name, number) for number in range(3)])
    for number in range(2):
        writer = Producer({"bootstrap.servers": case.target.bootstrap})
        writer.produce(name, b"after", partition=number)
        writer.flush()
    read: list[bytes] = []

    def read_both() -> bool:
        read.extend(each.value() or b"" for each in consumer.consume(10, 1.0))
        return len(read) == 2

    wait_until(read_both, SECONDS, "what comes after")
    consumer.commit(
        offsets=[TopicPartition(name, 0, 21), TopicPartition(name, 1, 21), TopicPartition(name, 2, 0)],
        asynchronous=False,
    )
    consumer.close()
    assert read == [b"after"] * 2
    assert committed(case.target.bootstrap, reader, [name]) == {(name, 0): 21, (name, 1): 21, (name, 2): 0}


def test_from_the_end_on(case: Case) -> None:
    """Base test:950: `auto.offset.reset=latest` leaves out what was there before the start."""
    name = case.topic
    load(case.source.bootstrap, name, 100, 50, partitions=1)
    case.start(case.file(**{f"{case.origin}.consumer.auto.offset.reset": "latest"}))
    writer, numbers = Producer({"bootstrap.servers": case.source.bootstrap}), itertools.count()

    def write_one() -> int:
        writer.produce(name, b"new-%d" % next(numbers))
        writer.flush()
        return case.arrived(f"{case.origin}.{name}")

    wait_until(write_one, SECONDS, "the first record")
    last = next(numbers)
    writer.produce(name, b"new-%d" % last)
    writer.flush()

    def copied() -> list[bytes | None]:
        return [each.value for each in read_all(case.target.bootstrap, f"{case.origin}.{name}")]

    wait_until(lambda: b"new-%d" % last in copied(), SECONDS, "the last record")
    case.stop()
    first = int((copied()[0] or b"").removeprefix(b"new-"))
    assert copied() == [b"new-%d" % number for number in range(first, last + 1)]


def test_a_target_with_tls(case: Case, stores: Stores) -> None:
    """The variant with SSL of the integration test, as a process."""
    load(case.source.bootstrap, case.topic, 100, 50, partitions=2)
    reader = f"{case.topic}-reader"
    commit(case.source, reader, {(case.topic, 0): 20})
    with secured_cluster(case.folder / "secured", stores) as target:
        there = replace(case, target=target, run=partial(our_driver, case.folder / "node"))
        security = {"security.protocol": "ssl", **stores.trust(), "bootstrap.servers": target.bootstrap_of("TLS")}
        there.start(there.file(**{f"{case.destination}.{key}": text for key, text in security.items()}))
        there.wait_for(f"{case.origin}.{case.topic}", 100)
        wait_until(lambda: (reader, 0) in there.checkpoints(), SECONDS, "a checkpoint")
        there.stop()


@pytest.mark.slow
def test_a_rolling_restart_with_a_changed_file(case: Case) -> None:
    """DedicatedMirrorIntegrationTest:272: all nodes copy, and what a changed file says holds after their restart."""
    own = {"offset-syncs.topic.location": "target", "_->tasks.max": "3"}
    slow, quick = (case.file(**own, **{"refresh.topics.interval.seconds": each}) for each in ("3600", "1"))
    names = [f"{case.topic}-{number}" for number in range(3)]
    for name in names[:2]:
        load(case.source.bootstrap, name, 60, 50, partitions=6)
    for _ in range(2):
        case.start(slow)
    for name in names[:2]:
        case.wait_for(f"{case.origin}.{name}", 60)
    for node in tuple(case.started):
        node.signal(signal.SIGTERM)
        assert node.wait(SECONDS) == STOPPED
        case.started.remove(node)
        case.start(quick)
    load(case.source.bootstrap, names[2], 60, 50, partitions=6)
    case.wait_for(f"{case.origin}.{names[2]}", 60)
    case.stop()
    assert [case.arrived(f"{case.origin}.{name}") for name in names] == [60] * 3
