"""The attempt number of this process's Spark task."""

from __future__ import annotations

from pyspark import TaskContext


def attempt_number() -> int:
    """Return the attempt number; 0 for the first attempt, and outside a task."""
    context = TaskContext.get()
    return 0 if context is None else int(context.attemptNumber())
