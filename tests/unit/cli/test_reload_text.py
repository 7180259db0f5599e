"""A plan of a reload as lines."""

from __future__ import annotations

import pytest

from legacy_mm.cli.reload_text import reload_lines
from legacy_mm.connect.reload_plan import FlowAction, FlowPlan, KeyChange, ReloadPlan

PLAN = ReloadPlan(
    [
        FlowPlan("A->B", FlowAction.CHANGE, [KeyChange("topics", "a", "b"), KeyChange("name", "x", None, "it stays")]),
        FlowPlan("B->A", FlowAction.NONE),
        FlowPlan("C->B", FlowAction.ADD),
        FlowPlan("D->B", FlowAction.REMOVE),
        FlowPlan("E->B", FlowAction.CHANGE),
    ],
    [KeyChange("admin.port", "1", "2", "it is open")],
    [KeyChange("root", "WARN", "INFO")],
)
LINES = """\
A->B: {}changed
  topics: a -> b
  name: x -> none; left as it is: it stays
B->A: does the same as before
C->B: {}added
D->B: {}removed
E->B: {}changed
  changed by what its files name
the whole process:
  admin.port: 1 -> 2; left as it is: it is open
log levels:
  root: WARN -> INFO
"""


@pytest.mark.parametrize(("dry_run", "word"), [(True, "would be "), (False, "")])
def test_each_flow_and_key_has_a_line(dry_run: bool, word: str) -> None:
    assert reload_lines(PLAN.body(dry_run=dry_run)) == LINES.format(*[word] * 4).splitlines()
