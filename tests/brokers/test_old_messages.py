"""From and to brokers that keep messages of format 0 and 1; the engine alone, in the test's process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from compat.laboratory.releases import HANDLERS_0_9, HANDLERS_0_10
from compat.laboratory.zookeeper import ZooKeeperCluster
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.load import finish
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.settings import HandlerSettings
from tests.fixtures.copying import Start

pytestmark = [pytest.mark.brokers, pytest.mark.slow]
WITHOUT_VERSIONS = {"api.version.request": False, "broker.version.fallback": HANDLERS_0_9}
"""What librdkafka has to be told of a broker of 0.9."""
CODECS = ("none", "gzip", "snappy", "lz4")
PARTITIONS, COUNT = 4, 400
START = 1_700_000_000_000
SECONDS = 60.0
OF_BROKERS = {"message.max.bytes": "1048588", "replica.fetch.max.bytes": "1048588"}
HANDLER = """
from legacy_mm.handlers.api import MessageHandler


class Keep(MessageHandler):
    def handle(self, record):
        assert (record.timestamp_type == 0) == (record.timestamp == -1)
        return [record.to(record.topic)]
"""


class Content(NamedTuple):
    """Of a record; no time where there is none."""

    partition: int
    key: bytes | None
    value: bytes | None
    time: int | None


@pytest.fixture(scope="module", params=[HANDLERS_0_9, HANDLERS_0_10])
def old(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZooKeeperCluster]:
    folder = tmp_path_factory.mktemp("old")
    with ZooKeeperCluster(folder, release=request.param, properties=OF_BROKERS) as cluster:
        yield cluster


@pytest.fixture(params=[False, True], ids=["plain", "handler"])
def handler(request: pytest.FixtureRequest, tmp_path: Path) -> HandlerSettings | None:
    if not request.param:
        return None
    script = tmp_path / "keep.py"
    script.write_text(HANDLER)
    return HandlerSettings(f"{script}:Keep")


def client(cluster: Any) -> dict[str, Any]:
    is_0_9 = isinstance(cluster, ZooKeeperCluster) and cluster.release.version == HANDLERS_0_9
    return {"bootstrap.servers": cluster.bootstrap, **(WITHOUT_VERSIONS if is_0_9 else {})}


def write(cluster: Any, topic: str, codec: str, sizes: Mapping[int, int] = {}) -> None:
    """Records of every shape that such brokers know; those in `sizes` have a value of so many bytes."""
    producer = Producer({**client(cluster), "compression.type": codec, "linger.ms": 50})
    for number in range(COUNT):
        key = (b"key-%d" % number, None, b"")[number % 3]
        value = None if number % 7 == 3 else b"%d " % number * (number % 20)
        value = b"v" * sizes[number] if number in sizes else value
        producer.produce(topic, value, key, partition=number % PARTITIONS, timestamp=START + number)
    finish(producer)


def read(cluster: Any, topic: str, count: int = COUNT) -> list[Content]:
    """Of each partition in its order."""
    consumer = Consumer({**client(cluster), "group.id": "reader", "fetch.message.max.bytes": 2 << 20})
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in range(PARTITIONS)])
    found: list[Any] = []

    def all_of_them() -> bool:
        found.extend(message for message in consumer.consume(1_000, 0.2) if message.error() is None)
        return len(found) >= count

    try:
        wait_until(all_of_them, SECONDS, f"{count} records of {topic}")
    finally:
        consumer.close()
    assert len(found) == count
    contents = [
        Content(m.partition(), m.key(), m.value(), m.timestamp()[1] if m.timestamp()[0] else None) for m in found
    ]
    return sorted(contents, key=lambda content: content.partition)


def by_key(contents: list[Content], *, timed: bool) -> dict[bytes | None, list[Any]]:
    """The order that a copy keeps is that of each key.

    Records without one go anywhere, and those with an empty one lay in several partitions.
    """
    found: dict[bytes | None, list[Any]] = {}
    for content in contents:
        value = (content.value is None, content.value or b"")
        found.setdefault(content.key, []).append((value, content.time if timed else None))
    for rows in (found[key] for key in found.keys() & {None, b""}):
        rows.sort()
    return found


def same(source: Any, target: Any, topic: str, *, timed: bool) -> None:
    assert by_key(read(source, topic), timed=timed) == by_key(read(target, topic), timed=timed), topic


def test_from_an_old_broker(
    old: ZooKeeperCluster, target: Any, topic: Any, start_copying: Start, handler: HandlerSettings | None
) -> None:
    names = {topic(codec): codec for codec in CODECS}
    for name, codec in names.items():
        write(old, name, codec, {7: 300_000, 8: 300_000})
        create_topic(target.bootstrap, name, PARTITIONS)
    small = {"max.partition.fetch.bytes": "10000"}
    copying = start_copying(
        old.bootstrap,
        target.bootstrap,
        "",
        PARTITIONS,
        names={name: name for name in names},
        consumer=small,
        handler=handler,
    )
    copying.wait_safe(COUNT * len(names))
    assert copying.stop() == {}
    for name in names:
        same(old, target, name, timed=old.release.version != HANDLERS_0_9)
        if old.release.version == HANDLERS_0_9:
            assert all(content.time > START + COUNT for content in read(target, name) if content.time)


def test_to_an_old_broker(
    old: ZooKeeperCluster, source: Any, topic: Any, start_copying: Start, handler: HandlerSettings | None
) -> None:
    names = {topic(codec): codec for codec in (*CODECS, "zstd")}
    for name, codec in names.items():
        create_topic(source.bootstrap, name, PARTITIONS)
        write(source, name, codec, {7: 300_000, 8: 300_000})
    copying = start_copying(
        source.bootstrap,
        old.bootstrap,
        "",
        PARTITIONS,
        names={name: name for name in names},
        producer={"enable.idempotence": "false", "max.in.flight.requests.per.connection": "1"},
        handler=handler,
    )
    copying.wait_safe(COUNT * len(names))
    assert copying.stop() == {}
    for name in names:
        same(source, old, name, timed=old.release.version != HANDLERS_0_9)


@pytest.mark.parametrize("format_version", ["0.9.0", "0.10.2"])
def test_from_a_topic_of_an_old_format(
    target: Any, topic: Any, start_copying: Start, tmp_path: Path, format_version: str
) -> None:
    """On a broker that knows record batches, which follow in the same log after the format has changed."""
    with ZooKeeperCluster(tmp_path, release="2.8.2", properties=OF_BROKERS) as cluster:
        name = topic()
        create_topic(cluster.bootstrap, name, PARTITIONS, config={"message.format.version": format_version})
        write(cluster, name, "gzip")
        create_topic(target.bootstrap, name, PARTITIONS)
        copying = start_copying(cluster.bootstrap, target.bootstrap, name, PARTITIONS)
        copying.wait_safe(COUNT)
        assert copying.stop() == {}
        same(cluster, target, name, timed=format_version != "0.9.0")


@pytest.mark.spark
@pytest.mark.parametrize("old", [HANDLERS_0_9], indirect=True)
@pytest.mark.parametrize("is_source", [True, False], ids=["from", "to"])
def test_the_whole_tool_with_a_broker_of_0_9(
    old: ZooKeeperCluster, source: Any, target: Any, topic: Any, group: str, our_mirror: Any, is_source: bool
) -> None:
    """Its coordinator takes sessions of 30 s at most."""
    read_from, written_to = (old, target) if is_source else (source, old)
    name = topic()
    create_topic((target if is_source else source).bootstrap, name, PARTITIONS)
    write(read_from, name, "gzip")
    told = {"session.timeout.ms": "30000"} if is_source else {}
    tool = our_mirror(
        {"bootstrap.servers": read_from.bootstrap, "group.id": group, "auto.offset.reset": "earliest", **told},
        {"bootstrap.servers": written_to.bootstrap},
        *("--whitelist", name),
    )
    same(read_from, written_to, name, timed=False)
    assert tool.stop(SECONDS) == 143, tool.output()
