"""Which attempt of its Spark task this process is."""

from __future__ import annotations

from pyspark import TaskContext


def attempt_number() -> int:
    """0 for the first attempt, and outside a task."""
    context = TaskContext.get()
    return 0 if context is None else int(context.attemptNumber())
