"""`legacy-mm selftest` on real clusters: what it finds, what it says, and that nothing of it is left."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import list_topics
from legacy_mm.audit.java_files import write_properties
from tests.fixtures.driver_files import driver_file

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 300.0


@pytest.fixture
def selftest(source: Cluster, target: Cluster, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run it between the two clusters."""
    files = {}
    for side, cluster in (("source", source), ("target", target)):
        files[side] = tmp_path / f"{side}.properties"
        files[side].write_text(f"bootstrap.servers={cluster.bootstrap}")

    def run(*words: str, more: Sequence[str] = (), by_line: bool = False) -> subprocess.CompletedProcess[str]:
        """`by_line`: a mirror's whole command line says which clusters."""
        command = [sys.executable, "-m", "legacy_mm.cli.legacy_mm", "selftest"]
        sides = [word for side, file in files.items() for word in (f"--{side}", str(file))]
        if by_line:
            named = ["--consumer.config", str(files["source"]), "--producer.config", str(files["target"])]
            sides, more = [], ["kafka-mirror-maker.sh", *named, "--whitelist", ".*", *more]
        return subprocess.run(
            [*command, *sides, *words, "--", *more], capture_output=True, text=True, timeout=SECONDS, check=False
        )

    return run


def scratch(*clusters: Cluster) -> list[str]:
    return [name for cluster in clusters for name in list_topics(cluster.bootstrap) if "selftest" in name]


@pytest.mark.parametrize("scenarios", ["stop,kill-worker", "copy,kill,freeze-worker,hand-over"])
@pytest.mark.slow
def test_scenarios_pass(
    scenarios: str, source: Cluster, target: Cluster, selftest: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = selftest("--scenarios", scenarios, "--records", "5000", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    results: list[dict[str, Any]] = json.loads(done.stdout)
    assert [result["name"] for result in results] == scenarios.split(",")
    assert {result["records"] for result in results} == {5000}
    assert {result["counts"]["lost"] for result in results} == {0}
    assert not scratch(source, target)


def test_a_mirror_that_leaves_records_out_fails(
    source: Cluster, target: Cluster, selftest: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    words = ("--scenarios", "copy", "--records", "1000", "--patience", "12")
    done = selftest(*words, more=("--handler.step", "filter.key=.*[0-4]"), by_line=True)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "copy           FAILED: 1000 records" in done.stdout
    assert "lost: " in done.stdout
    assert not scratch(source, target)


def test_mirrors_have_the_class_path_of_the_line(
    source: Cluster,
    target: Cluster,
    selftest: Callable[..., subprocess.CompletedProcess[str]],
    handler_jars: Mapping[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLASSPATH", str(handler_jars["PassesOn"]))
    words = ("--scenarios", "copy", "--records", "1000")
    done = selftest(*words, more=("--message.handler", "PassesOn"), by_line=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "copy           passed: 1000 records" in done.stdout
    assert not scratch(source, target)


@pytest.mark.slow
def test_the_clients_of_mirror_maker_2_s_file_play(source: Cluster, target: Cluster, tmp_path: Path) -> None:
    """Of the flow that is named; the file's other flow and its topics have no part in it."""
    flows = {"west->east.enabled": "true", "east->west.enabled": "true"}
    file = write_properties(tmp_path / "mm2.properties", driver_file({"west": source, "east": target}, **flows))
    words = ["selftest", "--flow", "west->east", "--scenarios", "copy", "--records", "1000"]
    line = ["--", "connect-mirror-maker.sh", str(file), "--shutdown.timeout.ms", "20000"]
    command = [sys.executable, "-m", "legacy_mm.cli.legacy_mm", *words, *line]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "copy           passed: 1000 records" in done.stdout
    assert not scratch(source, target)


def test_a_file_without_servers_is_a_clear_error(
    selftest: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    nowhere = tmp_path / "nowhere.properties"
    nowhere.write_text("group.id=g\n")
    done = selftest("--source", str(nowhere))
    assert done.returncode == 1
    assert "bootstrap.servers" in done.stderr
    assert "Traceback" not in done.stderr
