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
from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.ledger_produce import Workload, produce
from legacy_mm.audit.load import load

pytestmark = [pytest.mark.brokers, pytest.mark.spark]


def verify(
    folder: Path,
    source: Any,
    target: Any,
    topics: str,
    *options: str,
    environment: Mapping[str, str] | None = None,
    stderr: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    files = {side: folder / f"{side}.properties" for side in ("source", "target")}
    for side, cluster in (("source", source), ("target", target)):
        files[side].write_text(f"bootstrap.servers={cluster.bootstrap}\n", encoding="utf-8")
    command = [str(CHECKOUT / "bin" / "legacy-mm"), "verify", "--topics", topics, *options]
    command += ["--source-config", str(files["source"]), "--target-config", str(files["target"])]
    return subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, **(environment or {})},
        text=True,
        timeout=600,
        check=False,
    )


def legacy_mm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of ours, run in this folder."""
    command = [str(CHECKOUT / "bin" / "legacy-mm"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)


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
    """The same records on both sides under a mirror's names, whatever becomes of heartbeats, seen on a terminal; then
    one more at the source, and five twice at the target.
    """
    name = topic("verify")
    for cluster, copy in ((source, name), (target, f"us.{name}"), (target, name)):
        load(cluster.bootstrap, copy, 5_000, 50)
    load(source.bootstrap, f"{name}.heartbeats", 1, 50)
    flags = tmp_path / "flags.properties"
    flags.write_text("heartbeats.replication.enabled=true\ntarget.cluster.alias=eu\n", encoding="utf-8")
    terminal = Terminal()
    renamed = ("--rename.topics", "true", "--source.cluster.alias", "us", "--features.config", str(flags))
    same = verify(tmp_path, source, target, name, "--ignore-timestamps", *renamed, stderr=terminal.end)
    shown = terminal.shown()
    assert same.returncode == 0, shown
    assert shown.startswith("\r[.") and shown.endswith("\r\x1b[K"), "a bar that is taken away again"
    assert f"us.{name}: 5000 records at the target" in same.stdout
    totals = {line.partition(": ")[2] for line in same.stdout.splitlines()}
    assert {line.partition(",")[0] for line in totals} == {"5000 records at the source", "5000 records at the target"}
    assert len({line.rpartition(" ")[2] for line in totals}) == 1, "one hash"
    line = ("kafka-mirror-maker.sh", "--consumer.config", "source.properties", "--producer.config=target.properties")
    words = (*line, "--whitelist", name, "--num.streams", "3", *renamed)
    by_line = legacy_mm(tmp_path, "verify", "--ignore-timestamps", "--", *words)
    assert (by_line.returncode, by_line.stdout) == (0, same.stdout), by_line.stderr
    load(source.bootstrap, name, 1, 77, seed=3)
    load(target.bootstrap, name, 5, 50)
    other = verify(tmp_path, source, target, name, "--ignore-timestamps")
    assert other.returncode == 2, other.stderr
    assert other.stderr == "", "a bar is for terminals"
    assert f"{name}: 1 records missing, source partition " in other.stdout
    doubled = [line for line in other.stdout.splitlines() if "records doubled, target partition" in line]
    assert sum(int(line.split(": ")[1].split()[0]) for line in doubled) == 5


def test_exactly_once_copies_no_record_of_an_aborted_transaction(
    source: Any, target: Any, topic: Callable[[str], str], tmp_path: Path
) -> None:
    """Such a mirror copied what was committed, so that alone must be at the target."""
    name = topic("verify")
    for cluster in (source, target):
        load(cluster.bootstrap, name, 100, 50)
    aborted = Workload(7, transaction="abort")
    assert produce(Ledger(name), {"bootstrap.servers": source.bootstrap}, aborted) == 0
    flags = ("--exactly.once", "true", "--source.cluster.alias", "us", "--target.cluster.alias", "eu")
    for options, seen, code in ((flags, 100, 0), ((), 107, 2)):
        found = verify(tmp_path, source, target, name, "--ignore-timestamps", *options)
        assert found.returncode == code, found.stdout + found.stderr
        assert f"{name}: {seen} records at the source" in found.stdout


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
