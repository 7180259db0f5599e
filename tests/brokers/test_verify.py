"""`legacy-mm verify` on real brokers: equal is 0, different is 2 and told by partition."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import CHECKOUT
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.ledger_produce import Workload, produce
from legacy_mm.audit.load import load
from tests.fixtures.driver_files import driver_file
from tests.fixtures.offsets import open_transaction
from tests.fixtures.tools import Run

pytestmark = [pytest.mark.brokers, pytest.mark.spark]


def verify(
    folder: Path, source: Any, target: Any, topics: str, *options: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    files = write_files(folder, source, target)
    words = ("--topics", topics, *options, "--source-config", files["source"], "--target-config", files["target"])
    return by_line(folder, *words, environment=environment)


def write_files(folder: Path, source: Any, target: Any) -> dict[str, str]:
    """The names of the files that tell how to reach the clusters."""
    for side, cluster in (("source", source), ("target", target)):
        (folder / f"{side}.properties").write_text(f"bootstrap.servers={cluster.bootstrap}\n", encoding="utf-8")
    return {side: f"{side}.properties" for side in ("source", "target")}


def by_line(
    folder: Path, *words: str, environment: Mapping[str, str] | None = None, stderr: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """`legacy-mm verify` with these words, run in this folder."""
    return subprocess.run(
        [str(CHECKOUT / "bin" / "legacy-mm"), "verify", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, **(environment or {})},
        text=True,
        timeout=600,
        check=False,
    )


class Terminal:
    """What stderr shows to somebody who sits there."""

    def __init__(self) -> None:
        self._master, self.end = pty.openpty()
        self._shown = bytearray()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def shown(self) -> str:
        """All of it, after the command has ended."""
        os.close(self.end)
        self._reader.join()
        os.close(self._master)
        return self._shown.decode()

    def _read(self) -> None:
        while True:
            try:
                self._shown += os.read(self._master, 4096)
            except OSError:  # nobody has the other end any more
                return


def test_equal_and_different(source: Any, target: Any, topic: Callable[[str], str], tmp_path: Path) -> None:
    """The same records on both sides under a mirror's names, whatever becomes of heartbeats and of what was aborted,
    seen on a terminal by the mirror's line; then by files alone one more at the source, and five twice at the target.
    """
    name = topic("verify")
    for cluster, copy in ((source, name), (target, f"us.{name}"), (target, name)):
        load(cluster.bootstrap, copy, 5_000, 50)
    load(source.bootstrap, f"{name}.heartbeats", 1, 50)
    aborted = Workload(7, transaction="abort")
    assert produce(Ledger(name), {"bootstrap.servers": source.bootstrap}, aborted) == 0
    flags = tmp_path / "flags.properties"
    flags.write_text("heartbeats.replication.enabled=true\ntarget.cluster.alias=eu\n", encoding="utf-8")
    write_files(tmp_path, source, target)
    line = ("kafka-mirror-maker.sh", "--consumer.config", "source.properties", "--producer.config=target.properties")
    words = (*line, "--whitelist", name, "--num.streams", "3", "--rename.topics", "true", "--exactly.once", "true")
    own = ("--source.cluster.alias", "us", "--features.config", str(flags))
    terminal = Terminal()
    same = by_line(tmp_path, "--ignore-timestamps", *own, "--", *words, stderr=terminal.end)
    shown = terminal.shown()
    assert same.returncode == 0, shown
    assert shown.startswith("\r[.") and shown.endswith("\r\x1b[K"), "a bar that is taken away again"
    assert f"us.{name}: 5000 records at the target" in same.stdout
    totals = {line.partition(": ")[2] for line in same.stdout.splitlines()}
    assert {line.partition(",")[0] for line in totals} == {"5000 records at the source", "5000 records at the target"}
    assert len({line.rpartition(" ")[2] for line in totals}) == 1, "one hash"
    with open_transaction(target, f"us.{name}"):
        part = by_line(tmp_path, "--ignore-timestamps", *own, "--", *words)
    assert part.returncode == 1, part.stdout + part.stderr
    assert f"us.{name}-0: a transaction is open at the target from offset " in part.stdout
    load(source.bootstrap, name, 1, 77, seed=3)
    load(target.bootstrap, name, 5, 50)
    other = verify(tmp_path, source, target, name, "--ignore-timestamps")
    assert other.returncode == 2, other.stderr
    assert other.stderr == "", "a bar is for terminals"
    assert f"{name}: 5008 records at the source" in other.stdout, "those of the aborted transaction, too"
    for kind, count in (("missing, source", 1 + 7), ("doubled, target", 5)):
        told = [line for line in other.stdout.splitlines() if f"records {kind} partition" in line]
        assert sum(int(line.split(": ")[1].split()[0]) for line in told) == count


@pytest.mark.slow
def test_timestamps_count_unless_they_are_ignored(
    source: Any, target: Any, topic: Callable[[str], str], tmp_path: Path
) -> None:
    name = topic("verify")
    for cluster in (source, target):
        load(cluster.bootstrap, name, 10, 50)
    found = verify(tmp_path, source, target, name)
    assert found.returncode == 2
    assert "missing" in found.stdout and "unexpected" in found.stdout


def test_a_cluster_that_does_not_answer_is_exit_1(source: Any, tmp_path: Path) -> None:
    class Nowhere:
        bootstrap = "127.0.0.1:1"

    found = verify(tmp_path, Nowhere(), source, "x")
    assert found.returncode == 1
    assert "Traceback" not in found.stderr


def test_a_flow_of_mirror_maker_2_s_file(
    source: Any, target: Any, topic: Callable[[str], str], tmp_path: Path, run: Run
) -> None:
    """The tools find its clusters, its topics and their names at the target."""
    name, more = topic("verify"), topic("verify")
    clusters = {alias(name): source, f"{alias(name)}-east": target}
    flow, back = (f"{a}->{b}" for a, b in (tuple(clusters), tuple(clusters)[::-1]))
    topics = {f"{flow}.topics": f"{name}, {more}", f"{flow}.enabled": "true", f"{back}.enabled": "true"}
    write_properties(tmp_path / "mm2.properties", driver_file(clusters, **topics))
    line = ("--", "connect-mirror-maker.sh", str(tmp_path / "mm2.properties"))
    for cluster, copy in ((source, name), (target, f"{alias(name)}.{name}")):
        load(cluster.bootstrap, copy, 500, 50)
    code, _, failed = run("verify", *line)
    assert code == 1 and f"2 flows that copy: name one by --flow: {flow}, {back}" in failed
    ledger, copy = ("--file", str(tmp_path / "ledger"), "--flow"), f"{alias(name)}.{more}"
    create_topic(source.bootstrap, more)
    create_topic(target.bootstrap, copy)
    assert run("ledger", "produce", "--topic", more, "--records", "10", *ledger, flow, *line)[0] == 0
    code, said, failed = run("ledger", "check", *ledger, flow, *line)
    assert code == 2 and "10 lost" in said, failed
    assert run("ledger", "check", "--topic", more, *ledger, back, *line)[0] == 0, (
        "the other way, where they were written"
    )

    found = by_line(tmp_path, "--ignore-timestamps", "--flow", flow, *line)
    assert found.returncode == 2, found.stdout + found.stderr
    assert f"{copy}: 0 records at the target" in found.stdout
    (here,) = [each for each in found.stdout.splitlines() if each.startswith(f"{name}: ")]
    (there,) = [each for each in found.stdout.splitlines() if each.startswith(f"{alias(name)}.{name}: ")]
    assert "500 records" in here and here.rpartition(" ")[2] == there.rpartition(" ")[2], "one hash"

    code, _, failed = run("heartbeats", "--flow", flow, *line)
    assert code == 0, failed


def alias(name: str) -> str:
    return f"west{name[-8:]}"
