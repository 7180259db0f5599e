"""Producer ids: one for the queues that begin, another for those that begin again, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.base.errors import FailureKind
from legacy_mm.clients.net.connection_errors import ConnectionLost, UnsupportedVersion
from legacy_mm.clients.produce.producer_id import ProducerIdRefused, ProducerIds
from legacy_mm.protocol.error_codes import ErrorCode


def ids(answer: Callable[[Any], Any]) -> ProducerIds:
    cluster: Any = SimpleNamespace(call_any=answer)
    return ProducerIds(cluster)


def answer(error: int, number: int = 7) -> SimpleNamespace:
    return SimpleNamespace(error_code=error, producer_id=number, producer_epoch=0)


def test_new_queues_begin_with_the_newest_id() -> None:
    numbers = iter([7, 8])
    made = ids(lambda request: answer(0, next(numbers)))
    assert made.acquire() == made.current == (7, 0)
    assert made.acquire() == made.current == (8, 0)


def test_the_request_names_no_transaction() -> None:
    asked: list[Any] = []

    def keep(request: Any) -> SimpleNamespace:
        asked.append(request)
        return answer(0)

    ids(keep).acquire()
    assert [(each.transactional_id, each.producer_id, each.producer_epoch) for each in asked] == [(None, -1, -1)]


def test_without_the_right_there_is_no_id() -> None:
    made = ids(lambda request: answer(ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    with pytest.raises(ProducerIdRefused, match="CLUSTER_AUTHORIZATION_FAILED") as refused:
        made.acquire()
    assert refused.value.failure_kind is FailureKind.IDEMPOTENCE_REFUSED


def test_a_broker_before_0_11_has_none() -> None:
    def too_old(_: Any) -> Any:
        raise UnsupportedVersion("InitProducerId")

    with pytest.raises(ProducerIdRefused, match="InitProducerId"):
        ids(too_old).acquire()


def test_any_other_error_may_pass() -> None:
    with pytest.raises(ConnectionLost, match="no producer id: COORDINATOR_LOAD_IN_PROGRESS"):
        ids(lambda request: answer(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)).acquire()
