"""The plan of a reload as lines of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from legacy_mm.connect.reload_plan import BY_FILES, FlowAction, change_text

_DONE = {
    FlowAction.NONE.value: "does the same as before",
    FlowAction.CHANGE.value: "changed",
    FlowAction.ADD.value: "added",
    FlowAction.REMOVE.value: "removed",
}
_PLANNED = {**_DONE, "change": "would be changed", "add": "would be added", "remove": "would be removed"}


def reload_lines(plan: Mapping[str, Any]) -> list[str]:
    """Return the lines for the answer of the admin port."""
    return list(_lines(plan, _PLANNED if plan["dry_run"] else _DONE))


def _lines(plan: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    for flow in plan["flows"]:
        yield f"{flow['flow']}: {words[flow['action']]}"
        yield from _keys(flow["keys"])
        if flow["action"] == FlowAction.CHANGE.value and not flow["keys"]:
            yield f"  {BY_FILES}"
    for title, what in (("the whole process", "process"), ("log levels", "log_levels")):
        if plan[what]:
            yield f"{title}:"
            yield from _keys(plan[what])


def _keys(keys: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in keys:
        yield f"  {change_text(each['key'], each['before'], each['after'], each.get('kept_because', ''))}"
