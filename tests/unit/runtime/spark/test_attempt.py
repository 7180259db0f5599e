"""Which attempt of a Spark task this is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyspark import TaskContext

from legacy_mm.runtime.spark.attempt import attempt_number


def test_outside_a_task_it_is_the_first() -> None:
    assert attempt_number() == 0


def test_in_a_task_spark_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TaskContext, "get", classmethod(lambda cls: SimpleNamespace(attemptNumber=lambda: 2)))
    assert attempt_number() == 2
