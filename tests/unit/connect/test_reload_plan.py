"""What a reload says of a key: its values, why one stays, and no secret."""

from __future__ import annotations

import pytest

from legacy_mm.connect.reload_plan import FlowAction, FlowPlan, KeyChange, ReloadPlan, differences, without

STAYS = KeyChange("admin.port", "1", None, "it is open")


def test_differences_are_the_keys_with_another_value() -> None:
    found = differences({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "3", "d": "4"})
    assert [(each.key, each.before, each.after) for each in found] == [
        ("b", "2", "3"),
        ("c", "3", None),
        ("d", None, "4"),
    ]


def test_a_secret_has_no_value() -> None:
    (change,) = differences({"x.ssl.key.password": "rosebud"}, {"x.ssl.key.password": "thistle"})
    assert change.text() == "x.ssl.key.password: another value, not shown"
    assert "rosebud" not in str(change.body())
    (new,) = differences({}, {"x.ssl.key.password": "thistle"})
    assert new.text() == "x.ssl.key.password: none -> [hidden]"


def test_keys_are_left_out_by_their_names_behind_some_beginnings() -> None:
    changes = differences({}, {"a": "1", "B.a": "1", "C.a": "1", "b": "1"})
    assert [each.key for each in without(changes, ["a"], ["B."])] == ["C.a", "b"]


def test_a_plan_is_told_as_json() -> None:
    same, changed = FlowPlan.of("A->B", None, [STAYS]), FlowPlan.of("C->B", differences({}, {"a": "1"}), [STAYS])
    stays = {"key": "admin.port", "before": "1", "after": None, "kept_because": "it is open"}
    assert ReloadPlan([same, changed], [STAYS]).body(dry_run=True) == {
        "dry_run": True,
        "flows": [
            {"flow": "A->B", "action": "none", "keys": [stays]},
            {"flow": "C->B", "action": "change", "keys": [{"key": "a", "before": None, "after": "1"}, stays]},
        ],
        "process": [stays],
        "log_levels": [],
    }


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (FlowPlan("A->B", FlowAction.ADD), ["added"]),
        (FlowPlan("A->B", FlowAction.REMOVE), ["removed"]),
        (FlowPlan("A->B", FlowAction.NONE), []),
        (FlowPlan("A->B", FlowAction.CHANGE), ["changed by what its files name"]),
        (FlowPlan.of("A->B", [], [STAYS]), ["admin.port: 1 -> none; left as it is: it is open"]),
    ],
)
def test_each_change_is_a_line_of_the_log(plan: FlowPlan, lines: list[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    plan.tell()
    assert caplog.messages == [f"Reload, A->B: {line}" for line in lines]
