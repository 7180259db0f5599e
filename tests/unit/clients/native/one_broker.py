"""A cluster of one broker that needs no socket, and a fetcher that its tests ask and answer themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

from legacy_mm.audit.waiting import wait_until
from legacy_mm.clients.native.connection_errors import UnsupportedVersion
from legacy_mm.clients.native.fetcher import Fetcher
from legacy_mm.clients.native.topology import Broker, Leadership
from legacy_mm.control_channel.frames import Started
from legacy_mm.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.protocol.fetch_messages import FetchedPartition, FetchOptions
from tests.unit.protocol.batches import NOW, Row, build, changed

A, B, C = (TopicPartition("t", number) for number in range(3))
NODE, OTHER = 1, 2
UNKNOWN, OUT_OF_RANGE, CORRUPT, NOT_LEADER, NOT_AUTHORIZED = -1, 1, 2, 6, 29
SECONDS = 10.0
OPTIONS = FetchOptions(500, 1, 1 << 20, 1 << 18, committed_only=False, rack="")


class OneBroker:
    """A cluster whose one broker leads everything, with logs from 10 to 90."""

    def __init__(self) -> None:
        self.found_stale = 0
        self.epoch = 4
        self.error = 0
        self.epoch_ends = 90
        self.topic_id = self.new_id = "first"
        self.refreshed_by: list[int | None] = []
        self.on_question: dict[int, str] = {}
        self.too_old = False
        self.compared: list[tuple[int, int]] = []
        self.leaderless: set[TopicPartition] = set()
        self.asked_again, self.answers = Event(), Event()
        self.answers.set()

    def watch(self, topics: Iterable[str], *, create: bool = False) -> None:
        """Nothing to do."""

    def leader(self, partition: TopicPartition) -> Broker | None:
        return None if partition in self.leaderless else Broker(NODE, "host", 1, None)

    def leaders(self) -> dict[TopicPartition, Leadership]:
        return dict.fromkeys((A, B, C), Leadership(NODE, self.epoch))

    def leader_epoch(self, partition: TopicPartition) -> int:
        return self.epoch

    def topic_ids(self) -> dict[str, object]:
        return {"t": self.topic_id}

    def refresh(self, node: int | None = None) -> None:
        """From now on the id is known that the topic has by now."""
        self.refreshed_by.append(node)
        self.topic_id = self.new_id

    def call(self, node: int, request: Any) -> Any:
        """The end of an epoch's records in the log of the leader of now."""
        if self.too_old:
            raise UnsupportedVersion("OffsetForLeaderEpoch")
        rows = [row for topic in request.topics for row in topic.partitions]
        self.compared += [(row.partition, row.leader_epoch) for row in rows]
        answers = [
            SimpleNamespace(partition=row.partition, error_code=self.error, end_offset=self.epoch_ends) for row in rows
        ]
        return SimpleNamespace(topics=[SimpleNamespace(topic="t", partitions=answers)])

    def stale(self) -> None:
        self.found_stale += 1

    def offsets(self, partitions: Collection[TopicPartition], which: int) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, {EARLIEST: 10, LATEST: 90}[which])

    def offsets_of_led(
        self, partitions: Collection[TopicPartition], which: int, *, patient: bool
    ) -> dict[TopicPartition, int]:
        if not patient:
            self.asked_again.set()
            self.answers.wait(SECONDS)
        led = [partition for partition in partitions if partition not in self.leaderless]
        if led:
            self.topic_id = self.on_question.get(which, self.topic_id)
        return self.offsets(led, which)

    def age(self) -> float:
        return 0.0

    def connections(self) -> tuple[int, int]:
        return 0, 0


class Unattended(Fetcher):
    """Starts no readers: the tests ask and answer themselves."""

    def _attend(self) -> None: ...


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
