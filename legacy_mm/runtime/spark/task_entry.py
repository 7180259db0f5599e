"""The functions that Spark runs, pickled by reference: the driver imports no engine, and a worker no driver."""

from __future__ import annotations

import importlib
from typing import Any

from pyspark import TaskContext

TASK_MODULE = "legacy_mm.assembly.copy_task"


def copy(tickets: Any) -> Any:
    """Run one copy job for one ticket."""
    return importlib.import_module(TASK_MODULE).run(tickets)


def wake(_: object) -> None:
    """Wake Spark's Python daemon: the work of an empty job."""


def attempt_number() -> int:
    """Return the attempt number; 0 for the first attempt, and outside a task."""
    context = TaskContext.get()
    return 0 if context is None else int(context.attemptNumber())
