"""A real Spark standalone master with two workers: nodes die in three ways while records flow.

A worker has Java and Python only: the package and its wheels travel in the archive that the tool builds.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.standalone import SparkStandalone
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.brokers.test_verify import verify
from tests.faults.conftest import BACKLOG, PATIENCE, SIZE, Scene

pytestmark = [pytest.mark.faults, pytest.mark.spark]
LONG = BACKLOG + BACKLOG // 2


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkStandalone]:
    """Master and two workers on loopback, with Spark's own authentication on."""
    with SparkStandalone(tmp_path_factory.mktemp("cluster") / "spark", workers=2) as running:
        yield running


@pytest.fixture
def scene(source: Any, target: Any, make_scene: Callable[..., Scene]) -> Scene:
    """A backlog that lasts until something dies."""
    return make_scene(source, target, LONG, size=SIZE)


def mirror(scene: Scene, spark: SparkStandalone, *options: str) -> ToolProcess:
    """Our command on the cluster's master."""
    return scene.mirror("--spark.master", spark.master, *options, environment=spark.environment())


def stop(tool: ToolProcess) -> None:
    """A clean stop."""
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143, tool.output()


def copying_worker(spark: SparkStandalone, target: Any) -> int:
    """Index of the Spark worker whose Python process writes to the target."""
    port = int(target.bootstrap.rpartition(":")[2])
    for index, node in enumerate(spark.workers):
        if any(remote == port for _, remote in node.tree.connections()):
            return index
    raise TimeoutError("no worker copies")


def test_copies_on_the_cluster_and_nowhere_else(scene: Scene, spark: SparkStandalone, target: Any) -> None:
    tool = mirror(scene, spark)
    scene.wait_for(1)
    port = int(target.bootstrap.rpartition(":")[2])
    assert [pid for pid, remote in tool.tree.connections() if remote == port] == [], "the driver sends no record"
    copying_worker(spark, target)
    scene.wait_for(LONG)
    stop(tool)
    assert scene.committed() == scene.arrived() == LONG
    assert scene.differences(allow_duplicates=False) == []


@pytest.mark.parametrize(
    "how", ["node frozen", *(pytest.param(how, marks=pytest.mark.slow) for how in ("executor killed", "node killed"))]
)
def test_a_node_is_lost_while_it_copies(scene: Scene, spark: SparkStandalone, target: Any, how: str) -> None:
    """Nothing lost, order kept, never a second writer while the first may still write."""
    tool = mirror(scene, spark, "--offset.commit.interval.ms", "500")
    scene.wait_for(1)
    node = spark.workers[copying_worker(spark, target)]
    pids = [pid for pid in node.tree.pids() if how != "executor killed" or pid != node.pid]
    number = signal.SIGSTOP if how == "node frozen" else signal.SIGKILL
    with ExitStack() as thawing:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if how == "node frozen":
            thawing.callback(node.resume, pids)
            wait_until(lambda: "copy job lost" in tool.output(), PATIENCE, "the driver to notice")
    scene.wait_committed(LONG)
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []


@pytest.fixture
def idle(source: Any, target: Any, make_scene: Callable[..., Scene]) -> Scene:
    """For a mirror that copies nothing."""
    return make_scene(source, target, 1)


HANDLER = """
def handle(record):
    assert "legacy_mm_env" in __file__, "out of the archive, although the driver's folder can be read here"
    return [record.to(record.topic)]
"""


@pytest.mark.slow
def test_a_script_handles_records_on_the_cluster(idle: Scene, spark: SparkStandalone, tmp_path: Path) -> None:
    (tmp_path / "handler.py").write_text(HANDLER)
    tool = mirror(idle, spark, "--message.handler", str(tmp_path / "handler.py"))
    idle.wait_committed(1)
    stop(tool)


@pytest.mark.slow
def test_a_jar_handles_records_on_the_cluster(
    idle: Scene, spark: SparkStandalone, handler_jars: dict[str, Path]
) -> None:
    jar = str(handler_jars["DropTombstones"])
    tool = mirror(idle, spark, "--message.handler", "handlers.DropTombstones", "--handler.classpath", jar)
    idle.wait_committed(1)
    stop(tool)


def test_without_a_secret_it_says_what_to_do(idle: Scene, spark: SparkStandalone) -> None:
    environment = {**spark.environment(), "SPARK_CONF_DIR": "/nowhere"}
    tool = idle.mirror("--spark.master", spark.master, environment=environment)
    assert tool.wait(60) == 1
    assert "spark.authenticate.secret" in tool.output()
    assert "Traceback" not in tool.output()


@pytest.mark.parametrize("conf", ["spark.speculation=true", "spark.task.maxFailures=4", "spark.ui.enabled=true"])
def test_properties_that_break_a_guarantee_are_refused_by_name(idle: Scene, conf: str) -> None:
    tool = idle.mirror("--spark.master", "spark://127.0.0.1:1", "--spark.conf", conf)
    assert tool.wait(30) == 1
    assert conf.partition("=")[0] in tool.output()


@pytest.mark.slow
def test_verify_runs_on_the_cluster(idle: Scene, spark: SparkStandalone, tmp_path: Path) -> None:
    """What it needs travels in an archive, how to reach the brokers over the channel."""
    applications = spark.applications()
    options = ("--spark.master", spark.master, "--spark.conf", "spark.cores.max=2")
    found = verify(tmp_path, idle.source, idle.target, idle.topic, *options, environment=spark.environment())
    assert (found.returncode, found.stderr) == (2, "")
    assert f"{idle.topic}: 1 records missing, source partition " in found.stdout
    assert spark.applications() == applications + 1
