"""The gateway JVM: Spark's driver JVM, started by ourselves, and the few Java classes we use directly.

pyspark's own launcher demands a module that some Java runtimes lack, takes two shells, and leaves signals and heap to
chance. Ours ignores HUP, INT and TERM from its first instruction and ends when this process ends (its standard input
closes). A user's Java options that this Java refuses are left out, and it is started again. It is not called java: the
one process of that name is the one that handles signals. The only module that speaks py4j.
"""

from __future__ import annotations

import logging
import math
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from py4j.protocol import Py4JError, Py4JJavaError

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, InvalidPattern, StreamFailure
from legacy_mm.base.settings import LEAST_HEAP, JvmSettings
from legacy_mm.logs import events
from legacy_mm.policies.pattern_words import advice
from legacy_mm.runtime.jvm import class_archive, jvm_options
from legacy_mm.runtime.jvm.java_home import find_java, java_version

_logger = logging.getLogger("org.apache.spark")
_START_TIMEOUT = 60.0
_LAST_WORDS_TIMEOUT = 1.0
_KEPT_LINES = 100
_OPENED = (
    "java.base/java.lang java.base/java.lang.invoke java.base/java.lang.reflect java.base/java.io java.base/java.net "
    "java.base/java.nio java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic "
    "java.base/java.util.regex java.base/java.util.stream java.base/jdk.internal.ref java.base/sun.nio.ch "
    "java.base/sun.nio.cs java.base/sun.security.action java.base/sun.util.calendar"
)
_NAME = "spark-driver"
_CONFIGURATIONS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
_MESSAGES_ON_STDERR = "-XX:+DisplayVMOutputToStderr"
_SUSPENDED = "suspend=y"
_GONE = "the Java process for Spark does not answer"
_UNDECODED = re.compile("[\ud800-\udfff]")
"""Bytes of a command line that are no letters: Java has this letter for them."""
IGNORING_SIGNALS = 'trap "" HUP INT TERM; exec "$@"'


StartJvm = Callable[[], "Jvm"]
"""Starts the JVM at the first call, and returns it."""


class Jvm:
    """A running gateway JVM."""

    def __init__(
        self,
        settings: JvmSettings,
        environment: Mapping[str, str],
        submit: Sequence[str] = (),
        *,
        core_only: bool = False,
    ) -> None:
        """Start it without waiting; `environment` is the JVM's whole environment, `submit` are words for spark-submit,
        where a configuration folder of the user's would else decide.

        `core_only`: Spark runs nothing but Python's tasks on this host, in silence and without classes of the user's,
        so most of its jars can stay closed.
        """
        self._settings = settings
        self._submit = submit
        self._environment = environment
        self._core_only = core_only
        self._connecting = threading.Lock()
        self._java = find_java(settings.java_home)
        self._folder = Path(tempfile.mkdtemp(prefix="legacy_mm-jvm-"))
        """A folder that only we remove: a JVM that cannot say where it listens never ends."""
        self._connection_info = self._folder / "gateway"
        self._executable = self._folder / _NAME
        self._options = list(settings.options)
        self._gateway: Any = None
        with ExitStack() as undo:
            undo.callback(shutil.rmtree, self._folder, ignore_errors=True)
            self._executable.symlink_to(self._java)
            self._leave_out(jvm_options.removed(self._options, java_version(self._java)))
            heap = jvm_options.computed_heap(self._java, self._options)
            if heap is not None and heap < LEAST_HEAP:
                events.emit(events.JVM_HEAP_RAISED, bytes=heap)
                self._options.append(f"-Xmx{LEAST_HEAP}")
            self._start()
            undo.pop_all()

    def _start(self) -> None:
        command = [str(self._executable), _MESSAGES_ON_STDERR, *_folders()]
        command += class_archive.WITHOUT_LOGGERS if self._core_only else ()
        command += class_archive.options(self._java, self._options)
        command += jvm_options.with_ours(self._options)
        command += [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED.split()]
        command += ["-cp", self._class_path(), *self._main()]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", IGNORING_SIGNALS, "sh", *command],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self._environment, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(self._connection_info)},
        )
        assert self._process.stderr is not None
        self._words = _LastWords(self._process.stderr)

    def _main(self) -> Sequence[str]:
        """Return the class to run and its words: SparkSubmit only where there is something to submit to."""
        if not self._submit:
            return ("org.apache.spark.api.python.PythonGatewayServer",)
        return ("org.apache.spark.deploy.SparkSubmit", *self._submit, "pyspark-shell")

    def _leave_out(self, options: Iterable[str]) -> None:
        for option in options:
            events.emit(events.JVM_OPTION_LEFT_OUT, option=option, release=java_version(self._java))
            self._options.remove(option)

    def _class_path(self) -> str:
        """Return the class path with the jars first, as a class archive needs them; they have no file that a
        configuration folder has.
        """
        jars = (
            class_archive.core_jars() if self._core_only else [*class_archive.core_jars(), *class_archive.other_jars()]
        )
        folders = [self._environment[name] for name in _CONFIGURATIONS if name in self._environment]
        return os.pathsep.join(filter(None, (*map(str, jars), *folders, self._settings.class_path)))

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
            shutil.rmtree(self._folder, ignore_errors=True)

    def alive(self) -> bool:
        """Return False once the JVM has ended; `connect` reports one that does not start."""
        return self._gateway is None or self._process.poll() is None

    def stop(self, deadline: Deadline) -> None:
        """Let it end by itself (its standard input closes); kill it at the deadline."""
        self._close_input()
        try:
            self._process.wait(deadline.remaining())
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _close_input(self) -> None:
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()

    def topic_matcher(self, pattern: str) -> TopicMatcher:
        """Compile a topic pattern with `java.util.regex`; raise InvalidPattern with Java's own message."""
        return TopicMatcher(self.connect().jvm, pattern)

    def _await_gateway(self) -> tuple[int, str]:
        timeout = math.inf if any(_SUSPENDED in option for option in self._options) else _START_TIMEOUT
        deadline = Deadline.after(timeout)
        while not self._connection_info.exists():
            with suppress(subprocess.TimeoutExpired):
                self._start_again(self._process.wait(0.02))
            if deadline.expired():
                raise HostError(f"the Java process for Spark was not ready after {_START_TIMEOUT:g} s")
        data = self._connection_info.read_bytes()
        size = int.from_bytes(data[4:8], "big")
        return int.from_bytes(data[:4], "big"), data[8 : 8 + size].decode()

    def _start_again(self, code: int) -> None:
        """Restart without the options that Java complained about; raise HostError when it ended for another reason."""
        self._close_input()
        said = self._words.all()
        refused = jvm_options.refused("\n".join(said), self._options)
        if not refused:
            why = jvm_options.why_ended(self._java, self._options, said)
            raise HostError(f"the Java process for Spark ended with code {code}: {why}")
        self._leave_out(refused)
        self._start()


class _LastWords(threading.Thread):
    """Reads the JVM's standard error to its end, logs it at debug level, where secrets are hidden, and keeps some."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(name="jvm-stderr", daemon=True)
        self._stream = stream
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self.start()

    def run(self) -> None:
        with self._stream:
            for line in self._stream:
                self._lines.append(line.decode(errors="replace").rstrip())
                _logger.debug("%s", self._lines[-1])

    def all(self) -> list[str]:
        """Return the lines of a JVM that has ended."""
        self.join(_LAST_WORDS_TIMEOUT)
        return list(self._lines)


class TopicMatcher:
    """A Java regular expression for topic names, matched as a whole."""

    def __init__(self, jvm: Any, pattern: str) -> None:
        try:
            self._compile = jvm.java.util.regex.Pattern.compile
            self._lines = self._compile("\n")
            self._joining = jvm.java.util.stream.Collectors.joining("\n")
            self._matches = self._compile(_UNDECODED.sub("\ufffd", pattern)).asMatchPredicate()
        except Py4JJavaError as error:
            refused = InvalidPattern(f"java.lang.RuntimeException: {pattern} is an invalid regex.")
            refused.advice = advice(pattern, _reason(error), self._compiles)
            raise refused from error
        except (Py4JError, OSError) as error:
            raise StreamFailure(_GONE) from error

    def _compiles(self, pattern: str) -> bool:
        try:
            self._compile(pattern)
        except Py4JJavaError:
            return False
        return True

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names that match; one call to Java whatever their number, and one for each name of several lines.

        Raise StreamFailure when the JVM is gone.
        """
        every = list(names)
        try:
            found = {name for name in every if "\n" in name and self._matches.test(name)}
            if joined := "\n".join(name for name in every if "\n" not in name):
                found |= set(self._lines.splitAsStream(joined).filter(self._matches).collect(self._joining).split("\n"))
        except (Py4JError, OSError) as error:
            raise StreamFailure(_GONE) from error
        return frozenset(found) - {""}


def _reason(error: Py4JJavaError) -> str:
    """Return Java's reason for refusing an expression."""
    thrown = error.java_exception
    described = hasattr(thrown, "getDescription") and thrown.getClass().getSimpleName() == "PatternSyntaxException"
    return str(thrown.getDescription()) if described else ""


def _folders() -> list[str]:
    """Return options with folders where Java may write. A user without a passwd entry has the home `?` in Java, with
    which Spark does not start.
    """
    temporary = tempfile.gettempdir()
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return [f"-Djava.io.tmpdir={temporary}", f"-Duser.home={temporary}"]
    return [f"-Djava.io.tmpdir={temporary}"]


def python_executable() -> str:
    """Return the interpreter of this environment under its own name, whatever name this process was started by."""
    folder = Path(sys.prefix) / "bin"
    return str(next((path for path in (folder / "python", folder / "python3") if path.exists()), sys.executable))
