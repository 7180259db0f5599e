"""A cluster of one broker that needs no socket, and a fetcher that its tests ask and answer themselves."""

from __future__ import annotations

from typing import Any, cast

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Started
from legacy_mm.clients.fetch.fetch_reader import FetchReader
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.protocol.fetch_messages import FetchedPartition, FetchOptions
from tests.unit.protocol.batches import NOW, Row, build, changed

A, B, C = (TopicPartition("t", number) for number in range(3))
NODE, OTHER = 1, 2
UNKNOWN, OUT_OF_RANGE, CORRUPT, NOT_LEADER, NOT_AUTHORIZED = -1, 1, 2, 6, 29
SECONDS = 10.0
OPTIONS = FetchOptions(500, 1, 1 << 20, 1 << 18, committed_only=False, rack="")


class Unattended(Fetcher):
    """Starts no readers: the tests ask and answer themselves."""

    def _attend(self) -> None: ...


def reader_of(fetcher: Fetcher) -> FetchReader:
    return FetchReader(NODE, fetcher.cluster, fetcher.options, fetcher.traffic)


def batch_at(offset: int, count: int = 3, epoch: int = -1) -> bytes:
    batch = build([Row(number, NOW, b"k", b"v") for number in range(count)], base_offset=offset)
    return bytes(changed(batch, leader_epoch=epoch).buffer)


def answer(partition: TopicPartition, records: bytes = b"", error: int = 0, replica: int = -1) -> FetchedPartition:
    return FetchedPartition(partition, error, 90, 90, 10, (), replica, memoryview(bytearray(records)))


def asked(fetcher: Fetcher, node: int = NODE) -> list[Any]:
    return fetcher.wait_for_work(node, 0.0)


def taken(fetcher: Fetcher) -> Any:
    """What there is to take at once; nothing is lent meanwhile."""
    return fetcher.take(0.0, print)


def partitions(wanted: list[Any]) -> list[TopicPartition]:
    return [want.partition for want in wanted]


def next_started(fetcher: Fetcher) -> Started:
    """What the thread finds that looks for leaders."""
    wait_until(lambda: bool(fetcher._started), SECONDS, "a start")
    return cast(Started, fetcher.take_started())
