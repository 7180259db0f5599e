"""`start.from`: copying begins at a time where no position is known, and only there; with each book of positions."""

from __future__ import annotations

import json
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import committed, create_topic, list_topics, read_all
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import iso_time
from tests.fixtures.driver_files import driver_file
from tests.fixtures.tools import Run
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
HOUR = 3_600_000
NOON = int(time.time() * 1000) // HOUR * HOUR - 6 * HOUR
Mirror = Callable[..., WarmMirror]


def write(cluster: Cluster, topic: str, partition: int, *hours: int) -> None:
    """A record of each of these hours; its value names them."""
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    for hour in hours:
        producer.produce(topic, f"{partition}/{hour}", partition=partition, timestamp=NOON + hour * HOUR)
    assert producer.flush(30) == 0


def values(cluster: Cluster, topic: str) -> set[str]:
    """What a committed reader sees, each once."""
    if topic not in list_topics(cluster.bootstrap):
        return set()
    found = [(each.value or b"").decode() for each in read_all(cluster.bootstrap, topic, isolation="read_committed")]
    assert len(found) == len({*found}), found
    return {*found}


def wait_for(cluster: Cluster, topic: str, *expected: str) -> None:
    wait_until(lambda: {*expected} <= values(cluster, topic), SECONDS, f"{expected} in {topic}")
    assert values(cluster, topic) == {*expected}


def stop(mirror: WarmMirror) -> str:
    mirror.signal(signal.SIGTERM)
    mirror.wait(SECONDS)
    return mirror.output()


@pytest.fixture
def timed(source: Cluster, topic: Callable[..., str]) -> str:
    """Partition 0 has records around noon, partition 1 only earlier ones, partition 2 none."""
    name = topic("t")
    create_topic(source.bootstrap, name, 3)
    write(source, name, 0, -2, -1, 0, 1, 2)
    write(source, name, 1, -2, -1)
    return name


@pytest.mark.parametrize("exactly_once", ["false", "true"])
def test_partitions_without_an_offset_begin_at_the_time(
    source: Cluster,
    target: Cluster,
    timed: str,
    topic: Callable[..., str],
    group: str,
    our_mirror: Mirror,
    tmp_path: Path,
    exactly_once: str,
) -> None:
    """A topic has a time of its own in the features' file, one comes later, and an earlier time moves nothing back."""
    other, late = topic("other"), f"{timed}.late"
    create_topic(source.bootstrap, other, 1)
    write(source, other, 0, -2, -1, 0, 1)
    features = {f"start.from.topic.{other}": iso_time(NOON + HOUR), "exactly.once": exactly_once}
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "metadata.max.age.ms": "500"}
    files = consumer, {"bootstrap.servers": target.bootstrap}
    own = write_properties(tmp_path / "features", features)
    words = ["--whitelist", f"{timed}.*|{other}", "--features.config", str(own), "--log.level", "INFO"]
    words += ["--offset.commit.interval.ms", "500"]

    mirror = our_mirror(*files, *words, "--start.from", iso_time(NOON))
    wait_for(target, timed, "0/0", "0/1", "0/2")
    wait_for(target, other, "0/1")
    ends = {(timed, 0): 5, (timed, 1): 2, (timed, 2): 0, (other, 0): 4}
    wait_until(lambda: committed(source.bootstrap, group, [timed, other]) == ends, SECONDS, "all starts committed")
    create_topic(source.bootstrap, late, 1)
    write(source, late, 0, -1, 0)
    write(source, timed, 1, -1, 3)  # behind the start nothing is left out
    wait_for(target, late, "0/0")
    wait_until(lambda: "1/3" in values(target, timed), SECONDS, "the later records")
    output = stop(mirror)
    assert f"{timed}-0 begins at offset 2, its first of {iso_time(NOON)} or later: 2 offsets before" in output
    assert f"{timed}-1 begins at offset 2, " in output
    assert f"{other}-0 begins at offset 3, its first of {iso_time(NOON + HOUR)} or later: 3 offsets before" in output
    assert "Skipped in" not in output

    write(source, timed, 2, -2, 2)
    mirror = our_mirror(*files, *words, "--start.from", str(NOON - 2 * HOUR))
    later = {"1/-1", "1/3", "2/-2", "2/2"}
    wait_for(target, timed, "0/0", "0/1", "0/2", *later)
    assert " begins at offset " not in stop(mirror)
    assert values(target, timed) == {"0/0", "0/1", "0/2", *later}


def test_a_flow_of_mirror_maker_2_s_file_begins_at_the_time(
    source: Cluster, target: Cluster, timed: str, warm_driver: Mirror, run: Run, tmp_path: Path
) -> None:
    """Its positions are in the offsets topic; `explain` and `plan` say beforehand where each partition begins."""
    alias = f"s{uuid.uuid4().hex[:8]}"

    def flow(every: int, own: int) -> dict[str, str]:
        return driver_file(
            {alias: source, "t": target},
            **{f"{alias}->t.enabled": "true", "topics": timed, "emit.heartbeats.enabled": "false"},
            **{"start.from": iso_time(every), f"{alias}->t.start.from.topic.{timed}": iso_time(own)},
        )

    properties, copy = flow(NOON + 2 * HOUR, NOON), f"{alias}.{timed}"
    words = ("--", "connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2", properties)))
    starts = {0: 2, 1: 2, 2: 0}
    assert explained(run, timed, *words) == starts
    planned = run("plan", *words)[1]
    for partition, offset in starts.items():
        said = f"{timed}-{partition} begins at offset {offset}: it has no position, and start.from is {iso_time(NOON)}"
        assert planned.count(said) == 1, planned
    mirror = warm_driver(properties)
    wait_for(target, copy, "0/0", "0/1", "0/2")
    write(source, timed, 2, -1, 1)
    wait_for(target, copy, "0/0", "0/1", "0/2", "2/-1", "2/1")
    stop(mirror)
    earlier = flow(NOON - 3 * HOUR, NOON - 2 * HOUR)
    write_properties(tmp_path / "mm2", earlier)
    assert {each: explained(run, timed, *words)[each] for each in (0, 2)} == {0: 5, 2: 2}
    planned = run("plan", *words)[1]
    assert f"{timed}-0 begins" not in planned
    mirror = warm_driver(earlier)
    write(source, timed, 0, 3)
    wait_for(target, copy, "0/0", "0/1", "0/2", "0/3", "2/-1", "2/1")
    stop(mirror)


def explained(run: Run, topic: str, *words: str) -> dict[int, int]:
    """Where each partition of the topic begins: a flow of MirrorMaker 2's file copies others' heartbeats, too."""
    code, document, errors = run("explain", "--json", *words)
    assert code == 0, errors
    found: Any = json.loads(document)
    (rows,) = [flow["found"]["partitions"] for flow in found["flows"] if flow["copies"]]
    return {row["partition"]: row["start"] for row in rows if row["topic"] == topic}
