"""What an owner reads of its queues, and what it does with a batch that the target refuses; no socket, no session."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from legacy_mm.clients.native.bundle_owner import BundleOwner
from legacy_mm.exactly_once.bundle import Bundle
from legacy_mm.exactly_once.bundle_session import BundleState
from legacy_mm.exactly_once.txn_requests import Append
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode

SOURCE, TARGET = TopicPartition("t", 0), TopicPartition("copy", 3)
REQUEST = Append("id", cast(Any, None), TARGET, cast(Any, object()))


@pytest.fixture
def lock() -> Any:
    return threading.RLock()


@pytest.fixture
def owner(lock: Any) -> BundleOwner:
    """One with records in a transaction that takes no more pieces."""
    client = SimpleNamespace(appender=SimpleNamespace(lock=lock), transaction_timeout=60.0)
    made = BundleOwner(cast(Any, client), Bundle("id", TopicPartition("positions", 1)), cast(Any, None), 1.0)
    made._session = cast(Any, SimpleNamespace(state=BundleState.CLOSING, transaction=object()))
    made._data = {TARGET: REQUEST}
    made._next = {SOURCE: 10}
    return made


def test_what_a_sender_has_in_hand_is_not_taken_for_settled(owner: BundleOwner, lock: Any) -> None:
    """A batch that is stamped is in none of the queue's lists; the sender has the appender's lock meanwhile."""
    looks: list[bool] = []

    class Queue:
        @property
        def is_settled(self) -> bool:
            looks.append(lock._is_owned())
            return False

    owner._queues = {TARGET: cast(Any, Queue())}
    owner._move_on(0.0)
    assert looks == [True]
    assert owner._data == {TARGET: REQUEST}


@pytest.mark.parametrize("doubtful", [False, True])
def test_a_batch_that_the_target_may_have_is_not_replaced(
    owner: BundleOwner, doubtful: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent in its place has its sequence number, and would be taken for it."""
    given_up: list[bool] = []
    monkeypatch.setattr(owner, "give_up", lambda: given_up.append(True))
    refused = SimpleNamespace(
        refusal=ErrorCode.MESSAGE_TOO_LARGE,
        opaque=object(),
        queue=SimpleNamespace(partition=TARGET),
        doubtful=doubtful,
    )
    assert owner.refused(cast(Any, refused)) is doubtful
    assert given_up == [True] * doubtful


def test_a_position_passes_what_holds_no_records(owner: BundleOwner) -> None:
    owner.passed(SOURCE, 11)
    owner.passed(SOURCE, 5)
    assert (owner.next(SOURCE), owner._untold) == (11, {SOURCE})


def test_without_a_transaction_a_position_stays(owner: BundleOwner) -> None:
    owner._session = cast(Any, SimpleNamespace(state=BundleState.IDLE, transaction=None))
    owner.passed(SOURCE, 11)
    assert (owner.next(SOURCE), owner._untold) == (10, set())
