"""The functions that Spark runs, pickled by reference: the driver imports no engine, and a worker no driver."""

from __future__ import annotations

import importlib
from typing import Any

TASK_MODULE = "legacy_mm.assembly.copy_task"


def copy(tickets: Any) -> Any:
    """Run one copy job for one ticket."""
    return importlib.import_module(TASK_MODULE).run(tickets)


def wake(_: object) -> None:
    """Wake Spark's Python daemon: the work of an empty job."""
