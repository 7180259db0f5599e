"""The host of a Spark application, without a JVM."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.settings import JvmSettings, SparkSettings
from legacy_mm.runtime.jvm.gateway import python_executable
from legacy_mm.runtime.spark import session
from legacy_mm.runtime.spark.session import SparkHost


class NoJvm:
    """Starts nothing."""

    stopped = 0

    def __init__(
        self, _: JvmSettings, environment: Mapping[str, str], submit: Sequence[str], *, core_only: bool
    ) -> None:
        self.environment = environment
        self.core_only = core_only
        self.submit = list(submit)

    def stop(self, _: Deadline) -> None:
        """Count it."""
        NoJvm.stopped += 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a host has its own; no JVM is started."""
    monkeypatch.setenv("SPARK_HOME", "put back at the end")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(session, "Jvm", NoJvm)
    monkeypatch.setattr(NoJvm, "stopped", 0)
    return tmp_path


def test_a_host_that_cannot_be_made_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise OSError(errno.EAGAIN, "no process left")

    monkeypatch.setattr(session, "PreparedDaemon", fails)
    host = SparkHost(SparkSettings(), streams=1)
    with pytest.raises(OSError, match="no process left"):
        host.preload("x")
    host.stop(Deadline.after(1))
    assert (NoJvm.stopped, list(folder.iterdir())) == (1, [])


def test_pyspark_is_imported_before_threads_do(tmp_path: Path) -> None:
    """Its modules import each other: of two threads that begin at once, one finds them half made."""
    code = (
        "import sys\n"
        "from types import SimpleNamespace\n"
        "from legacy_mm.base.settings import SparkSettings\n"
        "from legacy_mm.runtime.spark import session\n"
        "session.Jvm = session.PreparedDaemon = lambda *_, **__: SimpleNamespace(stop=print)\n"
        "host = session.SparkHost(SparkSettings(), streams=1)\n"
        "host.preload('x')\n"
        "print('pyspark.serializers' in sys.modules)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_a_host_without_java_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise HostError("no Java")

    monkeypatch.setattr(session, "Jvm", fails)
    with pytest.raises(HostError):
        SparkHost(SparkSettings(), streams=1)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("master", "more", "core_only"),
    [
        (None, {}, True),
        (None, {"sql": True}, False),
        (None, {"quiet": False}, False),
        ("spark://a:1", {}, False),
    ],
)
def test_most_jars_stay_closed_where_only_python_runs_in_silence(
    folder: Path, master: str | None, more: dict[str, bool], core_only: bool
) -> None:
    host = SparkHost(SparkSettings(master), streams=1, **more)
    assert vars(host.jvm)["core_only"] == core_only


ARCHIVES, PATH = "spark.archives", "spark.executorEnv.PYTHONPATH"


@pytest.mark.parametrize(
    ("conf", "defaults", "archives", "path"),
    [
        ({}, {}, "", ""),
        ({ARCHIVES: "a#b,c", PATH: "b:/d"}, {}, ",a#b,c", ":b:/d"),
        ({}, {ARCHIVES: "a#b", PATH: "b"}, ",a#b", ":b"),
        ({ARCHIVES: "a"}, {ARCHIVES: "b"}, ",a", ""),
    ],
)
def test_what_the_user_ships_goes_with_what_we_do(
    folder: Path, conf: dict[str, str], defaults: dict[str, str], archives: str, path: str
) -> None:
    host = SparkHost(SparkSettings("spark://a:1", conf), streams=1)
    made = host.properties(Path("our.zip"), defaults)
    assert made[ARCHIVES] == f"our.zip#legacy_mm_env{archives}"
    assert made[PATH] == f"legacy_mm_env{path}"


@pytest.mark.parametrize("master", [None, "yarn"])
def test_hadoop_s_configuration_is_a_cluster_s(
    folder: Path, master: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (names := {"HADOOP_CONF_DIR", "YARN_CONF_DIR"}):
        monkeypatch.setenv(name, "/conf")
    host = SparkHost(SparkSettings(master), streams=1)
    assert set(vars(host.jvm)["environment"]) & names == (names if master else set())
    assert host.properties(None, {}).get("spark.yarn.isPython") == ("true" if master else None)


@pytest.mark.parametrize("master", [None, "local[2]", "spark://a:1"])
def test_the_master_of_the_option_wins_over_the_configuration_folder_s(folder: Path, master: str | None) -> None:
    """Or `spark.master yarn` and `spark.submit.deployMode cluster` of a Spark host would end the JVM's start."""
    host = SparkHost(SparkSettings(master), streams=1)
    words = ["--master", "spark://a:1", "--deploy-mode", "client"]
    assert vars(host.jvm)["submit"] == ([] if host.embedded else words)


NAME = "spark.pyspark.python"


@pytest.mark.parametrize(
    ("conf", "defaults", "variable", "python"),
    [
        ({}, {}, None, "python3"),
        ({}, {}, "/variable", "/variable"),
        ({}, {NAME: "/defaults"}, "/variable", "/defaults"),
        ({NAME: "/conf"}, {NAME: "/defaults"}, "/variable", "/conf"),
    ],
)
def test_the_python_of_workers_is_the_one_that_spark_would_take(
    folder: Path,
    conf: dict[str, str],
    defaults: dict[str, str],
    variable: str | None,
    python: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    if variable is not None:
        monkeypatch.setenv("PYSPARK_PYTHON", variable)
    host = SparkHost(SparkSettings("spark://a:1", conf), streams=1)
    assert host.worker_python(defaults) == python
    assert SparkHost(SparkSettings(None, conf), streams=1).worker_python(defaults) == python_executable()
