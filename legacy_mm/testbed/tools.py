"""Run the real old tool, the real MirrorMaker 2, or ours, on given properties. Rule: nothing is configured in secret.

The builders of the old tool and of ours take the same arguments, so that one scenario runs on both.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from legacy_mm.spark.java import find_java
from legacy_mm.testbed.jars import kafka_jars
from legacy_mm.testbed.java_files import write_log_configuration, write_properties
from legacy_mm.testbed.process_tree import ProcessTree
from legacy_mm.testbed.releases import CURRENT, OLD
from legacy_mm.testbed.spawn import spawn

LAUNCHER = Path(__file__).resolve().parents[2] / "bin" / "kafka-mirror-maker.sh"
_PERFORMANCE = (
    "-server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 "
    "-XX:+ExplicitGCInvokesConcurrent -XX:MaxInlineLevel=15 -Djava.awt.headless=true"
)


class ToolProcess:
    """A tool that runs: its output goes to one file, its process tree ends with `kill_tree`."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._output = folder / "output.log"
        self._output.unlink(missing_ok=True)
        self._popen = spawn(
            command, folder=folder, output=self._output, environment={**os.environ, **(environment or {})}
        )
        self.tree = ProcessTree(self._popen.pid)

    @property
    def pid(self) -> int:
        """Process id of the tool's main process."""
        return self._popen.pid

    def output(self) -> str:
        """What it printed so far, stdout and stderr."""
        return self._output.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Signal the main process."""
        self._popen.send_signal(number)

    def running(self) -> bool:
        """False once the main process has ended."""
        return self._popen.poll() is None

    def wait(self, timeout: float) -> int:
        """Exit status as a shell shows it (128 + n for death by signal n); TimeoutError with the output."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"pid {self.pid} still runs after {timeout:g} s; it printed:\n{self.output()}") from None
        return code if code >= 0 else 128 - code

    def kill_tree(self) -> None:
        """SIGKILL for every process of the tree."""
        pids = self.tree.pids()
        if self.running():
            self._popen.kill()
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self._popen.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill_tree()


def legacy_mirror_maker(
    folder: Path,
    consumer: Mapping[str, str],
    producer: Mapping[str, str],
    *options: str,
    heap: str = "256M",
    log_level: str = "WARN",
) -> ToolProcess:
    """Kafka's MirrorMaker 3.9.1, with the JVM flags of its start script."""
    folder.mkdir(parents=True, exist_ok=True)
    log = write_log_configuration(folder / "log4j.properties", generation=1, level=log_level, file=None)
    command = [str(find_java()), f"-Xmx{heap}", *_PERFORMANCE.split(), log, "-cp", f"{kafka_jars(OLD)}/*"]
    return ToolProcess([*command, "kafka.tools.MirrorMaker", *_files(folder, consumer, producer), *options], folder)


def our_mirror_maker(
    folder: Path,
    consumer: Mapping[str, str],
    producer: Mapping[str, str],
    *options: str,
    environment: Mapping[str, str] | None = None,
    launcher: Path = LAUNCHER,
) -> ToolProcess:
    """This project's command, by its script."""
    folder.mkdir(parents=True, exist_ok=True)
    return ToolProcess([str(launcher), *_files(folder, consumer, producer), *options], folder, environment)


def mirror_maker_2(
    folder: Path,
    source: str,
    target: str,
    topics: str,
    *,
    tasks: int = 1,
    heap: str = "1G",
    properties: Mapping[str, str] | None = None,
) -> ToolProcess:
    """Kafka's MirrorMaker 2 in dedicated mode, names kept, from the beginning; `topics` as its `topics` property."""
    folder.mkdir(parents=True, exist_ok=True)
    replication = "replication.factor checkpoints.topic.replication.factor heartbeats.topic.replication.factor "
    replication += "offset-syncs.topic.replication.factor offset.storage.replication.factor "
    replication += "status.storage.replication.factor config.storage.replication.factor"
    chosen = {
        "clusters": "src, dst",
        "src.bootstrap.servers": source,
        "dst.bootstrap.servers": target,
        "src->dst.enabled": "true",
        "dst->src.enabled": "false",
        "src->dst.topics": topics,
        "tasks.max": str(tasks),
        "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy",
        "emit.heartbeats.enabled": "false",
        "emit.checkpoints.enabled": "false",
        "sync.topic.acls.enabled": "false",
        **dict.fromkeys(replication.split(), "1"),
        **(properties or {}),
    }
    file = write_properties(folder / "mm2.properties", chosen)
    log = write_log_configuration(folder / "log4j2.properties", generation=2, level="WARN", file=None)
    command = [str(find_java()), f"-Xmx{heap}", *_PERFORMANCE.split(), log, "-cp", f"{kafka_jars(CURRENT)}/*"]
    return ToolProcess([*command, "org.apache.kafka.connect.mirror.MirrorMaker", str(file)], folder)


def _files(folder: Path, consumer: Mapping[str, str], producer: Mapping[str, str]) -> list[str]:
    read = write_properties(folder / "consumer.properties", consumer)
    written = write_properties(folder / "producer.properties", producer)
    return ["--consumer.config", str(read), "--producer.config", str(written)]
