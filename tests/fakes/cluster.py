"""Clusters that are not there, as our own sockets see them. mypy holds them to `Cluster` and its parts, whose methods
they have.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import nullcontext
from math import inf
from threading import Event
from types import SimpleNamespace
from typing import Any, NoReturn, cast

from typing_extensions import override

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.metadata import Metadata
from legacy_mm.clients.cluster.network_client import Connections, NetworkClient
from legacy_mm.clients.cluster.offset_fetcher import OffsetFetcher
from legacy_mm.clients.cluster.topology import Broker, Leadership
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ConnectionLost, UnsupportedVersion


class _Network(NetworkClient):
    @override
    def connections(self) -> Connections:
        return Connections(3, 1)


class FakeCluster(Cluster, Metadata, OffsetFetcher):
    """One in which nobody leads anything, and no broker is reached. It is its own metadata and offsets."""

    def __init__(self) -> None:
        settings = ConnectionSettings(("127.0.0.1:1",))
        self.network = _Network(settings, 0.0)
        self.metadata = self.offsets = self
        Metadata.__init__(self, settings, self.network)
        OffsetFetcher.__init__(self, self, self.network, settings, 0.0)
        self.called_stale = 0

    @override
    def leader(self, partition: TopicPartition) -> Broker | None:
        return None

    @override
    def topic_ids(self, *, fresh: bool = True) -> Mapping[str, object]:
        return {}

    @override
    def connect(self, node: int, within: float = inf) -> Connection:
        self._refuse()

    @override
    def stale(self) -> None:
        self.called_stale += 1

    @override
    def poll(self) -> None:
        pass

    @override
    def age(self) -> float | None:
        return None

    def _refuse(self) -> NoReturn:
        raise ConnectionLost("it is down")


class OneBroker(FakeCluster):
    """One broker leads the partitions 0 to 2 of topic t, with logs from 10 to 90."""

    node = 1
    patience = 10.0

    def __init__(self) -> None:
        super().__init__()
        self.epoch = 4
        self.partitions_led = [TopicPartition("t", number) for number in range(3)]
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

    @override
    def watch(self, topics: Collection[str], *, create: bool = False) -> None:
        """Nothing to do."""

    @override
    def leader(self, partition: TopicPartition) -> Broker | None:
        return None if partition in self.leaderless else Broker(self.node, "host", 1, None)

    @override
    def leaders(self) -> dict[TopicPartition, Leadership]:
        return dict.fromkeys(self.partitions_led, Leadership(self.node, self.epoch))

    @override
    def leader_epoch(self, partition: TopicPartition) -> int:
        return self.epoch

    @override
    def topic_ids(self, *, fresh: bool = True) -> Mapping[str, object]:
        return {"t": self.topic_id}

    @override
    def refresh(self, node: int | None = None) -> None:
        """From now on the id is known that the topic has by now."""
        self.refreshed_by.append(node)
        self.topic_id = self.new_id

    @override
    def call(self, node: int, request: Any, patience: float = inf) -> Any:
        """The end of an epoch's records in the log of the leader of now."""
        if self.too_old:
            raise UnsupportedVersion("OffsetForLeaderEpoch")
        rows = [row for topic in request.topics for row in topic.partitions]
        self.compared += [(row.partition, row.leader_epoch) for row in rows]
        answers = [
            SimpleNamespace(partition=row.partition, error_code=self.error, end_offset=self.epoch_ends) for row in rows
        ]
        return SimpleNamespace(topics=[SimpleNamespace(topic="t", partitions=answers)])

    @override
    def of(self, partitions: Collection[TopicPartition], which: int) -> dict[TopicPartition, int]:
        return dict.fromkeys(partitions, {EARLIEST: 10, LATEST: 90}[which])

    @override
    def of_led(
        self, partitions: Collection[TopicPartition], which: int, *, patient: bool = True
    ) -> dict[TopicPartition, int]:
        if not patient:
            self.asked_again.set()
            self.answers.wait(self.patience)
        led = [partition for partition in partitions if partition not in self.leaderless]
        if led:
            self.topic_id = self.on_question.get(which, self.topic_id)
        return self.of(led, which)

    @override
    def age(self) -> float | None:
        return 0.0


class ComingTopic(FakeCluster):
    """A target whose topic `t` is there at look number `there`; until then it answers with an error.

    What it told first is a minute old.
    """

    def __init__(self, error: int, there: int = 3) -> None:
        super().__init__()
        self._error = error
        self._there = there

    @override
    def watch(self, topics: Collection[str], *, create: bool = False) -> None:
        assert (list(topics), create) == (["t"], True)

    @override
    def partitions(self, topic: str) -> int:
        return 2 if self.called_stale >= self._there else 0

    @override
    def problem(self, topic: str) -> int | None:
        return self._error

    @override
    def age(self) -> float | None:
        return 0.0 if self.called_stale else 60.0


class GroupCluster(FakeCluster):
    """Says that broker 1 keeps the group; `fails` when it is `reached`, or when it is `asked`."""

    def __init__(self, fails: str) -> None:
        super().__init__()
        self._fails = fails

    @override
    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        return SimpleNamespace(coordinators=[SimpleNamespace(key="g", error_code=0, node_id=1)])

    @override
    def connect(self, node: int, within: float = inf) -> Connection:
        if self._fails == "reached":
            self._refuse()
        made: Any = SimpleNamespace(
            node=node,
            is_due=lambda: False,
            with_timeout=lambda seconds: nullcontext(),
            call=self._asked,
            close=lambda: None,
        )
        return cast(Connection, made)

    def _asked(self, request: Any) -> Any:
        if self._fails == "asked":
            self._refuse()
        return "answer"
