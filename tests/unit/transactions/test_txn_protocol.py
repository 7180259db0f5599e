"""Messages of transactions against the bytes of Kafka's own classes (4.3.0), in each version that we may use.

`golden/txn.json` is what `golden/GoldenTxn.java` prints; run it with kafka-clients and slf4j-api on the class path.
"""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from kafka.protocol.metadata import FindCoordinatorResponse
from kafka.protocol.producer.produce import ProduceRequest
from kafka.protocol.producer.transaction import (
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdResponse,
)

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.coordinator import TRANSACTION, coordinators
from legacy_mm.clients.cluster.metadata import Metadata
from legacy_mm.clients.cluster.topology import Broker
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import ConnectionLost, UnsupportedVersion
from legacy_mm.protocol.error_codes import ErrorCode as E
from legacy_mm.transactions import txn_protocol
from legacy_mm.transactions.bundle_events import Answered
from legacy_mm.transactions.txn_protocol import cluster_version
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    EndTxn,
    InitProducerId,
    ProducerIdAndEpoch,
    TransactionVersion,
)
from tests.fakes.cluster import FakeCluster
from tests.fakes.transactions import Brokers
from tests.fakes.txn_bytes import RELEASES, respond
from tests.fixtures import client_settings

GOLDEN: dict[str, str] = json.loads((Path(__file__).parent / "golden" / "txn.json").read_text())
ID = "mirror.g.f.7"
FIRST, SECOND = ProducerIdAndEpoch(4711, 5), ProducerIdAndEpoch(4711, 6)
MISSING = TopicPartition("orders", 3)
INIT = InitProducerId(ID, None)
ADD = AddPartitionsToTxn(
    ID, SECOND, frozenset({MISSING, TopicPartition("orders", 0), TopicPartition("positions.internal", 7)})
)
END, END_2 = EndTxn(ID, SECOND), EndTxn(ID, SECOND, TransactionVersion.TWO)
THIRD = ProducerIdAndEpoch(4711, 7)
REQUESTS: dict[str, txn_protocol.CoordinatorRequest] = {
    "init": INIT,
    "init-expected": InitProducerId(ID, FIRST),
    "add": ADD,
    "end": END,
    "end-2": END_2,
}
ANSWERS: dict[str, tuple[Any, Any]] = {
    "init-answer": (InitProducerIdResponse, Answered(INIT, producer=SECOND)),
    "init-refused": (InitProducerIdResponse, Answered(INIT, E.CONCURRENT_TRANSACTIONS)),
    "add-refused": (
        AddPartitionsToTxnResponse,
        Answered(ADD, E.UNKNOWN_TOPIC_OR_PARTITION, refused=frozenset({MISSING})),
    ),
    "end-answer": (EndTxnResponse, Answered(END)),
    "end-refused": (EndTxnResponse, Answered(END, E.PRODUCER_FENCED)),
    "end-2-answer": (EndTxnResponse, Answered(END_2, producer=THIRD)),
    "end-2-refused": (EndTxnResponse, Answered(END_2, E.PRODUCER_FENCED)),
}


def rows(names) -> list[tuple[str, int, bytes]]:
    split = [(*key.split(), text) for key, text in GOLDEN.items()]
    return [(name, int(version), bytes.fromhex(text)) for name, version, text in split if name in names]


class Coordinator:
    """A connection to one."""

    def __init__(self, level: int, produce: int, end: int) -> None:
        self._level, self._newest = level, {ProduceRequest.API_KEY: produce, EndTxnRequest.API_KEY: end}

    def level_now(self, feature: str) -> int:
        assert feature == "transaction.version"
        return self._level

    def has(self, api_key: int, version: int) -> bool:
        return version <= self._newest[api_key]


@pytest.mark.parametrize(
    ("level", "produce", "end", "version"),
    [(0, 13, 5, 1), (1, 13, 5, 1), (2, 13, 5, 2), (3, 13, 5, 2), (2, 11, 5, 1), (2, 12, 4, 1)],
)
def test_the_cluster_decides_about_the_version(level: int, produce: int, end: int, version: int) -> None:
    """Its finalized level does, and a coordinator without the requests of version 2 does not have it."""
    coordinator = cast(Connection, Coordinator(level, produce, end))
    assert txn_protocol.version_at(coordinator) == version


def test_a_claim_is_told_the_version() -> None:
    answer = InitProducerIdResponse(error_code=0, producer_id=4711, producer_epoch=6)
    told = txn_protocol.answered(INIT, answer, TransactionVersion.TWO)
    assert told == Answered(INIT, producer=SECOND, version=TransactionVersion.TWO)


@pytest.mark.parametrize(("name", "version", "data"), rows(REQUESTS))
def test_a_request_is_what_java_writes(name: str, version: int, data: bytes) -> None:
    message = txn_protocol.message(REQUESTS[name], 60_000)
    assert bytes(message.encode(version=version)) == data


@pytest.mark.parametrize(("name", "version", "data"), rows(ANSWERS))
def test_an_answer_is_what_java_wrote(name: str, version: int, data: bytes) -> None:
    kind, wanted = ANSWERS[name]
    assert txn_protocol.answered(wanted.request, kind.decode(data, version=version)) == wanted


def test_versions_that_mean_something_else_are_never_used() -> None:
    """AddPartitionsToTxn 4 is for brokers, EndTxn 5 is of transaction version 2, InitProducerId 2 expects no epoch."""
    wanted = {"init": (0, 5), "init-expected": (3, 5), "add": (None, 3), "end": (None, 4), "end-2": (5, 5)}
    for name, limits in wanted.items():
        message = txn_protocol.message(REQUESTS[name], 60_000)
        assert (message._min_version, message._max_version) == limits
    assert {max(version for each, version, _ in rows([name])) for name in ("init", "add", "end")} == {5, 3, 4}


def test_an_addition_that_nobody_is_blamed_for() -> None:
    kind = AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult
    row = kind.AddPartitionsToTxnPartitionResult

    def answer(*codes: int) -> Any:
        results = [row(partition_index=at, partition_error_code=code) for at, code in enumerate(codes)]
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=[kind(name="t", results_by_partition=results)])

    assert txn_protocol.answered(ADD, answer(0, 0)) == Answered(ADD)
    assert txn_protocol.answered(ADD, answer(51, 51)).error == E.CONCURRENT_TRANSACTIONS
    assert txn_protocol.answered(ADD, answer(55, 55)).error == E.OPERATION_NOT_ATTEMPTED


class OfRelease(FakeCluster):
    """A cluster whose brokers answer with bytes."""

    def __init__(self, release: str) -> None:
        super().__init__()
        self.newest = RELEASES[release].find
        self.sent: list[tuple[int, bytes]] = []

    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        version = min(request._max_version, self.newest)
        if version < (request._min_version or 0):
            raise UnsupportedVersion("FindCoordinator")
        body = bytes(request.encode(version=version))
        self.sent.append((version, body))
        _, answer = respond(Brokers(), request.API_KEY, version, body)
        return FindCoordinatorResponse.decode(answer, version=version)


@pytest.mark.parametrize("release", RELEASES)
def test_the_coordinator_of_a_transactional_id_is_found(release: str) -> None:
    cluster = OfRelease(release)
    assert list(coordinators(cluster, [ID], TRANSACTION)) == [(ID, 0, 1)]
    ((version, body),) = cluster.sent
    assert (version, body.hex()) == (min(4, RELEASES[release].find), GOLDEN[f"find {version}"])


ADDRESS = client_settings.read_connection({"bootstrap.servers": "nowhere.invalid:1"})


@pytest.mark.parametrize(("level", "version"), [(0, 1), (1, 1), (2, 2)])
def test_the_transaction_version_is_told_by_the_first_broker_that_is_reached(
    monkeypatch: pytest.MonkeyPatch, level: int, version: int
) -> None:
    def connect(cluster: Cluster, node: int, within: float) -> Any:
        assert within <= 10.0 / (3 - node), "a silent broker leaves the next one its share"
        if node == 1:
            raise ConnectionLost("it is down")
        return SimpleNamespace(level_now=lambda _: level, has=lambda *_: True, close=lambda: None)

    monkeypatch.setattr(Metadata, "brokers", lambda cluster: [Broker(node, "host", 1, None) for node in (1, 2)])
    monkeypatch.setattr(Cluster, "connect", connect)
    assert cluster_version(NativeAdmin("target", ADDRESS), Deadline.after(10.0)) == version


def test_the_transaction_version_of_a_cluster_that_nobody_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(cluster: Cluster, node: int, within: float) -> Any:
        raise ConnectionLost("it is down")

    monkeypatch.setattr(Metadata, "brokers", lambda cluster: [Broker(1, "host", 1, None)])
    monkeypatch.setattr(Cluster, "connect", connect)
    with pytest.raises(HostError, match="it is down"):
        cluster_version(NativeAdmin("target", ADDRESS), Deadline.after(10.0))
