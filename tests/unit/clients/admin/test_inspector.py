"""What a cluster that cannot be asked by librdkafka has, and what is no answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector, NativeTopicLister, ends, log_ends
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.network_client import NetworkClient
from legacy_mm.clients.net.connection_errors import UnsupportedVersion
from tests.fixtures import client_settings

ADDRESS = {"bootstrap.servers": "127.0.0.1:1"}
BROKER = SimpleNamespace(node_id=1, host="here", port=9092, rack=None)
LEADERLESS = SimpleNamespace(partition_index=0, leader_id=-1, leader_epoch=-1, error_code=5)
TOPIC = SimpleNamespace(name="orders", error_code=0, topic_id=None, partitions=[])


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What any broker answers."""
    given = SimpleNamespace(version=9, brokers=[BROKER], topics=[TOPIC])
    monkeypatch.setattr(NetworkClient, "call_any", lambda *_, **__: given)
    return given


@pytest.mark.parametrize(
    "ask",
    [
        lambda: list(NativeTopicLister(client_settings.read_connection(ADDRESS), 1.0).topics()),
        lambda: list(NativeInspector(client_settings.read_connection(ADDRESS)).partitions(Deadline.after(1.0))),
    ],
)
def test_an_answer_without_brokers_is_none(ask: Any, answer: SimpleNamespace) -> None:
    """A broker that has just started knows no topics: all of them would seem to be gone."""
    assert ask() == ["orders"]
    answer.brokers, answer.topics = [], []
    with pytest.raises(HostError, match="listing topics failed"):
        ask()


def test_all_topics_are_asked_for_in_another_way_before_0_10(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def call_any(_: Cluster, request: Any) -> Any:
        asked.append(request)
        if request.API_VERSION != 0:
            raise UnsupportedVersion("Metadata is needed in version 1 to 13")
        return SimpleNamespace(version=0, brokers=[BROKER], topics=[TOPIC])

    monkeypatch.setattr(Cluster, "call_any", call_any)
    assert NativeTopicLister(client_settings.read_connection(ADDRESS), 1.0).topics() == {"orders": ""}
    assert [request.topics for request in asked] == [None, []]


@pytest.mark.parametrize(
    ("partitions", "said"),
    [
        ([], "topic orders has no partitions yet"),
        ([LEADERLESS], "no offset of orders-0 within"),
    ],
    ids=["not known yet", "without a leader"],
)
def test_no_partition_is_left_out_where_logs_end(answer: SimpleNamespace, partitions: list[Any], said: str) -> None:
    """A group that starts at the ends of logs would copy it from its first record later."""
    answer.topics = [SimpleNamespace(name="orders", error_code=0, topic_id=None, partitions=partitions)]
    with pytest.raises(HostError, match=said):
        log_ends(client_settings.read_consumer(ADDRESS), ["orders"], Deadline.after(0.2))


def test_what_is_not_there_or_without_a_leader_has_no_end(answer: SimpleNamespace) -> None:
    """A topic that may not be seen is as one that is not there."""
    partitions = [LEADERLESS]
    answer.topics = [SimpleNamespace(name="orders", error_code=0, topic_id=None, partitions=partitions)]
    asked = [TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("unseen", 0)]
    assert ends(client_settings.read_connection(ADDRESS), asked, Deadline.after(5.0)) == {}
