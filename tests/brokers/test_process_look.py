"""What other software sees of a running mirror: ps, pgrep, Nagios, jps, and the port for JMX."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.ports import Ports
from compat.laboratory.tools import our_mirror_maker
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
COPIED = 60.0
CLASS = "kafka.tools.MirrorMaker"
NAGIOS = Path("/usr/lib/nagios/plugins/check_procs")
JPS = sorted({path.resolve() for path in [*Path("/usr/lib/jvm").glob("*/bin/jps"), Path(shutil.which("jps") or "/-")]})


def printed(*words: str | Path) -> list[str]:
    """The lines a program prints."""
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.splitlines()


@pytest.fixture(scope="module")
def jmx_port() -> Iterator[int]:
    ports = Ports()
    yield ports.reserve()
    ports.release()


@pytest.fixture(scope="module")
def tool(source: Any, target: Any, jmx_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolProcess]:
    """A mirror that is copying, so that JVM, daemon and worker are all there; the last test stops it."""
    name = group = "process-look"
    create_topic(source.bootstrap, name)
    load(source.bootstrap, name, 100, 20)
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    variables = {"JMX_PORT": str(jmx_port), "KAFKA_DEBUG": "y", "JAVA_DEBUG_OPTS": "-Dharmless"}
    folder, written = tmp_path_factory.mktemp("look"), {"bootstrap.servers": target.bootstrap}
    with our_mirror_maker(folder, consumer, written, "--whitelist", name, environment=variables) as started:
        wait_until(lambda: sum(end_offsets(target.bootstrap, name).values()) >= 100, COPIED, "100 records")
        yield started


def test_other_software_finds_exactly_one_java(tool: ToolProcess, jmx_port: int) -> None:
    pid = str(tool.pid)
    family = set(map(str, tool.tree.pids()))
    consumer_file = next(word for word in tool.command if word.endswith("consumer.properties"))

    assert family & set(printed("pgrep", "-f", CLASS)) == {pid}
    assert family & set(printed("pgrep", "java")) == {pid}
    assert family & set(printed("pgrep", "-x", "java")) == {pid}
    assert printed("pgrep", "-f", f"{CLASS}.+{consumer_file}") == [pid]
    seen = [line for line in printed("ps", "-efww") if CLASS in line and consumer_file in line]
    assert [(line.split()[1], "java" in line.split(CLASS)[0]) for line in seen] == [(pid, True)]
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    assert words[words.index(CLASS) + 1 : -1] == [*tool.command[1:]]

    owners = [pid for pid, name in tool.tree.names().items() if name == "spark-driver"]
    assert len(owners) == 1
    with socket.create_connection(("127.0.0.1", jmx_port), timeout=10):
        pass
    assert tool.output().startswith("Enabling Java debug options: -Dharmless\n")


def test_nagios_finds_exactly_one(tool: ToolProcess) -> None:
    if not NAGIOS.exists():
        pytest.skip(f"{NAGIOS} is not installed (Debian: monitoring-plugins-basic)")
    consumer_file = next(word for word in tool.command if word.endswith("consumer.properties"))
    check = [str(NAGIOS), "-c", "1:1", "-C", "java", "--ereg-argument-array", f"{CLASS}.+{consumer_file}"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("jps", JPS or [None], ids=str)
def test_jps_finds_exactly_one(tool: ToolProcess, jps: Path | None) -> None:
    if jps is None or not jps.exists():
        pytest.skip("no jps here: it comes with a JDK")
    family = set(map(str, tool.tree.pids()))
    short = [line.split() for line in printed(jps)]
    assert [line for line in short if line[0] in family] == [[str(tool.pid), "MirrorMaker"]]
    (line,) = (line for line in printed(jps, "-lm") if line.startswith(f"{tool.pid} "))
    assert line == " ".join([str(tool.pid), CLASS, *tool.command[1:]])


def test_a_thread_dump_is_printed_and_nothing_ends(tool: ToolProcess, source: Any, target: Any) -> None:
    """Also when it goes to the whole group, as from a terminal's control-backslash."""
    family = tool.tree.pids()
    os.killpg(tool.pid, signal.SIGQUIT)
    tool.wait_for_output("Current thread", COPIED)
    name = tool.command[-1]
    load(source.bootstrap, name, 100, 20, seed=8)
    wait_until(lambda: sum(end_offsets(target.bootstrap, name).values()) >= 200, COPIED, "100 records more")
    assert tool.tree.pids() == family


def test_after_its_end_nobody_finds_it(tool: ToolProcess) -> None:
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143
    for jps in JPS:
        assert not [line for line in printed(jps) if line.startswith(f"{tool.pid} ")]
    assert str(tool.pid) not in printed("pgrep", "-f", CLASS)
