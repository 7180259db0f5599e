"""What Spark is given to run, pickled by reference: the driver imports no engine, and a worker no driver."""

from __future__ import annotations

import importlib
from typing import Any

TASK_MODULE = "legacy_mm.dataplane.task"


def copy(tickets: Any) -> Any:
    """One ticket, one copy job."""
    return importlib.import_module(TASK_MODULE).run(tickets)


def wake(_: object) -> None:
    """The work of an empty job, which makes Spark ask for the Python daemon."""
