"""Run the real legacy tool, the real MirrorMaker 2, or ours, on given properties. Rule: it sets nothing in secret.

The builders of the legacy tool and of ours take the same arguments, so that one scenario runs on both.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from legacy_mm.spark.java import find_java
from legacy_mm.testbed.jars import kafka_jars
from legacy_mm.testbed.java_files import write_log_configuration, write_properties
from legacy_mm.testbed.ports import LOOPBACK
from legacy_mm.testbed.process_tree import ProcessTree
from legacy_mm.testbed.releases import CURRENT, OLD
from legacy_mm.testbed.spawn import spawn
from legacy_mm.testbed.waiting import wait_until

CHECKOUT = Path(__file__).resolve().parents[2]
LAUNCHER = CHECKOUT / "bin" / "kafka-mirror-maker.sh"
# Variables of a developer's shell that must not reach a tool; a caller's own `environment` still counts.
FOREIGN = ("KAFKA_", "LEGACY_MM_", "SPARK_", "PYSPARK_", "JMX_PORT", "CLASSPATH", "LOG_DIR")
KEPT = ("LEGACY_MM_CACHE",)
_KILL_SECONDS = 30.0
_TAIL = 4_000
_PERFORMANCE = (
    "-server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 "
    "-XX:+ExplicitGCInvokesConcurrent -XX:MaxInlineLevel=15 -Djava.awt.headless=true"
)
_JMX = (
    "-Dcom.sun.management.jmxremote -Dcom.sun.management.jmxremote.authenticate=false "
    "-Dcom.sun.management.jmxremote.ssl=false"
)


class ToolProcess:
    """A tool that runs: its output and its temporary files go to its folder, its process tree ends with `kill_tree`."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        working_folder: Path | None = None,
    ) -> None:
        """Start the command; it also works in `folder`, unless another one is named."""
        temporary = folder / "tmp"  # so that even a killed one leaves nothing outside
        temporary.mkdir(parents=True, exist_ok=True)
        self.command = tuple(command)
        self.name = Path(command[0]).name
        self._output = folder / "output.log"
        self._output.unlink(missing_ok=True)
        variables = {**_clean_environment(), "TMPDIR": str(temporary), **(environment or {})}
        self._popen = spawn(command, folder=working_folder or folder, output=self._output, environment=variables)
        self.tree = ProcessTree(self._popen.pid)

    @property
    def pid(self) -> int:
        """Process id of the tool's main process."""
        return self._popen.pid

    def output(self) -> str:
        """Return the output so far, stdout and stderr."""
        return self._output.read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        """Signal the main process."""
        self._popen.send_signal(number)

    def running(self) -> bool:
        """Return False once the main process has ended."""
        return self._popen.poll() is None

    def wait(self, timeout: float) -> int:
        """Exit status as a shell shows it (128 + n for death by signal n); TimeoutError with the output."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"pid {self.pid} still runs after {timeout:g} s; it printed:\n{self.output()}") from None
        return code if code >= 0 else 128 - code

    def stop(self, timeout: float) -> int:
        """Send SIGTERM, and return its exit status."""
        self.signal(signal.SIGTERM)
        return self.wait(timeout)

    def wait_for_output(self, text: str, timeout: float) -> None:
        """Wait until it has printed `text`; AssertionError with the output if it ended without."""

        def printed() -> bool:
            ended = not self.running()  # asked first: what it printed before its end must count
            if text in self.output():
                return True
            if ended:
                raise AssertionError(f"{self.name} ended without {text!r}; it printed:\n{self.output()[-_TAIL:]}")
            return False

        wait_until(printed, timeout, f"{self.name} to print {text!r}")

    def kill_tree(self) -> None:
        """Send SIGKILL to every process of the tree, and wait until they are gone."""
        if self.running():
            self._popen.send_signal(signal.SIGSTOP)  # or it might start a process that this list misses
        pids = self.tree.pids()
        if self.running():
            self._popen.kill()
        self._popen.wait()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.tree.pids(), _KILL_SECONDS, f"the children of {self.name} to be gone")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill_tree()


class MirrorTool(Protocol):
    """The shape both builders share."""

    def __call__(
        self,
        folder: Path,
        consumer: Mapping[str, str],
        producer: Mapping[str, str],
        *options: str,
        heap: str = ...,
        log_level: str = ...,
        environment: Mapping[str, str] | None = ...,
        classpath: Sequence[Path] = ...,
    ) -> ToolProcess:
        """Start the tool on these two properties files, written to the folder."""


def legacy_mirror_maker(
    folder: Path,
    consumer: Mapping[str, str],
    producer: Mapping[str, str],
    *options: str,
    heap: str = "256M",
    log_level: str = "WARN",
    environment: Mapping[str, str] | None = None,
    classpath: Sequence[Path] = (),
) -> ToolProcess:
    """Start Kafka's MirrorMaker 3.9.1, as its start script would start it and with the variables that it obeys.

    The process is Java itself, as after the script's `exec`.
    """
    variables = _tool_environment(folder, heap, log_level, environment, classpath)
    words = shlex.split(variables["KAFKA_HEAP_OPTS"])
    words += shlex.split(variables.get("KAFKA_JVM_PERFORMANCE_OPTS", _PERFORMANCE))
    words += shlex.split(variables.get("KAFKA_GC_LOG_OPTS", ""))
    words += shlex.split(variables.get("KAFKA_JMX_OPTS", _JMX))
    if port := variables.get("JMX_PORT"):
        words += [f"-Dcom.sun.management.jmxremote.{name}={port}" for name in ("port", "rmi.port")]
    words += [f"-Dkafka.logs.dir={variables['LOG_DIR']}", *shlex.split(variables["KAFKA_LOG4J_OPTS"])]
    libraries = [variables["CLASSPATH"]] if variables.get("CLASSPATH") else []
    words += ["-cp", ":".join([*libraries, f"{kafka_jars(OLD)}/*"]), *shlex.split(variables.get("KAFKA_OPTS", ""))]
    command = [str(find_java()), *words, "kafka.tools.MirrorMaker", *_files(folder, consumer, producer), *options]
    return ToolProcess(command, folder, variables)


def our_mirror_maker(
    folder: Path,
    consumer: Mapping[str, str],
    producer: Mapping[str, str],
    *options: str,
    heap: str = "256M",
    log_level: str = "WARN",
    environment: Mapping[str, str] | None = None,
    classpath: Sequence[Path] = (),
    launcher: Path = LAUNCHER,
    wrapper: Sequence[str] = (),
) -> ToolProcess:
    """Start this project's command by its script, with the files and variables that the old one gets."""
    variables = _tool_environment(folder, heap, log_level, environment, classpath)
    return ToolProcess([*wrapper, str(launcher), *_files(folder, consumer, producer), *options], folder, variables)


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
    """Start Kafka's MirrorMaker 2 in dedicated mode, names kept, from the beginning.

    `topics` as its `topics` property.
    """
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
    return ToolProcess([*_current_java(folder, heap), "org.apache.kafka.connect.mirror.MirrorMaker", str(file)], folder)


def checkpoint_connector(
    folder: Path, source: str, target: str, *, rest_port: int, heap: str = "512M", properties: Mapping[str, str]
) -> ToolProcess:
    """Start MirrorMaker 2's checkpoint connector alone, on a standalone worker: no Java has copied the records."""
    folder.mkdir(parents=True, exist_ok=True)
    bytes_as_they_are = "org.apache.kafka.connect.converters.ByteArrayConverter"
    worker = {
        "bootstrap.servers": target,
        "key.converter": bytes_as_they_are,
        "value.converter": bytes_as_they_are,
        "offset.storage.file.filename": str(folder / "offsets"),
        "listeners": f"http://{LOOPBACK}:{rest_port}",
    }
    connector = {
        "name": "checkpoints",
        "connector.class": "org.apache.kafka.connect.mirror.MirrorCheckpointConnector",
        "tasks.max": "1",
        "source.cluster.bootstrap.servers": source,
        "target.cluster.bootstrap.servers": target,
        "checkpoints.topic.replication.factor": "1",
        **properties,
    }
    files = [
        write_properties(folder / "worker.properties", worker),
        write_properties(folder / "connector.properties", connector),
    ]
    words = ["org.apache.kafka.connect.cli.ConnectStandalone", *map(str, files)]
    return ToolProcess([*_current_java(folder, heap), *words], folder)


def _current_java(folder: Path, heap: str) -> list[str]:
    """Return a JVM command with the jars of the current release, which prints its warnings on stderr."""
    log = write_log_configuration(folder / "log4j2.properties", generation=2, level="WARN", file=None)
    return [str(find_java()), f"-Xmx{heap}", *_PERFORMANCE.split(), log, "-cp", f"{kafka_jars(CURRENT)}/*"]


def _tool_environment(
    folder: Path, heap: str, log_level: str, environment: Mapping[str, str] | None, classpath: Sequence[Path]
) -> dict[str, str]:
    """Return the variables of kafka-run-class.sh for both tools; a caller's own win."""
    folder.mkdir(parents=True, exist_ok=True)
    log = write_log_configuration(folder / "log4j.properties", generation=1, level=log_level, file=None)
    variables = {"KAFKA_HEAP_OPTS": f"-Xmx{heap}", "KAFKA_LOG4J_OPTS": log, "LOG_DIR": str(folder)}
    if classpath:
        variables["CLASSPATH"] = ":".join(map(str, classpath))
    return variables | dict(environment or {})


def _clean_environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name in KEPT or not name.startswith(FOREIGN)}


def _files(folder: Path, consumer: Mapping[str, str], producer: Mapping[str, str]) -> list[str]:
    read = write_properties(folder / "consumer.properties", consumer)
    written = write_properties(folder / "producer.properties", producer)
    return ["--consumer.config", str(read), "--producer.config", str(written)]
