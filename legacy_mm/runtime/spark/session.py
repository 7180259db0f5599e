"""The Spark application: embedded by default, on a cluster by its master's address.

Embedded Spark is hermetic: nothing in the host's environment or configuration reaches it. A cluster master reads the
user's SPARK_CONF_DIR; what would break an invariant is set by us afterwards, so it cannot.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from legacy_mm.base.clock import Deadline
from legacy_mm.base.settings import JvmSettings, SparkSettings
from legacy_mm.runtime.jvm.gateway import Jvm, python_executable
from legacy_mm.runtime.jvm.java_home import pyspark_jars
from legacy_mm.runtime.spark.prepared_daemon import PreparedDaemon
from legacy_mm.runtime.spark.shipping import UNPACKED

_FOREIGN = (
    "SPARK_",
    "PYSPARK_",
    "HADOOP_",
    "YARN_",
    "_JAVA_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
)
_LOG4J2 = """\
rootLogger.level = {level}
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
"""
_KEPT = {
    "spark.speculation": "false",
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.dynamicAllocation.enabled": "false",
    "spark.python.worker.reuse": "false",
    "spark.python.daemon.module": "legacy_mm.runtime.spark.worker_daemon",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_FEW_THREADS = {
    "spark.rpc.netty.dispatcher.numThreads": "2",
    "spark.shuffle.mapOutput.dispatcher.numThreads": "1",
}
"""Embedded, Spark carries a message a second; it would start two threads for each slot of the master."""
_QUESTION_STOP_TIMEOUT = 2.0
_WORKER_PYTHON = "spark.pyspark.python"
_ENCRYPTED = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.io.encryption.enabled": "true",
}


class SparkHost:
    """Folder, environment and JVM of one Spark application; `context()` is the application itself."""

    def __init__(self, settings: SparkSettings, streams: int, *, quiet: bool = True, sql: bool = False) -> None:
        """Start the JVM without waiting for it; `sql`: the application uses Spark SQL."""
        self._settings = settings
        self._streams = streams
        self._preload = ""
        self.folder = Path(tempfile.mkdtemp(prefix="legacy_mm-spark-"))
        self._folders: list[Path] = []
        self.embedded = settings.embedded
        self._core_only = self.embedded and quiet and not sql and not settings.jvm.class_path
        conf_dir = self.folder
        if not self.embedded and "SPARK_CONF_DIR" in os.environ:
            conf_dir = Path(os.environ["SPARK_CONF_DIR"])
        (self.folder / "log4j2.properties").write_text(_LOG4J2.format(level="OFF" if quiet else "WARN"))
        environment = self._environment(conf_dir)
        os.environ["SPARK_HOME"] = environment["SPARK_HOME"]
        prepared = {"LEGACY_MM_PREPARED_DAEMON": str(self.folder)} if self.embedded else {}
        self._daemon: PreparedDaemon | None = None
        with ExitStack() as undo:
            undo.callback(shutil.rmtree, self.folder, ignore_errors=True)
            submit = () if self.embedded else ("--master", str(settings.master), "--deploy-mode", "client")
            self.jvm = Jvm(settings.jvm, environment | prepared, submit, core_only=self._core_only)
            undo.pop_all()

    def preload(self, modules: str) -> None:
        """Let the Python daemon import these modules, separated by blanks, once for all workers; before `context`.

        This process imports pyspark now: its modules import each other, so two threads that began at once would fail.
        """
        self._preload = modules
        if self.embedded:
            environment = self._environment(self.folder) | {"LEGACY_MM_PRELOAD": modules}
            self._daemon = PreparedDaemon(self.folder, environment)
        import pyspark  # noqa: F401

    def context(self, archive: Path | None = None) -> Any:
        """Make the SparkContext (blocks until the application runs) and wake the Python daemon by an empty job."""
        from pyspark import SparkConf, SparkContext

        gateway = self.jvm.connect()
        self._leave_folder_to(gateway.jvm)
        conf = SparkConf(_jvm=gateway.jvm)
        defaults = dict(conf.getAll())
        conf.setAll(sorted(self.properties(archive, defaults).items()))
        os.environ["PYSPARK_PYTHON"] = self.worker_python(defaults)
        os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)  # where other applications are Connect's, ours is not
        context = SparkContext(gateway=gateway, conf=conf)
        if not self._core_only:  # there Java has no logger
            context.setLogLevel("OFF")
        vars(context._accumulatorServer)["handle_error"] = _say_nothing
        self._folders = [path for path in (self.folder, *self.folder.rglob("*")) if path.is_dir()]
        return context

    def make_folders(self) -> None:
        """Make the application's folders again, those of its block manager too: Spark looks there even for blocks that
        it keeps in memory, and a temporary folder does not live as long as a mirror does.
        """
        for folder in self._folders:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def properties(self, archive: Path | None, defaults: Mapping[str, str]) -> dict[str, str]:
        """Return Spark properties of the application, over the `defaults` of its configuration folder; never a
        credential.
        """
        master = self._settings.master or f"local[{4 * self._streams + 4}]"
        chosen = {
            "spark.master": master,
            "spark.app.name": "legacy_mm",
            "spark.local.dir": str(self.folder),
            "spark.executorEnv.LEGACY_MM_PRELOAD": self._preload,
        }
        if self.embedded:
            chosen |= {
                "spark.driver.host": "localhost",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.executorEnv.PYTHONSAFEPATH": "1",
                **_FEW_THREADS,
            }
        else:
            chosen |= _ENCRYPTED | {"spark.yarn.isPython": "true"}
        chosen |= self._settings.conf
        if archive is not None:
            for name, ours, separator in (
                ("spark.archives", f"{archive}#{UNPACKED}", ","),
                ("spark.executorEnv.PYTHONPATH", UNPACKED, os.pathsep),
            ):
                theirs = self._settings.conf.get(name) or defaults.get(name)
                chosen[name] = separator.join(filter(None, (ours, theirs)))
        return chosen | _KEPT

    def worker_python(self, defaults: Mapping[str, str]) -> str:
        """Return the command that starts workers: as in Spark, its property comes before the variable."""
        if self.embedded:
            return python_executable()
        chosen = self._settings.conf.get(_WORKER_PYTHON) or defaults.get(_WORKER_PYTHON)
        return chosen or os.environ.get("PYSPARK_PYTHON", "python3")

    def stop(self, deadline: Deadline) -> None:
        """End all processes of the application, those that do not end by themselves at the deadline."""
        self.jvm.stop(deadline)
        if self._daemon is not None:
            self._daemon.stop(deadline)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _leave_folder_to(self, jvm: Any) -> None:
        """Leave the folder to Java, which removes it, after Spark's later files in it, if this process is killed."""
        for path in (self.folder, *self.folder.iterdir()):
            jvm.java.io.File(str(path)).deleteOnExit()

    def _environment(self, conf_dir: Path) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if self._passes(name)}
        kept |= {
            "SPARK_HOME": str(Path(pyspark_jars()).parents[1]),
            "SPARK_CONF_DIR": str(conf_dir),
            "PYSPARK_PYTHON": self.worker_python({}),
        }
        if self.embedded:
            # named here, because Hadoop finds no name for a user without a passwd entry
            kept |= {"SPARK_LOCAL_HOSTNAME": "localhost", "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_USER": "legacy_mm"}
        else:
            # Spark SQL asks a Python on this host about data sources, by the name that it has on the workers
            path = os.environ.get("PATH", os.defpath)
            kept["PATH"] = os.pathsep.join((str(Path(python_executable()).parent), path))
            kept["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        return kept

    def _passes(self, name: str) -> bool:
        if self.embedded:
            return not name.startswith(_FOREIGN)
        return name not in ("SPARK_HOME", "_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")


@contextmanager
def java_for(wishes: JvmSettings) -> Iterator[Jvm]:
    """Yield a JVM for a question or two, which trusts whom the mirror's would; the environment is left as it was."""
    before = os.environ.get("SPARK_HOME")
    host = SparkHost(SparkSettings(jvm=wishes.for_questions()), streams=1)
    try:
        yield host.jvm
    finally:
        host.stop(Deadline.after(_QUESTION_STOP_TIMEOUT))
        if before is None:
            os.environ.pop("SPARK_HOME", None)
        else:
            os.environ["SPARK_HOME"] = before


@contextmanager
def java_when_asked(wishes: JvmSettings) -> Iterator[Callable[[], Jvm]]:
    """Yield like `java_for` a JVM that the first question starts, so not in vain."""
    with ExitStack() as stack:
        yield cache(lambda: stack.enter_context(java_for(wishes)))


def _say_nothing(*_: object) -> None:
    """Suppress the traceback that pyspark prints when the JVM ends before its accumulator server, the normal end of
    the mirror.
    """
