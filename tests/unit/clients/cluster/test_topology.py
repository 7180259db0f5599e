"""What is kept of a Metadata response."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.topology import UNKNOWN_EPOCH, Broker, Leadership, Topology
from legacy_mm.protocol.error_codes import ErrorCode

ORDERS = TopicPartition("orders", 0)
FIRST, SECOND = UUID(int=1), UUID(int=2)


def response(node: int, epoch: int, topic_id: UUID = FIRST, version: int = 9, **more: Any) -> Any:
    partition = SimpleNamespace(partition_index=0, leader_id=node, leader_epoch=epoch, error_code=0)
    topic = {"name": "orders", "topic_id": topic_id, "error_code": 0, "partitions": [partition], **more}
    brokers = [SimpleNamespace(node_id=number, host=f"h{number}", port=9, rack=None) for number in (1, 2)]
    return SimpleNamespace(version=version, brokers=brokers, topics=[SimpleNamespace(**topic)])


def after(*responses: Any) -> Topology:
    topology = Topology()
    for one in responses:
        topology = Topology.read(one, topology)
    return topology


def test_who_leads() -> None:
    topology = after(response(2, 5))
    assert topology.leaders == {ORDERS: Leadership(2, 5)}
    assert topology.brokers[2] == Broker(2, "h2", 9, None)
    assert (topology.sizes, topology.ids, topology.problems) == ({"orders": 1}, {"orders": FIRST}, {})


def test_a_broker_that_lives_in_the_past_is_not_believed() -> None:
    assert after(response(2, 5), response(1, 4)).leaders[ORDERS] == Leadership(2, 5)
    assert after(response(2, 5), response(1, 6)).leaders[ORDERS] == Leadership(1, 6)


@pytest.mark.parametrize("version", [7, 8])
def test_an_epoch_from_a_broker_before_2_4_is_none(version: int) -> None:
    """While a reassignment runs it is an old one, and the leader refuses every fetch that names it (KAFKA-9212)."""
    assert after(response(1, 5, version=version)).leaders[ORDERS] == Leadership(1, UNKNOWN_EPOCH)


@pytest.mark.parametrize(("version", "epoch"), [(6, -1), (8, 4), (9, -1)])
def test_who_leads_without_an_epoch_leads(version: int, epoch: int) -> None:
    """In a rolling upgrade, and where an answer with an error has none."""
    told = after(response(1, 5), response(2, epoch, version=version))
    assert told.leaders[ORDERS] == Leadership(2, UNKNOWN_EPOCH)


def test_a_topic_that_was_made_anew_begins_anew() -> None:
    assert after(response(2, 5), response(1, 0, SECOND)).leaders[ORDERS] == Leadership(1, 0)


def test_what_is_not_there_has_a_reason() -> None:
    gone = response(2, 5, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, partitions=[])
    topology = after(response(2, 5), gone)
    assert (topology.leaders, topology.sizes) == ({}, {})
    assert topology.problems == {"orders": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def test_a_partition_without_leader() -> None:
    topology = after(response(-1, 5, error_code=ErrorCode.LEADER_NOT_AVAILABLE))
    assert topology.sizes == {"orders": 1}
    assert topology.leaders[ORDERS].node not in topology.brokers
