"""The prepared daemon is the one that serves Spark, and nobody is left when Spark or its owner has gone."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.runtime.spark.prepared_daemon import PreparedDaemon

SECONDS = 30


@contextmanager
def asked_for(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon as Spark starts it."""
    environment = {**os.environ, "LEGACY_MM_PREPARED_DAEMON": str(folder)}
    command = [sys.executable, "-m", "legacy_mm.runtime.spark.worker_daemon", "pyspark.worker"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        yield process


def listening(process: psutil.Process, port: int) -> bool:
    return any(each.laddr.port == port for each in process.net_connections() if each.status == psutil.CONN_LISTEN)


def port_of(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    return int(struct.unpack(">i", process.stdout.read(4))[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ("longer than the address of a socket can be " * 5)
    made.mkdir()
    return made


@pytest.fixture
def prepared(folder: Path) -> Iterator[tuple[PreparedDaemon, psutil.Process]]:
    before = set(psutil.Process().children())
    daemon = PreparedDaemon(folder, {**os.environ, "LEGACY_MM_PRELOAD": "legacy_mm.runtime.channel.frames"})
    (process,) = set(psutil.Process().children()) - before
    yield daemon, process
    daemon.stop(Deadline.after(SECONDS))
    assert not process.is_running()


def test_it_serves_with_the_pipes_of_the_one_that_spark_has_started(
    folder: Path, prepared: tuple[PreparedDaemon, psutil.Process]
) -> None:
    _, process = prepared
    with asked_for(folder) as asked:
        port = port_of(asked)
        assert listening(process, port)
        assert asked.poll() is None
        wait_until(lambda: psutil.Process(asked.pid).name() == "cat", SECONDS, "a program that only waits")
        assert asked.stdin is not None
        asked.stdin.close()  # as Spark's JVM does, when it ends
        process.wait(SECONDS)
        asked.wait(SECONDS)


@pytest.mark.parametrize("gone", ["process", "socket", "folder"])
def test_without_it_the_one_that_spark_has_started_serves_itself(
    gone: str, folder: Path, prepared: tuple[PreparedDaemon, psutil.Process]
) -> None:
    """Its socket is the only one that is a file, in a folder that may be cleaned as /run and /tmp are."""
    _, process = prepared
    if gone == "process":
        process.kill()
        process.wait(SECONDS)
    elif gone == "socket":
        (folder / "daemon").unlink()
    else:
        shutil.rmtree(folder)
    with asked_for(folder) as asked:
        assert listening(psutil.Process(asked.pid), port_of(asked))


def test_it_ends_with_its_owner_when_nobody_asked(prepared: tuple[PreparedDaemon, psutil.Process]) -> None:
    daemon, process = prepared
    daemon.stop(Deadline.after(SECONDS))
    assert not process.is_running()
