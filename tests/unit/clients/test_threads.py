"""Whatever goes wrong in a thread of the wire ends the copying: none of them ends in silence."""

from __future__ import annotations

import threading
from typing import Any, NoReturn, cast

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.cluster.topology import Leadership
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce.append_options import options_from
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.broker_sender import BrokerSender
from legacy_mm.protocol.fetch_messages import FetchOptions
from tests.fixtures import client_settings

PARTITION = TopicPartition("t", 0)
PROPERTIES = {"bootstrap.servers": "one:1"}
SECONDS = 10.0


def no_memory(*_: object, **__: object) -> NoReturn:
    raise MemoryError("no more")


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(NetworkClient, "call_any", no_memory)
    return Cluster(client_settings.read_connection(PROPERTIES), 1.0)


def test_the_one_that_keeps_metadata_fresh(cluster: Cluster) -> None:
    cluster.metadata.keep_fresh(print)

    def asked() -> bool:
        try:
            return cluster.metadata.leader(PARTITION) is not None
        except MemoryError:
            return True

    wait_until(asked, SECONDS, "the question to be answered with the error")


def test_the_one_that_sends(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    appender = BatchAppender(
        cluster,
        options_from(client_settings.read_producer({"enable.idempotence": "false"})),
        Traffic("producer", print),
    )
    monkeypatch.setattr(BrokerSender, "_next", no_memory)
    sender = BrokerSender(appender, 1)
    thread = threading.Thread(target=sender.run)
    thread.start()
    thread.join(SECONDS)
    with pytest.raises(MemoryError):
        appender.poll()


@pytest.mark.parametrize("step", ["wait_for_work", "without_gaps"])
def test_the_one_that_reads(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    fetcher = Fetcher(cluster, FetchOptions(500, 1, 1, 1, False, ""), 1 << 20, Traffic("consumer", print))
    monkeypatch.setattr(fetcher, step, no_memory)
    monkeypatch.setattr(cluster.metadata, "leaders", lambda: {PARTITION: Leadership(1, 1)})
    monkeypatch.setattr(cluster, "connect", lambda _: cast(Any, _Connection()))
    fetcher.start({PARTITION: 5})
    with pytest.raises(MemoryError):
        fetcher.take(SECONDS, print)
    fetcher.close()


class _Connection:
    def is_due(self) -> bool:
        return False

    def version(self, *_: int) -> int:
        return 11

    def close(self) -> None: ...
