"""The version of transactions for a cluster's finalized level."""

from __future__ import annotations

import pytest

from legacy_mm.transactions.transaction_version import TransactionVersion, version_for


@pytest.mark.parametrize(("level", "number"), [(0, 1), (1, 1), (2, 2), (3, 2)])
def test_the_version_for_a_level(level: int, number: int) -> None:
    assert version_for(level) == number


def test_only_version_2_needs_no_addition() -> None:
    assert [version.adds_partitions for version in TransactionVersion] == [False, True]
