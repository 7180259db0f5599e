"""Spark properties that break an invariant are refused by name, with a reason."""

from __future__ import annotations

import pytest

from legacy_mm.config.validate import SPARK_REFUSALS, SparkRefusal, check_spark_conf, check_timeouts
from legacy_mm.errors import ConfigurationError

CLUSTER = "spark://h:7077"


@pytest.mark.parametrize("row", SPARK_REFUSALS, ids=lambda row: row.name)
def test_refused_with_its_reason(row: SparkRefusal) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check_spark_conf(CLUSTER, {row.name: "other"})
    assert row.name in str(refused.value)
    assert row.because in str(refused.value)
    for value in row.allowed:
        check_spark_conf(CLUSTER, {row.name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.speculation", "true"),
        ("spark.task.maxFailures", "4"),
        ("spark.dynamicAllocation.enabled", "true"),
        ("spark.python.worker.reuse", "true"),
        ("spark.ui.enabled", "true"),
        ("spark.authenticate", "false"),
        ("spark.network.crypto.enabled", "false"),
        ("spark.io.encryption.enabled", "false"),
    ],
)
def test_values_that_break_an_invariant(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match="because"):
        check_spark_conf(CLUSTER, {name: value})


def test_encryption_is_free_where_nothing_leaves_the_host() -> None:
    for master in ("embedded", "local[2]"):
        check_spark_conf(master, {"spark.authenticate": "false"})


def test_everything_else_is_the_user_s() -> None:
    check_spark_conf(CLUSTER, {"spark.cores.max": "4", "spark.eventLog.enabled": "true"})


def test_a_stop_needs_time() -> None:
    check_timeouts(shutdown_timeout_ms=1)
    with pytest.raises(ConfigurationError, match=r"shutdown\.timeout\.ms"):
        check_timeouts(shutdown_timeout_ms=0)
