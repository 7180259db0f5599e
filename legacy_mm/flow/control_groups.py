"""The control groups of this process (Linux), which limit it where a container or a service manager says so."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")


def folders(controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control groups with this controller, the innermost first.

    `controller` is its name in version 1; version 2 has one tree for all.
    """
    for line in lines(PROC / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        root = _CGROUPS / controllers
        inside = root / path.lstrip("/")
        for folder in (inside, *inside.parents) if inside.is_dir() else (root,):
            if not folder.is_relative_to(root):
                break
            yield folder


def usable_cores() -> int:
    """Return the number of cores that this process may use: its affinity, and the quota of its control groups."""
    return max(1, min(len(os.sched_getaffinity(0)), *map(math.ceil, _quotas()), os.cpu_count() or 1))


def _quotas() -> Iterator[float]:
    """Yield the CPU seconds in a second that each control group leaves."""
    for folder in folders("cpu"):
        with suppress(OSError, ValueError):  # no such file, or `max`
            quota, period = (folder / "cpu.max").read_text(encoding="ascii").split()
            yield int(quota) / int(period)
        with suppress(OSError, ValueError):
            quota = (folder / "cpu.cfs_quota_us").read_text(encoding="ascii")
            period = (folder / "cpu.cfs_period_us").read_text(encoding="ascii")
            if int(quota) > 0:
                yield int(quota) / int(period)


def lines(file: Path) -> list[str]:
    """Return the lines of a file of the kernel's; none if it is not there, or its process has ended."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
