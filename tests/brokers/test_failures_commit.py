"""What ends a mirror with 255 leaves committed what was copied before it: a supervisor's next start repeats nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, partition_of, read_all
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster as Connections
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce.append_options import options_from
from legacy_mm.clients.produce.appender import BatchAppender
from tests.fixtures import client_settings
from tests.unit.protocol.batches import Latin, Row, build

pytestmark = pytest.mark.brokers
SECONDS, PARTITIONS, BEFORE, AFTER = 60.0, 3, 40, 20
SCRIPT = """
def handle(record):
    if record.value == b"bad":
        raise ValueError("is bad")
    return [record.to(record.topic)]
"""


@pytest.fixture
def name(topic: Callable[[str], str], source: Cluster, target: Cluster) -> str:
    """A topic of the source, and its copy, which takes little batches."""
    made = topic("ends")
    create_topic(source.bootstrap, made, PARTITIONS, config={"max.message.bytes": "5000000"})
    create_topic(target.bootstrap, made, PARTITIONS, config={"max.message.bytes": "100000"})
    return made


def write(source: Cluster, name: str, bad: bytes) -> tuple[int, int]:
    """Records of each partition, by key, and a bad one in a batch of its own; return its partition and offset."""
    writer = Producer(
        {"bootstrap.servers": source.bootstrap, "partitioner": "murmur2_random", "message.max.bytes": 5_000_000}
    )
    places: list[tuple[int | None, int | None]] = []

    def load(count: int) -> None:
        for number in range(count):
            writer.produce(name, b"%d" % number, b"k%d" % number)
        assert writer.flush(30) == 0

    load(BEFORE)
    writer.produce(name, bad, b"k0", on_delivery=lambda _, sent: places.append((sent.partition(), sent.offset())))
    assert writer.flush(30) == 0
    load(AFTER)
    ((partition, offset),) = places
    assert partition is not None
    assert offset, "records come before it"
    return partition, offset


Words = tuple[dict[str, str], dict[str, str], list[str]]


def run(start: Callable[..., ToolProcess], words: Words) -> ToolProcess:
    consumer, producer, line = words
    tool = start(consumer, producer, *line)
    assert tool.wait(SECONDS) == 255, tool.output()
    return tool


def words(source: Cluster, target: Cluster, name: str, group: str, *more: str, **producer: str) -> Words:
    read = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    written = {"bootstrap.servers": target.bootstrap} | {key.replace("_", "."): text for key, text in producer.items()}
    return read, written, ["--whitelist", name, *more]


def check(source: Cluster, target: Cluster, name: str, group: str, bad: tuple[int, int]) -> None:
    """All before the record is committed, nothing behind it, and nothing has come twice."""
    reached = committed(source.bootstrap, group, [name])
    partition, offset = bad
    assert reached[name, partition] == offset
    assert sum(end_offsets(target.bootstrap, name).values()) == sum(reached.values())


@pytest.mark.parametrize("limit", ["the target's", "our own"])
def test_a_record_that_cannot_be_sent(
    source: Cluster, target: Cluster, name: str, group: str, our_mirror: Callable[..., ToolProcess], limit: str
) -> None:
    """`max.message.bytes` of the topic, and `max.request.size` of the producer, which is asked before it is sent."""
    bad = write(source, name, bytes(400_000))
    line = words(source, target, name, group, **({"max_request_size": "200000"} if limit == "our own" else {}))
    for _ in range(3):
        tool = run(our_mirror, line)
        assert f"Error when sending message to topic {name} with key: 2 bytes, value: 400000 bytes" in tool.output()
        place = f"Not sent to topic {name}: {name}-{bad[0]} at offset {bad[1]}, a record of 20"
        assert place in tool.output()
        remedy = "max.request.size of the producer" if limit == "our own" else f"max.message.bytes of topic {name}"
        assert f"copying ends there. To mend it raise {remedy}" in tool.output()
        check(source, target, name, group, bad)


def test_a_handler_that_fails(
    source: Cluster, target: Cluster, name: str, group: str, our_mirror: Callable[..., ToolProcess], tmp_path: Path
) -> None:
    bad = write(source, name, b"bad")
    script = tmp_path / "picky.py"
    script.write_text(SCRIPT)
    line = words(source, target, name, group, "--message.handler", str(script))
    for _ in range(3):
        assert "ValueError: is bad" in run(our_mirror, line).output()
        check(source, target, name, group, bad)


def write_unreadable(source: Cluster, name: str) -> tuple[int, int]:
    """A batch of records around one that is too large and has a header whose name is no text; return its place."""
    properties = {"bootstrap.servers": source.bootstrap, "enable.idempotence": "false", "max.request.size": "5000000"}
    cluster = Connections(client_settings.read_connection(properties), SECONDS)
    cluster.metadata.watch([name])
    options = options_from(client_settings.read_producer(properties))
    appender = BatchAppender(cluster, options, Traffic("producer", print))
    rows = [Row(number, epoch_ms(), b"k0", b"%d" % number) for number in range(5)]
    rows[2] = Row(2, epoch_ms(), b"k0", bytes(400_000), [(Latin("größe"), b"x")])
    place = TopicPartition(name, partition_of(b"k0", PARTITIONS))
    appender.start()
    try:
        appender.append(place, build(rows), "the batch")
        wait_until(lambda: appender.wait_empty(0.1), SECONDS, "the batch at the source")
        ((_, base_offset),) = appender.take_acknowledged()
    finally:
        appender.purge()
        cluster.close()
    return place.partition, base_offset + 2


def test_a_record_that_cannot_be_set_aside(
    source: Cluster, target: Cluster, name: str, group: str, our_mirror: Callable[..., ToolProcess], tmp_path: Path
) -> None:
    """What stands before it in its batch is committed, too."""
    write(source, name, b"small enough")
    bad = write_unreadable(source, name)
    flags = ("--send.on.error", "quarantine", "--quarantine.file", str(tmp_path / "aside"))
    for _ in range(2):
        told = run(our_mirror, words(source, target, name, group, *flags)).output()
        assert f"{name}-{bad[0]} at offset {bad[1]} " in told
        assert "cannot be set aside as it is: it has a header whose name is not UTF-8" in told
        check(source, target, name, group, bad)


def test_exactly_once(
    source: Cluster, target: Cluster, name: str, group: str, our_mirror: Callable[..., ToolProcess]
) -> None:
    """The transaction with the record is given up; what a committed reader sees is what is committed."""
    partition, offset = write(source, name, bytes(400_000))
    line = words(source, target, name, group, "--exactly.once", "true")
    for _ in range(2):
        run(our_mirror, line)
        reached = committed(source.bootstrap, group, [name])
        assert reached.get((name, partition), 0) <= offset
        wait_until(partial(seen, target, name, sum(reached.values())), SECONDS, "the markers of what was committed")


def seen(cluster: Cluster, topic: str, count: int) -> bool:
    """So many records, by a committed reader."""
    return len(read_all(cluster.bootstrap, topic, isolation="read_committed")) == count
