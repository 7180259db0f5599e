"""A real Spark standalone master and its workers on loopback, from the pyspark package alone.

Authentication and encryption are on, as this project demands of cluster masters. The configuration's own master is
another one, and it submits to clusters, as on hosts that are used for more. Workers run with an environment that
does not know this project, so what they need must come to them. Rule: every process ends with the context.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGCONT
from types import TracebackType
from typing import Self

from compat.laboratory.ports import Ports
from legacy_mm.audit.spawn import QUICK_JVM
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm.java_home import find_java

START_TIMEOUT = 40.0


class SparkNode(ToolProcess):
    """A worker (or the master) and what it started."""

    def resume(self, pids: Sequence[int]) -> None:
        """Let suspended processes continue."""
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, SIGCONT)


class SparkStandalone:
    """A master with `workers` workers of four slots each."""

    def __init__(self, folder: Path, *, workers: int) -> None:
        self._folder = folder
        self._count = workers
        self._ports = Ports()
        self._nodes: list[SparkNode] = []
        self.master = f"spark://127.0.0.1:{self._ports.reserve()}"

    @property
    def workers(self) -> list[SparkNode]:
        """The workers, without the master."""
        return self._nodes[1:]

    def applications(self) -> int:
        """Return the number of applications that have run on a worker."""
        return len({path.name for path in (self._folder / "work").glob("app-*")})

    def environment(self) -> dict[str, str]:
        """Return a driver's variables for this cluster: the configuration folder, and the driver's address."""
        return {"SPARK_CONF_DIR": str(self._folder / "conf"), "SPARK_LOCAL_IP": "127.0.0.1"}

    def __enter__(self) -> Self:
        conf = self._folder / "conf"
        conf.mkdir(parents=True)
        (conf / "spark-defaults.conf").write_text(
            "spark.authenticate true\n"
            "spark.network.crypto.enabled true\n"
            f"spark.authenticate.secret {secrets.token_hex(16)}\n"
            "spark.master.rest.enabled false\n"
            "spark.master yarn\n"
            "spark.submit.deployMode cluster\n"
        )
        _, _, port = self.master.rpartition(":")
        main = "org.apache.spark.deploy.master.Master"
        self._start("master", main, "--host", "127.0.0.1", "--port", port, "--webui-port", "0")
        self._await(self._nodes[0], "I have been elected leader")
        for number in range(self._count):
            main = "org.apache.spark.deploy.worker.Worker"
            size = ("--cores", "4", "--memory", "2g", "--webui-port", "0", "--work-dir", str(self._folder / "work"))
            self._start(f"worker-{number}", main, "--host", "127.0.0.1", *size, self.master)
        for node in self.workers:
            self._await(node, "Successfully registered with master")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for node in self._nodes:
            node.resume(node.tree.pids())
            node.kill_tree()
        self._ports.release()

    def _start(self, name: str, main: str, *arguments: str) -> None:
        command = [f"{_spark_home()}/bin/spark-class", main, *arguments]
        environment = {
            **self.environment(),
            "SPARK_HOME": _spark_home(),
            "JAVA_HOME": str(find_java().parent.parent),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": " ".join(QUICK_JVM),
            "PYTHONPATH": "",
        }
        self._nodes.append(SparkNode(command, self._folder / name, environment))

    def _await(self, node: SparkNode, line: str) -> None:
        def ready() -> bool:
            if not node.running():
                raise HostError(f"Spark ended at once: {node.output()[-500:]}")
            return line in node.output()

        wait_until(ready, START_TIMEOUT, f"'{line}'")


def _spark_home() -> str:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise HostError("pyspark is not installed")
    return str(Path(spec.origin).parent)
