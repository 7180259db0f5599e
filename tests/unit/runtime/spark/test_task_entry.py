"""What a Spark task calls: the copy task, by its name, so that the driver does not load it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from legacy_mm.assembly import copy_task as task
from legacy_mm.runtime.spark import task_entry


def test_a_copy_job_runs_the_copy_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "run", lambda tickets: [*tickets, "ran"])
    assert task_entry.copy(["ticket"]) == ["ticket", "ran"]


def test_the_name_is_that_of_the_copy_task() -> None:
    assert task.__name__ == task_entry.TASK_MODULE


def test_the_driver_does_not_load_it() -> None:
    inspection = f"import sys, legacy_mm.runtime.spark.task_entry; sys.exit({task_entry.TASK_MODULE!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", inspection], check=False).returncode == 0
