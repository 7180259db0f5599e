"""Which clusters a flow's time-outs are asked of; `tests/brokers` has real limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import StreamFailure
from legacy_mm.flow.allowed_timeouts import beyond_limits, require_allowed
from legacy_mm.flow.flow_settings import Settings
from tests.fakes.admin import FakeAdmin
from tests.unit.transactions.test_bundle_settings import ON, settings_of

LIMITS = {"group.max.session.timeout.ms": "1000", "transaction.max.timeout.ms": "2000"}


class Limited(FakeAdmin):
    """A cluster whose brokers allow little; it counts the questions."""

    questions = 0

    def broker_properties(self, deadline: Deadline) -> dict[str, str]:
        """What they allow."""
        self.questions += 1
        return LIMITS


def found(settings: Settings, source: Limited, target: Limited) -> list[str]:
    return [each.split("=", 1)[0] for each in beyond_limits(settings, source, target, Deadline.after(1))]


@pytest.mark.parametrize(
    ("options", "consumer", "beyond", "asked"),
    [
        ((), "", ["session.timeout.ms"], (1, 0)),
        (ON, "", ["session.timeout.ms", "exactly.once.transaction.timeout.ms"], (1, 1)),
        ((), "group.protocol=consumer", [], (0, 0)),  # the brokers have the session's time-out
    ],
)
def test_only_what_a_flow_has_is_asked(
    tmp_path: Path, options: tuple[str, ...], consumer: str, beyond: list[str], asked: tuple[int, int]
) -> None:
    source, target = Limited(), Limited()
    assert found(settings_of(tmp_path, *options, consumer=consumer), source, target) == beyond
    assert (source.questions, target.questions) == asked


def test_a_flow_that_only_beats_has_no_session(tmp_path: Path) -> None:
    assert found(replace(settings_of(tmp_path), streams=0), Limited(), Limited()) == []


def test_a_start_is_refused_for_all_of_them(tmp_path: Path) -> None:
    with pytest.raises(StreamFailure, match=r"^session\.timeout\.ms=.*; exactly\.once\.transaction\.timeout\.ms="):
        require_allowed(settings_of(tmp_path, *ON), Limited(), Limited(), Deadline.after(1))
