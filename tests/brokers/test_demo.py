"""bin/demo from the outside: what it says, what it returns, and that nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.upgrade_rungs import RUNGS
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.waiting import wait_until
from tests.fixtures import signals

DEMO = [sys.executable, "-P", "-m", "compat.laboratory.demo"]
DEMO_SECONDS = 300
UPGRADE_SECONDS = 3600
MARK = "TEST_OF_LEGACY_MM_MARK"  # the testbed keeps variables that begin with ours from the tools it starts


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """All descendants of the demo inherit the mark; its temporary folder is ours to look into."""
    return {**os.environ, "PYTHONPATH": str(CHECKOUT), "TMPDIR": str(tmp_path), MARK: uuid.uuid4().hex}


def marked(environment: dict[str, str]) -> list[str]:
    """Command lines of live processes that carry the mark."""
    mark = f"{MARK}={environment[MARK]}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def assert_nothing_left(environment: dict[str, str], folder: Path) -> None:
    wait_until(lambda: not marked(environment), 5.0, f"all to end, but there are {marked(environment)}")
    assert list(folder.iterdir()) == []


@pytest.mark.slow
@pytest.mark.brokers
def test_a_group_moves_between_two_active_clusters(environment: dict[str, str], tmp_path: Path) -> None:
    command = [*DEMO, "active-active"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEMO_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "exit status 143" in done.stdout
    assert ", lost 0, read again " in done.stdout
    assert_nothing_left(environment, tmp_path)


@pytest.mark.brokers
def test_everything_arrives_and_nothing_is_left(environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(DEMO, env=environment, capture_output=True, text=True, timeout=DEMO_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    assert "exit status 143" in done.stdout
    assert "committed offset = end offset in 13 of 13 partitions" in done.stdout
    assert "\nEQUAL: 300,000 records in 4 topics" in done.stdout
    assert "not copied, as asked: payments" in done.stdout
    assert "\x1b" not in done.stdout  # it is no terminal
    assert_nothing_left(environment, tmp_path)


@pytest.mark.brokers
@pytest.mark.slow
def test_the_ladder_is_climbed_and_left(environment: dict[str, str], tmp_path: Path) -> None:
    """Each step has its plan and its proof; one that breaks its word would have ended the demo."""
    done = subprocess.run(
        [*DEMO, "upgrade"], env=environment, capture_output=True, text=True, timeout=UPGRADE_SECONDS, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    titles = [line for line in done.stdout.splitlines() if line.startswith(("The old", "Up, ", "Down, "))]
    up = [f"Up, {number} of {len(RUNGS)}: {rung.flag}=true" for number, rung in enumerate(RUNGS, 1)]
    assert [title.partition(" (")[0] for title in titles[: len(up) + 1]] == ["The old command line", *up]
    assert titles[-1] == "Down, the old command line"
    steps = len(titles) - 1
    assert done.stdout.count("\n    source->target:\n") == steps
    assert done.stdout.count("\n  seen: ") == steps
    assert done.stdout.count("\n  stopped: exit status 143 after ") == steps + 1
    assert "detect.loops=true and DefaultReplicationPolicy exclude each other" in done.stdout
    for change in PLANNED:
        assert f"\n        {change}" in done.stdout
    count = 15_000 + 4 * 300 + (steps - 1) * 5 * 300
    assert f"\nEQUAL: {count:,} records in 5 topics" in done.stdout
    assert_nothing_left(environment, tmp_path)


PLANNED = (
    "create topic orders.new: partitions 6, replication factor 1, max.message.bytes=1500000",
    "add partitions to topic audit: from 4 to 6",
    "set max.message.bytes of topic orders.eu: from not set to 2000000",
    "add rule ALLOW READ on topic orders.eu to User:report from host *",
    "create topic west.orders.eu: partitions 4, replication factor 1, max.message.bytes=2000000",
    "create topic heartbeats: partitions 1",
    "create topic mm2-offset-syncs.west.internal: partitions 1",
    "create topic west.checkpoints.internal: partitions 1",
)


@pytest.mark.brokers
@pytest.mark.parametrize(
    ("number", "sign"),
    [
        pytest.param(signal.SIGINT, "orders.eu", id="Ctrl-C while loading"),
        pytest.param(signal.SIGTERM, "lag", id="SIGTERM while mirroring", marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_everything(
    environment: dict[str, str], tmp_path: Path, number: signal.Signals, sign: str
) -> None:
    with subprocess.Popen(DEMO, env=environment, stdout=subprocess.PIPE, text=True, preexec_fn=signals.taken) as demo:
        assert demo.stdout is not None
        assert any(sign in line for line in demo.stdout)
        demo.send_signal(number)
        rest = demo.stdout.read()
        assert demo.wait(30) == 128 + number
    assert rest.endswith("Stopped; nothing is left running.\n")
    assert_nothing_left(environment, tmp_path)


@pytest.mark.brokers
def test_clusters_stay_until_they_are_interrupted(environment: dict[str, str], tmp_path: Path) -> None:
    """The mirror of the tutorial finds both by the files that were written."""
    home = tmp_path / "home"
    home.mkdir()
    command = [*DEMO, "clusters"]
    with subprocess.Popen(
        command, cwd=home, env=environment, stdout=subprocess.PIPE, text=True, preexec_fn=signals.taken
    ) as demo:
        assert demo.stdout is not None
        assert any("until you press Ctrl-C" in line for line in demo.stdout)
        for name in ("consumer.properties", "producer.properties"):
            first = (home / name).read_text().partition("\n")[0]
            create_topic(first.removeprefix("bootstrap.servers="), "reached", 1)
        second = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=60)
        assert_one_line(second, "consumer.properties exists in")
        demo.send_signal(signal.SIGINT)
        rest = demo.stdout.read()
        assert demo.wait(30) == 128 + signal.SIGINT
    assert rest.endswith("Stopped; nothing is left running.\n")
    home.rmdir()
    assert_nothing_left(environment, tmp_path)


def assert_one_line(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert (done.returncode, done.stdout.count("Traceback")) == (1, 0)
    assert done.stderr.startswith("bin/demo: ")
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_a_demo_that_is_not_there_is_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*DEMO, "downgrade"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert_one_line(done, "there is no demo 'downgrade'; there is: upgrade, clusters")
    assert_nothing_left(environment, tmp_path)


def test_no_place_for_kafka_is_one_line(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environment["LEGACY_MM_CACHE"] = str(tmp_path / "file" / "cache")
    done = subprocess.run(DEMO, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert_one_line(done, "LEGACY_MM_CACHE")
