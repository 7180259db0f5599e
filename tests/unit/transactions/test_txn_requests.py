"""Requests as values, and positions."""

from __future__ import annotations

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.txn_requests import (
    EndTxn,
    InitProducerId,
    ProducerIdAndEpoch,
    TransactionVersion,
    moved,
    version_for,
)

A, B = TopicPartition("a", 0), TopicPartition("b", 0)


def test_a_position_moves_and_the_others_stay() -> None:
    assert moved(((B, 7),), A, 3) == ((A, 3), (B, 7))
    assert moved(((A, 3), (B, 7)), B, 9) == ((A, 3), (B, 9))


def test_requests_of_other_kinds_and_epochs_are_other_requests() -> None:
    one, other = ProducerIdAndEpoch(1, 1), ProducerIdAndEpoch(1, 2)
    requests = [InitProducerId("x", one), InitProducerId("x", None), EndTxn("x", one), EndTxn("x", other)]
    assert len(set(requests)) == len(requests)


@pytest.mark.parametrize(("level", "number"), [(0, 1), (1, 1), (2, 2), (3, 2)])
def test_the_version_for_a_level(level: int, number: int) -> None:
    assert version_for(level) == number


def test_only_version_2_needs_no_addition() -> None:
    assert [version.adds_partitions for version in TransactionVersion] == [False, True]
