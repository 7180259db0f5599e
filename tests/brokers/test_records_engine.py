"""What only librdkafka's way between two real brokers can show."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, end_offsets, grow_topic
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.clients.native.append_options import options_from
from legacy_mm.clients.native.appender import BatchAppender
from legacy_mm.clients.native.cluster import Cluster
from legacy_mm.clients.native.traffic import Traffic
from legacy_mm.config import property_names
from legacy_mm.config.settings import HandlerSettings
from legacy_mm.control_channel.frames import Progress
from legacy_mm.dataplane.native_reader import NativeReader
from legacy_mm.dataplane.send_failure import BatchRefused
from legacy_mm.errors import EngineUnfit, StreamFailure
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.single_record import SingleRecord, batch_of
from tests.fixtures.copying import PATIENCE, Start
from tests.unit.protocol.batches import Latin

pytestmark = pytest.mark.brokers
KEEP = HandlerSettings("", steps=("keep.partition",))


@pytest.fixture
def name(topic: Callable[[], str]) -> str:
    return topic()


@pytest.mark.parametrize("exists", [True, False], ids=["too small", "made by the broker"])
def test_a_partition_that_a_handler_names_is_waited_for(
    source: Any, target: Any, name: str, start_copying: Start, exists: bool
) -> None:
    """As Java's producer waits for metadata with it; librdkafka would refuse the record at once."""
    create_topic(source.bootstrap, name, partitions=6)
    load(source.bootstrap, name, 3_000, 100, partitions=6)
    if exists:
        create_topic(target.bootstrap, name, partitions=2)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 6, engine="records", handler=KEEP)
    wait_until(lambda: any(progress.blocked for progress in copying.of(Progress)), PATIENCE, "it to wait")
    grow_topic(target.bootstrap, name, 6)
    copying.wait_safe(3_000)
    assert copying.stop() == {}
    assert end_offsets(target.bootstrap, name) == end_offsets(source.bootstrap, name)


def test_a_topic_that_takes_no_large_batches_gets_smaller_ones(
    source: Any, target: Any, name: str, start_copying: Start
) -> None:
    """The target refuses librdkafka's batch, and takes each of its records; smaller batches follow."""
    create_topic(source.bootstrap, name, partitions=1)
    create_topic(target.bootstrap, name, partitions=1, config={"max.message.bytes": "20000"})
    load(source.bootstrap, name, 1_000, 1_000, partitions=1)
    copying = start_copying(source.bootstrap, target.bootstrap, name, 1, engine="records")
    wait_until(copying.over, PATIENCE, "the refusal")
    assert isinstance(copying.error, BatchRefused)
    assert (copying.error.batch_bytes, copying.safe, copying.dropped()) == (1_000_000, {}, 0)
    copying = start_copying(
        source.bootstrap, target.bootstrap, name, 1, engine="records", producer={"librdkafka.batch.size": "16384"}
    )
    copying.wait_safe(1_000)
    assert copying.stop() == {}


@pytest.mark.parametrize("handler", [None, KEEP], ids=["plain", "handler"])
def test_a_header_that_the_client_cannot_read_is_named(
    source: Any, target: Any, name: str, start_copying: Start, handler: Any
) -> None:
    create_topic(source.bootstrap, name, partitions=1)
    cluster = Cluster(property_names.read_connection({"bootstrap.servers": source.bootstrap}), PATIENCE)
    cluster.watch([name])
    appender = BatchAppender(
        cluster, options_from(property_names.read_producer({"enable.idempotence": "false"})), Traffic("producer", print)
    )
    for header in ("plain", Latin("größe")):
        batch = batch_of([SingleRecord(1, b"k", b"v", ((header, b"x"),))], Codec.NONE)
        appender.append(TopicPartition(name, 0), batch, None)
    wait_until(lambda: appender.wait_empty(0.1), PATIENCE, "the records")
    appender.purge()
    cluster.close()
    copying = start_copying(source.bootstrap, target.bootstrap, name, 1, engine="records", handler=handler)
    wait_until(copying.over, PATIENCE, "the end")
    assert isinstance(copying.error, StreamFailure)
    assert f"{name}-0 at offset 1 has a header whose name is not UTF-8 ('utf-8' codec can't" in str(copying.error)


def test_what_our_sockets_leave_to_librdkafka_is_copied_once(
    source: Any, target: Any, name: str, start_copying: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was handed over is at the target before the reader gives up, and safe."""
    create_topic(target.bootstrap, name, partitions=4)
    load(source.bootstrap, name, 20_000, 100, batch_bytes=400)
    usual, opened = NativeReader._fields, count()

    def few(reader: NativeReader, batch: Any, begin: int) -> Any:
        if next(opened) > 2:
            raise EngineUnfit("a batch that our sockets cannot read")
        return usual(reader, batch, begin)

    monkeypatch.setattr(NativeReader, "_fields", few)
    little = {"max.partition.fetch.bytes": "20000"}
    copying = start_copying(source.bootstrap, target.bootstrap, name, 4, engine="records", begin=0, consumer=little)
    wait_until(copying.over, PATIENCE, "the end")
    assert isinstance(copying.error, EngineUnfit)
    assert "a batch that our sockets cannot read" in str(copying.error)
    copied = sum(end_offsets(target.bootstrap, name).values())
    assert 0 < copied == sum(copying.safe.values()) < 20_000
    begin = dict.fromkeys(copying.config.offsets, 0) | copying.safe
    rest = start_copying(source.bootstrap, target.bootstrap, name, 4, engine="records", wire_source=False, begin=begin)
    wait_until(lambda: sum(end_offsets(target.bootstrap, name).values()) >= 20_000, PATIENCE, "the rest")
    assert rest.stop() == {}
    assert end_offsets(target.bootstrap, name) == end_offsets(source.bootstrap, name)
