"""Leases of the tasks in one process are watched, each until its last word."""

from __future__ import annotations

import threading

import pytest

from legacy_mm.assembly import task_process
from legacy_mm.assembly.task_process import TaskProcess
from legacy_mm.audit.waiting import wait_until

SECONDS = 20.0


class Task:
    """Counts how often its lease is looked at."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.inspections = 0

    def check_lease(self) -> None:
        self.inspections += 1


def test_each_lease_is_watched_until_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_process, "BEAT_INTERVAL", 0.04)
    process = TaskProcess()
    first, second = Task(), Task()
    process.watch_lease(first)
    process.watch_lease(second)
    wait_until(lambda: min(first.inspections, second.inspections) >= 2, SECONDS, "two looks at each")
    first.over.set()
    begin = second.inspections
    wait_until(lambda: second.inspections > begin + 1, SECONDS, "a look that began afterwards")
    inspections, begin = first.inspections, second.inspections
    wait_until(lambda: second.inspections > begin + 1, SECONDS, "two more looks at the second")
    assert first.inspections == inspections
