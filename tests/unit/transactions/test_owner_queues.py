"""What stands for the batches of an owner, and when the target has all of them; `test_bundle_owner.py` has the rest."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_session import BundleSession, BundleState
from legacy_mm.transactions.owner_queues import OwnerQueues
from legacy_mm.transactions.transactional_queue import TransactionalQueue
from legacy_mm.transactions.txn_requests import Append, ProducerIdAndEpoch

TARGET, OTHER = TopicPartition("copy", 3), TopicPartition("copy", 4)
PRODUCER = ProducerIdAndEpoch(40, 0)
OPEN = BundleSession(Bundle("id", TopicPartition("positions", 1)), BundleState.OPEN, PRODUCER)


@pytest.fixture
def lock() -> Any:
    return threading.RLock()


@pytest.fixture
def queues(lock: Any) -> OwnerQueues:
    appender = Mock(lock=lock, options=SimpleNamespace(in_flight=5))
    return OwnerQueues(cast(Any, appender), lambda: None)


def admitted(queues: OwnerQueues) -> Append:
    """The request that stands for data."""
    ((target, records),) = queues.reach([TARGET])
    request = Append("id", PRODUCER, target, records)
    queues.admit(OPEN, request)
    return request


def test_what_a_sender_has_in_hand_is_not_taken_for_settled(
    queues: OwnerQueues, lock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that is stamped is in none of the queue's lists; the sender has the appender's lock meanwhile."""
    inspections: list[bool] = []

    def is_settled(_: TransactionalQueue) -> bool:
        inspections.append(lock._is_owned())
        return False

    monkeypatch.setattr(TransactionalQueue, "is_settled", property(is_settled))
    request = admitted(queues)
    assert queues.settled() == []
    assert inspections == [True]
    assert queues.waits_for(request)


def test_a_request_is_answered_once(queues: OwnerQueues) -> None:
    request = admitted(queues)
    assert queues.settled() == [request]
    queues.answered(request)
    assert queues.settled() == []
    assert not queues.waits_for(request)


def test_a_transaction_names_each_partition_once_and_the_next_one_anew(queues: OwnerQueues) -> None:
    (first,) = queues.reach([TARGET])
    assert [target for target, _ in queues.reach([TARGET, OTHER])] == [OTHER]
    queues.discard()
    (anew,) = queues.reach([TARGET])
    assert anew[0] == TARGET
    assert anew != first, "a request is unlike those of the transaction before"
