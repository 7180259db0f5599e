"""The gateway JVM: Spark's driver JVM, started by ourselves, and the few Java classes we use directly.

pyspark's own launcher demands a module that some Java runtimes lack, takes two shells, and leaves signals and heap to
chance. Ours ignores HUP, INT and TERM from its first instruction and ends when this process ends (its standard input
closes). The only module that speaks py4j.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from py4j.protocol import Py4JError, Py4JJavaError

from legacy_mm.clock import Deadline
from legacy_mm.errors import HostError, InvalidPattern, StreamFailure
from legacy_mm.spark.java import find_java, pyspark_jars

_logger = logging.getLogger("org.apache.spark")
_START_SECONDS = 60.0
_OPENED = (
    "java.base/java.lang java.base/java.lang.invoke java.base/java.lang.reflect java.base/java.io java.base/java.net "
    "java.base/java.nio java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic "
    "java.base/java.util.regex java.base/java.util.stream java.base/jdk.internal.ref java.base/sun.nio.ch "
    "java.base/sun.nio.cs java.base/sun.security.action java.base/sun.util.calendar"
)
_FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss512k", "-XX:-UsePerfData", "-Djava.awt.headless=true")
_SMALL_HEAP = ("-Xms32m", "-Xmn12m")  # a driver keeps 30 MB; Java's own choice on a big host touches 100 MB more
_IGNORING_SIGNALS = 'trap "" HUP INT TERM; exec "$@"'


class Jvm:
    """A running gateway JVM."""

    def __init__(self, heap: str, environment: Mapping[str, str], log: Path | None) -> None:
        """Start it without waiting; `environment` is the JVM's whole environment.

        Its standard error goes to `log`, or line by line to our own log at debug level, where secrets are hidden.
        """
        self._log = log
        self._connecting = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="legacy_mm-jvm-")
        self._connection_info = Path(self._folder.name) / "gateway"
        command = [str(find_java()), f"-Xmx{heap}", *_SMALL_HEAP, *_FLAGS]
        command += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED.split()]
        command += [f"-Djava.io.tmpdir={tempfile.gettempdir()}", "-cp", _class_path(environment)]
        command += ["org.apache.spark.deploy.SparkSubmit", "pyspark-shell"]
        with ExitStack() as files:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _IGNORING_SIGNALS, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=files.enter_context(log.open("wb")) if log else subprocess.PIPE,
                env={**environment, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._connection_info)},
            )
        self._gateway: Any = None
        if self._process.stderr is not None:
            threading.Thread(target=_log_lines, args=(self._process.stderr,), name="java-log", daemon=True).start()

    @property
    def pid(self) -> int:
        """Process id of the JVM."""
        return self._process.pid

    def connect(self) -> Any:
        """Wait for the gateway and connect to it (idempotent); raises HostError when the JVM does not come up."""
        with self._connecting:
            if self._gateway is None:
                self._gateway = self._launch_gateway()
            return self._gateway

    def _launch_gateway(self) -> Any:
        port, secret = self._await_gateway()
        from pyspark.java_gateway import launch_gateway

        os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
        os.environ["PYSPARK_GATEWAY_SECRET"] = secret
        try:
            return launch_gateway()  # type: ignore[no-untyped-call]
        finally:
            del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
            self._folder.cleanup()

    def alive(self) -> bool:
        """False once the JVM has ended."""
        return self._process.poll() is None

    def stop(self, deadline: Deadline) -> None:
        """Let it end by itself (its standard input closes); kill it at the deadline."""
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        try:
            self._process.wait(deadline.remaining())
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def topic_matcher(self, pattern: str) -> TopicMatcher:
        """`java.util.regex` for a topic pattern; raises InvalidPattern with Java's own message."""
        return TopicMatcher(self.connect().jvm, pattern)

    def _await_gateway(self) -> tuple[int, str]:
        deadline = Deadline.after(_START_SECONDS)
        while not self._connection_info.exists():
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(0.02)
                raise HostError(f"the Java process for Spark ended with code {code}: {self._last_words()}")
            if deadline.expired():
                raise HostError(f"the Java process for Spark was not ready after {_START_SECONDS:g} s")
        data = self._connection_info.read_bytes()
        size = int.from_bytes(data[4:8], "big")
        return int.from_bytes(data[:4], "big"), data[8 : 8 + size].decode()

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines() if self._log else []
        return next((line for line in reversed(lines) if line.strip()), "it said nothing")


class TopicMatcher:
    """Which topic names a Java regular expression matches as a whole."""

    def __init__(self, jvm: Any, pattern: str) -> None:
        self._lines = jvm.java.util.regex.Pattern.compile("\n")
        self._joining = jvm.java.util.stream.Collectors.joining("\n")
        try:
            self._matches = jvm.java.util.regex.Pattern.compile(pattern).asMatchPredicate()
        except Py4JJavaError as error:
            raise InvalidPattern(f"java.lang.RuntimeException: {pattern} is an invalid regex.") from error

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """The names that match; one call to Java whatever their number. Raises StreamFailure when the JVM is gone."""
        joined = "\n".join(names)
        if not joined:
            return frozenset()
        try:
            found = self._lines.splitAsStream(joined).filter(self._matches).collect(self._joining)
        except (Py4JError, OSError) as error:
            raise StreamFailure("the Java process for Spark does not answer") from error
        return frozenset(found.split("\n")) - {""}


def _log_lines(lines: IO[bytes]) -> None:
    for line in lines:
        _logger.debug("%s", line.decode(errors="replace").rstrip())


def python_executable() -> str:
    """The interpreter of this environment under its own name, whatever name this process was started by."""
    return str(Path(sys.prefix) / "bin" / "python")


def _class_path(environment: Mapping[str, str]) -> str:
    return f"{environment['SPARK_CONF_DIR']}{os.pathsep}{pyspark_jars()}"
