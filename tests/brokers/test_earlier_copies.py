"""A copy that is there before its flow has a position: what comes twice, what is skipped, and how to begin behind it.

After a move, a mirror in the other direction with names kept; behind a source that was rebuilt; at least once and
exactly once. Every record is counted.
"""

from __future__ import annotations

import re
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import commit, create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import iso_time
from tests.fixtures.driver_files import driver_file
from tests.fixtures.tools import Run
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
OLD, NEW, PARTITIONS = 60, 20, 2
BEGIN_MS = int(time.time() * 1000) - 3_600_000
IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
PLACE = re.compile(r"--topic \S+:(\d+) --reset-offsets --to-offset (\d+)|likewise \S+-(\d+) at (\d+)")
CREATE = re.compile(r"--create --topic (\S+) --partitions (\d+) --replication-factor 1 --config cleanup.policy=compact")
RECORD = re.compile(r"echo '([^']+)\|([^']+)' \| kafka-console-producer")
Mirror = Callable[..., WarmMirror]


def write(cluster: Cluster, topic: str, numbers: range) -> None:
    """Half of them in each partition, where they stay without a key; each of the time that a mirror would keep."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for number in numbers:
        made = BEGIN_MS + 1_000 * number
        producer.produce(topic, f"v{number}", partition=number % PARTITIONS, timestamp=made)
    assert producer.flush(30) == 0


def values(cluster: Cluster, topic: str) -> list[bytes | None]:
    return sorted((each.value for each in read_all(cluster.bootstrap, topic)), key=str)


def written(numbers: range) -> list[bytes | None]:
    return sorted((b"v%d" % number for number in numbers), key=str)


def arrived(cluster: Cluster, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0


def ran(mirror: WarmMirror, cluster: Cluster, topic: str, count: int) -> str:
    """Let it copy until there are so many records; return what it printed."""
    wait_until(lambda: arrived(cluster, topic) >= count, SECONDS, f"{count} records in {topic}")
    mirror.signal(signal.SIGTERM)
    mirror.wait(SECONDS)
    return mirror.output()


@pytest.fixture
def alias() -> str:
    """The name of the source: the offsets topic has it in its name."""
    return f"s{uuid.uuid4().hex[:8]}"


@pytest.fixture
def moved(source: Cluster, target: Cluster, topic: Callable[..., str]) -> str:
    """A topic of the source that was copied to the target with its name, and written on there."""
    name = topic("t")
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, PARTITIONS)
        write(cluster, name, range(OLD))
    write(target, name, range(OLD, OLD + NEW))
    return name


def back(source: Cluster, target: Cluster, group: str, reset: str) -> tuple[dict[str, str], dict[str, str]]:
    """The files of a mirror in the other direction."""
    properties = {"bootstrap.servers": target.bootstrap, "group.id": group, "auto.offset.reset": reset}
    return properties, {"bootstrap.servers": source.bootstrap}


@pytest.mark.parametrize("reset", ["earliest", "latest", "before", "behind"])
def test_a_plan_says_where_a_mirror_begins_behind_a_copy(
    moved: str, source: Cluster, target: Cluster, group: str, reset: str, our_mirror: Mirror, run: Run, tmp_path: Path
) -> None:
    """`before` and `behind` the end of the copy by four records, `start.from` says where."""
    shift = {"before": -4, "behind": 4}.get(reset)
    consumer, producer = back(source, target, group, "earliest" if shift else reset)
    words = ["kafka-mirror-maker.sh"]
    time_of_start = iso_time(BEGIN_MS + 1_000 * (OLD + (shift or 0)))
    words += ["--start.from", time_of_start] if shift else []
    for side, properties in (("consumer", consumer), ("producer", producer)):
        words += [f"--{side}.config", str(write_properties(tmp_path / side, properties))]
    _, planned, errors = run("plan", "--", *words, "--whitelist", moved)
    told = {
        "earliest": f"{OLD} offsets of the source are not younger, so they seem to be there, and would come twice",
        "latest": f"auto.offset.reset is latest: {NEW} offsets of the source are younger than the last record",
        "before": "4 offsets of the source are not younger, so they seem to be there, and would come twice",
        "behind": f"start.from is {time_of_start}: 4 offsets of the source are younger than the last record",
    }
    assert told[reset] in planned, planned + errors
    places = {(moved, int(one or two)): int(at or then) for one, at, two, then in PLACE.findall(planned)}
    assert places == {(moved, number): OLD // PARTITIONS for number in range(PARTITIONS)}
    commit(target.bootstrap, group, places)
    assert "without a position" not in run("plan", "--", *words, "--whitelist", moved)[1]
    ran(our_mirror(consumer, producer, "--whitelist", moved), source, moved, OLD + NEW)
    assert values(source, moved) == written(range(OLD + NEW))


def test_a_mirror_without_features_sees_the_copy_where_its_records_arrive(
    moved: str, source: Cluster, target: Cluster, group: str, our_mirror: Mirror
) -> None:
    """It asks the target nothing that the legacy tool does not ask; a second start has a position."""
    files = back(source, target, group, "earliest")
    line = f"Topic {moved} of the target had {OLD // PARTITIONS} offsets in this partition before the first record of "
    output = ran(our_mirror(*files, "--whitelist", moved), source, moved, OLD + OLD + NEW)
    assert output.count(line) == 1
    write(target, moved, range(OLD + NEW, OLD + NEW + 10))
    assert "of the target had" not in ran(our_mirror(*files, "--whitelist", moved), source, moved, OLD + OLD + NEW + 10)


def position(cluster: Cluster, topic: str, text: str) -> None:
    """Do what the line says: it names the first partition's record, and the others' offsets."""
    ((key, value),) = RECORD.findall(text)
    places = {int(two): int(then) for _, _, two, then in PLACE.findall(text) if two}
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    producer.produce(topic, value, key)
    for partition, offset in places.items():
        producer.produce(topic, f'{{"offset":{offset - 1}}}', key.replace('"partition":0', f'"partition":{partition}'))
    assert producer.flush(30) == 0


def test_a_flow_back_with_names_kept(
    moved: str, source: Cluster, target: Cluster, alias: str, warm_driver: Mirror, run: Run, tmp_path: Path
) -> None:
    """The plan and the start tell the same; the start comes too late for what it copies at once."""
    file = driver_file(
        {alias: target, "home": source},
        **{f"{alias}->home.enabled": "true", "topics": moved, "replication.policy.class": IDENTITY},
        **{"emit.heartbeats.enabled": "false"},
    )
    words = ("--", "connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2", file)))
    planned = run("plan", *words)[1]
    said = f"{OLD} offsets of the source are not younger, so they seem to be there, and would come twice"
    assert said in planned
    offsets = f"mm2-offsets.{alias}.internal"
    line = next(line for line in planned.splitlines() if said in line)
    ((name, partitions),) = CREATE.findall(line)
    create_topic(source.bootstrap, name, int(partitions), config={"cleanup.policy": "compact"})
    position(source, offsets, line)
    assert not CREATE.search(run("plan", *words)[1])
    output = ran(warm_driver(file), source, moved, OLD + NEW)
    assert "come twice" not in output
    assert values(source, moved) == written(range(OLD + NEW))


def test_a_start_without_a_position_tells_of_the_copy(
    moved: str, source: Cluster, target: Cluster, alias: str, warm_driver: Mirror
) -> None:
    file = driver_file(
        {alias: target, "home": source},
        **{f"{alias}->home.enabled": "true", "topics": moved, "replication.policy.class": IDENTITY},
        **{"emit.heartbeats.enabled": "false"},
    )
    output = ran(warm_driver(file), source, moved, OLD + OLD + NEW)
    said = f"{moved} has no position in this flow, and its copy {moved} at the target has records up to "
    assert output.count(said) == 1
    write(target, moved, range(OLD + NEW, OLD + NEW + 10))
    assert said not in ran(warm_driver(file), source, moved, OLD + OLD + NEW + 10)


@pytest.mark.parametrize("restored", [0, OLD], ids=["empty", "from a backup"])
def test_a_source_that_was_rebuilt_behind_a_copy(
    source: Cluster,
    target: Cluster,
    own_clusters: Callable[..., Cluster],
    topic: Callable[..., str],
    alias: str,
    restored: int,
    warm_driver: Mirror,
    run: Run,
    tmp_path: Path,
) -> None:
    """Its positions are of another log: told, with what would come twice; behind it nothing does."""
    name, rebuilt = topic("t"), own_clusters()
    for cluster in (source, rebuilt):
        create_topic(cluster.bootstrap, name, PARTITIONS)
    write(source, name, range(OLD))
    write(rebuilt, name, range(restored))

    def flow(cluster: Any) -> dict[str, str]:
        return driver_file(
            {alias: cluster, "t": target},
            **{f"{alias}->t.enabled": "true", "topics": name, "emit.heartbeats.enabled": "false"},
        )

    copy = f"{alias}.{name}"
    ran(warm_driver(flow(source)), target, copy, OLD)
    write(rebuilt, name, range(OLD, OLD + NEW))
    words = ("--", "connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2", flow(rebuilt))))
    planned = run("plan", *words)[1]
    assert "is not of the log that the source has now, so it is copied from its first record" in planned
    assert (f"{restored} offsets of the source are not younger" in planned) == bool(restored)
    if restored:
        line = next(line for line in planned.splitlines() if "come twice" in line)
        position(target, f"mm2-offsets.{alias}.internal", line)
    output = ran(warm_driver(flow(rebuilt)), target, copy, OLD + NEW)
    assert ("is not of the log that the source has now" in output) == (not restored)
    assert values(target, copy) == written(range(OLD + NEW))
