"""Time-outs beside what brokers allow: the sentence has both numbers, and the property to change."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from legacy_mm.policies.broker_limits import session_beyond, transaction_beyond

LIMITS = {"group.min.session.timeout.ms": "6000", "group.max.session.timeout.ms": "1800000"}


@pytest.mark.parametrize("seconds", [6.0, 45.0, 1800.0])
@pytest.mark.parametrize("told", [LIMITS, {}, {"group.max.session.timeout.ms": ""}])
def test_a_session_that_brokers_allow(seconds: float, told: Mapping[str, str]) -> None:
    assert session_beyond(seconds, told) == ()


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (
            1800.001,
            "session.timeout.ms=1800001 of the consumer is above group.max.session.timeout.ms=1800000 of the source's "
            "brokers: set session.timeout.ms to 1800000 at most",
        ),
        (
            5.999,
            "session.timeout.ms=5999 of the consumer is below group.min.session.timeout.ms=6000 of the source's "
            "brokers: set session.timeout.ms to 6000 at least",
        ),
    ],
)
def test_a_session_that_brokers_refuse(seconds: float, says: str) -> None:
    assert session_beyond(seconds, LIMITS) == (says,)


@pytest.mark.parametrize("told", [{"transaction.max.timeout.ms": "60000"}, {}])
def test_transactions_that_brokers_allow(told: Mapping[str, str]) -> None:
    assert transaction_beyond(60.0, told) == ()


def test_transactions_that_brokers_refuse() -> None:
    assert transaction_beyond(60.0, {"transaction.max.timeout.ms": "30000"}) == (
        "exactly.once.transaction.timeout.ms=60000 is above transaction.max.timeout.ms=30000 of the target's brokers: "
        "set exactly.once.transaction.timeout.ms to 30000 at most",
    )
