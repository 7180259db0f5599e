"""What a probe is told, the worst first."""

from __future__ import annotations

import pytest

from legacy_mm.metrics.health import Phase, State, death, unreadiness

RUNNING = State(Phase.RUNNING, [], {})


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (RUNNING, ""),
        (State(Phase.STARTING, [], {}), "is starting"),
        (State(Phase.FAILED, ["a"], {}), "has failed and is ending"),
        (RUNNING._replace(outside=["m-1", "m-0"], unwritable={"t": "full"}), "without an assignment: m-0, m-1"),
        (RUNNING._replace(unwritable={"u": "gone", "t": "full"}), "cannot write to: t (full), u (gone)"),
        (RUNNING._replace(failed={"A->B": "no login"}, outside=["m"]), "not running: A->B (no login)"),
    ],
)
def test_why_not_all_of_it_copies(state: State, why: str) -> None:
    assert unreadiness(state) == why


@pytest.mark.parametrize("phase", Phase)
def test_only_a_failed_process_is_better_replaced(phase: Phase) -> None:
    assert bool(death(State(phase, ["m"], {"t": "full"}, {"A->B": "no login"}))) == (phase is Phase.FAILED)
