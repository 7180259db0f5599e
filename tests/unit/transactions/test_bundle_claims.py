"""When a bundle is asked for; `test_copied_bundle.py` shows when its claims end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from legacy_mm.transactions import bundle_claims
from legacy_mm.transactions.bundle_claims import BundleClaims

NOW = 50.0


@pytest.fixture
def inspected() -> list[float]:
    return []


@pytest.fixture
def claims(monkeypatch: pytest.MonkeyPatch, inspected: list[float]) -> BundleClaims:
    monkeypatch.setattr(bundle_claims, "monotonic", lambda: NOW)
    return BundleClaims(7, cast(Any, SimpleNamespace(since=inspected.append)))


def test_the_driver_is_asked_once(claims: BundleClaims) -> None:
    assert not claims.is_due(NOW)
    claims.ask()
    assert [claims.is_due(NOW) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(("given_up", "pause"), [(1, 0.0), (2, 0.1), (3, 0.2), (20, 5.0)])
def test_the_pause_grows_with_transactions_that_are_given_up_in_a_row(
    claims: BundleClaims, given_up: int, pause: float
) -> None:
    for _ in range(given_up):
        claims.given_up("overdue", fenced=False)
    claims.ask()
    assert [claims.is_due(NOW + pause - 0.01), claims.is_due(NOW + pause)] == [False, True]
    claims.committed()
    claims.ask()
    assert claims.is_due(NOW)


def test_a_claim_inspects_what_is_there_since_it_was_asked_for(claims: BundleClaims, inspected: list[float]) -> None:
    claims.ask()
    claims.inspect()
    assert inspected == [NOW]
