"""Consumers go on at the target: checkpoints, group offsets and translation of a mirror that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from compat.laboratory.cluster import Cluster
from compat.laboratory.topic_state import overrides
from legacy_mm.audit.cluster_access import committed, create_topic, list_topics, members, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.protocol.mirror_records import Checkpoint, OffsetSync
from tests.fixtures.jmx import MBeans, java_pid, read_mbeans
from tests.fixtures.offsets import PARTITIONS, commit, rest, write
from tests.fixtures.scrape import scrape, total

pytestmark = pytest.mark.brokers
SECONDS = 180.0
AT_THE_TARGET = {"offset.lag.max": "0", "offset-syncs.topic.location": "target"}
HANDLER = """
def handle(record):
    number = record.value.rsplit(b"-", 1)[-1]
    same = record.to(record.topic)
    return [] if number in (b"3", b"8") else [same, same] if number == b"4" else [same]
"""
METRICS = (
    "partition_record_count_total",
    "partition_lag_seconds",
    "offsets_checkpoints_emitted_total",
    "offsets_offset_syncs_sent_total",
    "offsets_offset_syncs_failed_total",
)


@dataclass(frozen=True)
class Mirror:
    """How to start our command with all flags about offsets on, and short intervals."""

    topic: str
    group: str
    aliases: Mapping[str, str]
    start: Callable[..., ToolProcess]

    @property
    def checkpoints_topic(self) -> str:
        return f"{self.aliases['source.cluster.alias']}.checkpoints.internal"

    @property
    def syncs_topic(self) -> str:
        return f"mm2-offset-syncs.{self.aliases['target.cluster.alias']}.internal"


@pytest.fixture
def mirror(source: Cluster, target: Cluster, our_tool: Callable[..., ToolProcess], group: str, topic: Any) -> Mirror:
    """Aliases of its own, so that no other test's topics are read."""
    name = topic("offsets")
    aliases = {"source.cluster.alias": f"west{name[-8:]}", "target.cluster.alias": f"east{name[-8:]}"}
    flags = {
        "topic.creation": "true",
        "emit.offset-syncs.enabled": "true",
        "offset.lag.max": "10",
        "emit.checkpoints.enabled": "true",
        "emit.checkpoints.interval.seconds": "1",
        "sync.group.offsets.enabled": "true",
        "sync.group.offsets.interval.seconds": "1",
        "groups": f"reader-{name}.*,{group}",
    }

    def start(*options: str, topics: str = name, others: Mapping[str, str] | None = None) -> ToolProcess:
        reading = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
        written = {"bootstrap.servers": target.bootstrap, **aliases, **flags, **(others or {})}
        return our_tool(reading, written, "--whitelist", topics, *options)

    return Mirror(name, group, aliases, start)


def check_metrics(mirror: Mirror, source: Cluster, target: Cluster, tool: ToolProcess, port: int) -> None:
    """MirrorMaker 2's beans, and what it never had at /metrics, against what is on both clusters."""
    name = mirror.topic
    flow = ",".join(f"{side}={mirror.aliases[f'{side}.cluster.alias']}" for side in ("source", "target"))
    write(source, name, "measured", 1)
    copied = read_all(source.bootstrap, name)
    values = {number: rest(copied, number, 0) for number in range(PARTITIONS)}
    beans: MBeans = {}

    def bean(kind: str, number: int, group: str = "") -> dict[str, float]:
        found = beans.get(f"kafka.connect.mirror:type={kind},{flow}{group},topic={name},partition={number}", {})
        return {attribute: each.number for attribute, each in found.items()}

    def all_counted() -> bool:
        beans.clear()
        beans.update(read_mbeans(java_pid(tool)))
        counts = [bean("MirrorSourceConnector", number).get("record-count") for number in values]
        return counts == [len(found) for found in values.values()]

    wait_until(all_counted, SECONDS, "all records in the beans")
    for number, found in values.items():
        one = bean("MirrorSourceConnector", number)
        assert one["byte-count"] == sum(len(value or b"") for value in found)
        assert one["record-rate"] > 0 and one["byte-rate"] > 0
        for ages in ("record-age-ms", "replication-latency-ms"):
            assert 0 <= one[f"{ages}-min"] <= one[f"{ages}-avg"] <= one[f"{ages}-max"], one
        assert one["replication-latency-ms"] >= one["record-age-ms"], "it is acknowledged after it is read"
        assert bean("MirrorCheckpointConnector", number, f",group=reader-{name}")["checkpoint-latency-ms"] > 0
    assert sum(each.startswith("kafka.connect.mirror:") and "source=" in each for each in beans) == 2 * PARTITIONS

    def told() -> bool:
        """What there is without a failure and without a lag."""
        samples = scrape(port)
        checkpoints = read_all(target.bootstrap, mirror.checkpoints_topic)
        syncs = read_all(source.bootstrap, mirror.syncs_topic)
        shown = {metric: total(samples, f"legacy_mm_mirror_{metric}") for metric in METRICS}
        wanted = dict(zip(METRICS, (len(copied), 0, len(checkpoints), len(syncs), 0), strict=True))
        lags = samples.get("legacy_mm_mirror_partition_lag_seconds", {})
        differences.append((len(lags), shown, wanted))
        return len(lags) == PARTITIONS and shown == wanted

    differences: list[object] = []
    try:
        wait_until(told, SECONDS, "all that is written, at /metrics")
    except TimeoutError:
        raise AssertionError(differences[-1]) from None
    assert total(scrape(port), "legacy_mm_mirror_offsets_groups_synced_total") >= 2


def wait_to_go_on(source: Cluster, target: Cluster, reader: str, topic: str, what: str) -> None:
    """Wait until the reader's offsets at the target leave to be read what its offsets at the source do."""
    seen: dict[str, object] = {}

    def goes_on() -> bool:
        here, there = (committed(cluster.bootstrap, reader, [topic]) for cluster in (source, target))
        old, new = (read_all(cluster.bootstrap, topic) for cluster in (source, target))
        seen.update({"source": here, "target": there, "records": (len(old), len(new))})
        return there.keys() == here.keys() and all(
            rest(old, place[1], here[place]) == rest(new, place[1], there[place]) for place in here
        )

    try:
        wait_until(goes_on, SECONDS, what)
    except TimeoutError as error:
        raise AssertionError(f"{error}; {seen}") from None


def checkpoints_of(mirror: Mirror, target: Cluster) -> list[Checkpoint]:
    """All of them, those of one place in their order."""
    return sorted(
        (Checkpoint.decode(each.key, each.value) for each in read_all(target.bootstrap, mirror.checkpoints_topic)),
        key=lambda each: each[:3],
    )


@pytest.mark.slow
def test_what_is_known_of_offsets_moves_with_the_partitions(mirror: Mirror, source: Cluster, target: Cluster) -> None:
    """A second process takes some of the partitions over, then all of them."""
    name = mirror.topic
    reader = f"reader-{name}"
    create_topic(source.bootstrap, name, PARTITIONS)
    write(source, name, "first", 20)
    commit(source, reader, {(name, number): 31 for number in range(PARTITIONS)})
    follow = partial(wait_to_go_on, source, target, reader, name)
    with mirror.start() as one:
        follow("the group at the target")
        with mirror.start() as other:
            wait_until(lambda: members(source.bootstrap, mirror.group) == 2, SECONDS, "both in the group")
            write(source, name, "second", 5)
            commit(source, reader, {(name, number): 37 + number for number in range(PARTITIONS)})
            follow("the group, with two processes")
            assert one.stop(SECONDS) == 143
            write(source, name, "third", 5)
            commit(source, reader, {(name, number): 45 + number for number in range(PARTITIONS)})
            follow("the group, with the other process")
            assert other.stop(SECONDS) == 143


@pytest.mark.slow
def test_groups_that_lag_return_and_come_late(mirror: Mirror, source: Cluster, target: Cluster) -> None:
    """As Apache's own tests have it: a lag of 0, syncs at the target, a partition that gets its first records later, a
    topic that comes later, a restart, a group that goes back, and one that is deleted.
    """
    name, later = mirror.topic, f"{mirror.topic}-later"
    reader, leaver, end = f"reader-{name}", f"reader-{name}-leaves", 40 * 6
    start = partial(mirror.start, topics=f"{name}.*", others=AT_THE_TARGET)
    follow = partial(wait_to_go_on, source, target, reader)
    places = [(name, number) for number in range(PARTITIONS)]

    def stands(at: int) -> bool:
        """The last checkpoints of the reader are of this offset."""
        last = {each.partition: each.upstream for each in checkpoints_of(mirror, target) if each[:2] == (reader, name)}
        return [last.get(number) for _, number in places] == [at] * PARTITIONS

    create_topic(source.bootstrap, name, PARTITIONS + 1)
    write(source, name, "first", 40)
    commit(source, reader, {**dict.fromkeys(places, 0), (name, PARTITIONS): 0})
    commit(source, leaver, {(name, 0): end})
    with start() as tool:
        for offset in (0, end // 2, end * 9 // 10):
            commit(source, reader, dict.fromkeys(places, offset))
            wait_until(partial(stands, offset), SECONDS, f"checkpoints at {offset}")
        wait_until(lambda: committed(target.bootstrap, leaver, [name]), SECONDS, "the other group")
        assert tool.stop(SECONDS) == 143
    idle = [(each.upstream, each.downstream) for each in checkpoints_of(mirror, target) if each.partition == PARTITIONS]
    assert {*idle} <= {(0, 0)}, "a partition that holds no record: the begin of its copy"

    left = committed(target.bootstrap, leaver, [name])
    admin = AdminClient({"bootstrap.servers": source.bootstrap})
    admin.delete_consumer_groups([leaver])[leaver].result(SECONDS)
    load(source.bootstrap, name, 400, 20, partitions=PARTITIONS + 1)
    create_topic(source.bootstrap, later, PARTITIONS)
    write(source, later, "later", 4)
    commit(source, reader, {**dict.fromkeys(places, end), (name, PARTITIONS): 2, (later, 0): 7})
    with start() as tool:
        for topic in (name, later):
            follow(topic, f"the group in {topic}")
        before = committed(target.bootstrap, reader, [name])
        commit(source, reader, dict.fromkeys(places, end // 10))
        wait_until(partial(stands, end // 10), SECONDS, "checkpoints of a group that went back")
        commit(source, reader, {(later, 0): 9})
        follow(later, "a round after that")
        assert committed(target.bootstrap, reader, [name]) == before, "the target's group never goes back"
        assert tool.stop(SECONDS) == 143
    assert committed(target.bootstrap, leaver, [name]) == left, "nothing is deleted at the target"
    for one, other in pairwise(checkpoints_of(mirror, target)):
        if one[:3] == other[:3]:
            assert other.downstream > one.downstream or other.upstream < one.upstream
    assert f"mm2-offset-syncs.{mirror.aliases['source.cluster.alias']}.internal" in list_topics(target.bootstrap)
    assert mirror.syncs_topic not in list_topics(source.bootstrap)


def left_by_the_handler(values: list[bytes | None]) -> list[bytes | None]:
    """What `HANDLER` makes of them."""
    made: list[bytes | None] = []
    for value in values:
        number = (value or b"").rsplit(b"-", 1)[-1]
        made += [] if number in (b"3", b"8") else [value, value] if number == b"4" else [value]
    return made


@pytest.mark.slow
def test_a_group_goes_on_behind_a_handler_that_drops_and_doubles(
    mirror: Mirror, source: Cluster, target: Cluster, tmp_path: Path
) -> None:
    """Where it stands at a record that was doubled, at one that was dropped, and at the end."""
    name, script = mirror.topic, tmp_path / "handler.py"
    reader = f"reader-{name}"
    script.write_text(HANDLER)
    create_topic(source.bootstrap, name, PARTITIONS)
    write(source, name, "first", 20)

    def follows() -> bool:
        here, there = (committed(cluster.bootstrap, reader, [name]) for cluster in (source, target))
        old, new = (read_all(cluster.bootstrap, name) for cluster in (source, target))
        return there.keys() == here.keys() and all(
            left_by_the_handler(rest(old, place[1], here[place])) == rest(new, place[1], there[place]) for place in here
        )

    with mirror.start("--message.handler", str(script)) as tool:
        for at in (0, 1, 2, 31, 32, 46, 120):
            commit(source, reader, {(name, number): at for number in range(PARTITIONS)})
            wait_until(follows, SECONDS, f"the group that stands at {at}")
        assert tool.stop(SECONDS) == 143
    assert "WARN [group-offsets]" not in tool.output()


def test_a_group_goes_on_at_the_target_without_a_gap_and_without_a_repeat(
    mirror: Mirror, source: Cluster, target: Cluster, new_port: Callable[[], int]
) -> None:
    """Also after a restart, also where the group stands at a marker, and at the very end."""
    name = mirror.topic
    reader = f"reader-{name}"
    create_topic(source.bootstrap, name, PARTITIONS)
    write(source, name, "first", 20)
    commit(source, reader, {(name, 0): 0, (name, 1): 47, (name, 2): 120})

    follow = partial(wait_to_go_on, source, target, reader, name)
    port = new_port()
    with mirror.start("--metrics.port", str(port), "--log.level", "INFO") as tool:
        follow("the group at the target")
        write(source, name, "second", 3)
        commit(source, reader, {(name, 0): 9, (name, 1): 137, (name, 2): 124})
        follow("the group at the target once more")
        check_metrics(mirror, source, target, tool, port)
        assert tool.stop(SECONDS) == 143
    commit(source, reader, {(name, 0): 23})
    with mirror.start() as tool:
        follow("the group after a restart")
        assert tool.stop(SECONDS) == 143
    assert "WARN [group-offsets]" not in tool.output()

    checkpoints = checkpoints_of(mirror, target)
    assert {(each.group, each.topic) for each in checkpoints} == {(reader, name)}, "not the mirror's own group"
    for cluster, internal in ((target, mirror.checkpoints_topic), (source, mirror.syncs_topic)):
        assert overrides(cluster.bootstrap, internal) == {"cleanup.policy": "compact"}
        assert {each.partition for each in read_all(cluster.bootstrap, internal)} == {0}
    old, new = (
        {(each.partition, each.offset): each.value for each in read_all(cluster.bootstrap, name)}
        for cluster in (source, target)
    )
    for each in read_all(source.bootstrap, mirror.syncs_topic):
        sync = OffsetSync.decode(each.key, each.value)
        assert old[sync.partition, sync.upstream] == new[sync.partition, sync.downstream]
