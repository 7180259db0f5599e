"""An appender without brokers, and batches that are under way."""

from __future__ import annotations

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net.buffer_pool import BufferPool
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce.append_options import options_from
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.protocol.produce_messages import Appended
from tests.fakes.cluster import FakeCluster
from tests.fixtures import client_settings
from tests.unit.protocol.batches import Row, build

PLACE = TopicPartition("t", 0)
NOW = epoch_ms()


def make(pool: BufferPool | None = None, *, sets_aside: bool = False, **properties: str) -> BatchAppender:
    """`properties`: with _ for a dot."""
    known = {name.replace("_", "."): text for name, text in properties.items()}
    options = options_from(client_settings.read_producer(known), sets_aside=sets_aside)
    return BatchAppender(FakeCluster(), options, Traffic("producer", print), pool)


def sent(appender: BatchAppender) -> ProducerBatch:
    """A batch that is under way."""
    appender.append(PLACE, build([Row(0, NOW, b"k", b"v"), Row(1, NOW, b"k", b"w")]), "opaque")
    return appender._queues[PLACE].begin()


def fail(appender: BatchAppender, entry: ProducerBatch, error: int) -> None:
    with appender.lock:
        appender.failed(entry, Appended(PLACE, error, -1, "as it is", {}) if error else None)
