"""A bundle that does not go on is told of, once, with what to look at."""

from __future__ import annotations

import pytest

from legacy_mm.transactions.bundle import FlowBundles
from legacy_mm.transactions.bundle_session import BundleState
from legacy_mm.transactions.standstill import Standstill

BUNDLE = FlowBundles("mirror", "source", "target").bundle(7)
LONG = 61.0


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        (BundleState.IDLE, "kafka-consumer-groups.sh --describe --state"),
        (BundleState.READING, f"find-hanging --topic {BUNDLE.positions.topic} --partition 7"),
        (BundleState.CLAIMING, f"describe --transactional-id {BUNDLE.transactional_id}"),
    ],
)
def test_the_line_says_what_to_look_at(state: BundleState, advice: str, caplog: pytest.LogCaptureFixture) -> None:
    standstill = Standstill(BUNDLE)
    assert not standstill.is_due(state, 5.0)
    assert standstill.is_due(state, 5.0 + LONG)
    standstill.tell(state)
    (line,) = [record.getMessage() for record in caplog.records]
    assert f"in {BUNDLE.positions} has copied nothing" in line
    assert state.value in line
    assert advice in line
    assert not standstill.is_due(state, 5.0 + 2 * LONG), "told twice"


def test_states_that_follow_each_other_are_one_standstill_until_it_is_at_work() -> None:
    standstill = Standstill(BUNDLE)
    for moment, state in ((0.0, BundleState.IDLE), (40.0, BundleState.CLAIMING), (59.0, BundleState.READING)):
        assert not standstill.is_due(state, moment)
    assert standstill.is_due(BundleState.IDLE, LONG)
    for state in (BundleState.READY, BundleState.OPEN, BundleState.OVER):
        assert not standstill.is_due(state, 2 * LONG)
        assert not standstill.is_due(BundleState.CLOSING, 2 * LONG)
