"""Spark properties that break an invariant are refused by name, with a reason."""

from __future__ import annotations

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.options.validate import SPARK_REFUSALS, SparkRefusal, check_spark, check_timeouts

CLUSTER = "spark://h:7077"


@pytest.mark.parametrize("row", SPARK_REFUSALS, ids=lambda row: row.name)
def test_refused_with_its_reason(row: SparkRefusal) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check_spark(CLUSTER, {row.name: "other"})
    assert row.name in str(refused.value)
    assert row.because in str(refused.value)
    for value in row.allowed:
        check_spark(CLUSTER, {row.name: value})


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
        check_spark(CLUSTER, {name: value})


def test_encryption_is_free_where_nothing_leaves_the_host() -> None:
    for master in ("embedded", "local[2]"):
        check_spark(master, {"spark.authenticate": "false"})


@pytest.mark.parametrize(
    "master",
    ["embedded", "local", "local[*]", "local[8]", "spark://h:1", "spark://h:1,i:1", "yarn", "k8s://https://h:1"],
)
def test_masters(master: str) -> None:
    check_spark(master, {})


@pytest.mark.parametrize(
    "master",
    ["", "bogus", "localhost", "h:7077", "spark:", "yarn-client", "local[0]", "local[2,4]", "local-cluster[2,1,1024]"],
)
def test_what_is_no_master_is_told_what_is(master: str) -> None:
    """local[2,4] would have Spark start a copy job again by itself."""
    with pytest.raises(ConfigurationError, match=r"--spark\.master .*: not one of embedded, local, .*spark://"):
        check_spark(master, {})


def test_everything_else_is_the_user_s() -> None:
    check_spark(CLUSTER, {"spark.cores.max": "4", "spark.eventLog.enabled": "true"})


def test_a_stop_needs_time() -> None:
    check_timeouts(shutdown_timeout_ms=1)
    with pytest.raises(ConfigurationError, match=r"shutdown\.timeout\.ms"):
        check_timeouts(shutdown_timeout_ms=0)
