"""Checks that need two or more settings, and the Spark properties that may not be set, each with
its reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.options.option_catalogue import EMBEDDED


@dataclass(frozen=True, slots=True)
class SparkRefusal:
    """A Spark property whose value would break an invariant."""

    name: str
    because: str
    allowed: tuple[str, ...] = ()
    """Values that say what we do anyway; every other one is refused."""
    cluster_only: bool = False


_LEAVES_HOST = "secrets would leave the machine over a link that is not encrypted"
_SECOND_WRITER = "a second writer of the same partition would send records twice and out of order"
_OWN_RETRY = "a lost copy job starts again from the safe offsets, not from where the task began"

SPARK_REFUSALS = (
    SparkRefusal("spark.speculation", _SECOND_WRITER, ("false",)),
    SparkRefusal("spark.task.maxFailures", _OWN_RETRY, ("1",)),
    SparkRefusal("spark.stage.maxConsecutiveAttempts", _OWN_RETRY, ("1",)),
    SparkRefusal("spark.stage.ignoreDecommissionFetchFailure", _OWN_RETRY, ("false",)),
    SparkRefusal(
        "spark.dynamicAllocation.enabled",
        "an executor that copies looks idle to Spark and would be taken away",
        ("false",),
    ),
    SparkRefusal(
        "spark.python.worker.reuse",
        "every copy job has a process of its own, so that ending the process ends its writes",
        ("false",),
    ),
    SparkRefusal(
        "spark.python.daemon.module",
        "our daemon makes the copy processes end with the mirror",
        ("legacy_mm.runtime.spark.worker_daemon",),
    ),
    SparkRefusal("spark.python.worker.module", "our copy processes end with the mirror", ("pyspark.worker",)),
    SparkRefusal("spark.ui.enabled", "the page is open to everybody who reaches the port", ("false",)),
    SparkRefusal("spark.master", "it is chosen by --spark.master"),
    SparkRefusal(
        "spark.submit.deployMode",
        "the driver holds the group membership and must be this process",
        ("client",),
    ),
    SparkRefusal("spark.authenticate", _LEAVES_HOST, ("true",), cluster_only=True),
    SparkRefusal("spark.network.crypto.enabled", _LEAVES_HOST, ("true",), cluster_only=True),
    SparkRefusal("spark.io.encryption.enabled", _LEAVES_HOST, ("true",), cluster_only=True),
)
_MASTERS = f"{EMBEDDED}, local, local[N], spark://HOST:PORT, yarn, k8s://ADDRESS"
_MASTER = re.compile(rf"{EMBEDDED}|local|local\[(\*|[1-9]\d*)\]|spark://.+|yarn|k8s://.+")
_BY_NAME = {row.name: row for row in SPARK_REFUSALS}


def runs_on_cluster(master: str) -> bool:
    """Return True if copy tasks leave this host."""
    return master != EMBEDDED and not master.startswith("local")


def check_spark(master: str, conf: Mapping[str, str]) -> None:
    """Raise ConfigurationError for a master of no kind we know, or the first property that would break an invariant."""
    if not _MASTER.fullmatch(master):
        raise ConfigurationError(f"--spark.master {master}: not one of {_MASTERS}")
    for name, value in conf.items():
        row = _BY_NAME.get(name)
        if row is None or (row.cluster_only and not runs_on_cluster(master)):
            continue
        if value.strip() not in row.allowed:
            raise ConfigurationError(f"--spark.conf {name}: this value is not possible, because {row.because}")


def check_timeouts(*, shutdown_timeout_ms: int) -> None:
    """Check that a stop has time: zero would end the mirror without its last commit."""
    if shutdown_timeout_ms == 0:
        raise ConfigurationError("--shutdown.timeout.ms: 0 is not possible, because every stop would be without commit")
