"""The cores that a container leaves to this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from legacy_mm.flow import task_limit
from legacy_mm.flow.task_limit import usable_cores


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host of eight cores, all of which this process may use."""
    monkeypatch.setattr(task_limit, "PROC", tmp_path / "proc")
    monkeypatch.setattr(task_limit, "_CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    (tmp_path / "proc/self").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "folder", "files", "cores"),
    [
        ("0::/", "", {}, 8),
        ("0::/pod", "pod", {"cpu.max": "max 100000\n"}, 8),
        ("0::/pod", "pod", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/pod/inner", "pod", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/pod", "pod", {"cpu.max": "50000 100000\n"}, 1),
        ("0::/pod", "pod", {"cpu.max": "6400000 100000\n"}, 8),
        ("4:cpu,cpuacct:/pod", "cpu,cpuacct/pod", {"cpu.cfs_quota_us": "300000", "cpu.cfs_period_us": "100000"}, 3),
        ("4:cpu:/pod", "cpu/pod", {"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, 8),
        ("4:memory:/pod", "memory/pod", {"cpu.max": "100000 100000\n"}, 8),
    ],
    ids=["none", "no limit", "two", "around it, and a half", "half", "more than there are", "v1", "v1, none", "other"],
)
def test_a_quota_counts_as_cores(host: Path, line: str, folder: str, files: dict[str, str], cores: int) -> None:
    (host / "proc/self/cgroup").write_text(f"{line}\n")
    made = host / "cgroup" / folder
    (made / "inner").mkdir(parents=True)
    for name, text in files.items():
        (made / name).write_text(text)
    assert usable_cores() == cores


def test_affinity_counts(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert usable_cores() == 1


def test_a_host_without_control_groups(host: Path) -> None:
    assert usable_cores() == 8
