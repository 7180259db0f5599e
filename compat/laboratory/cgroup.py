"""A cgroup with little memory, few cores and few tasks, on hosts with cgroup v2 and with v1."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from legacy_mm.base.errors import HostError

_ROOT = Path("/sys/fs/cgroup")
_PERIOD_US = 100_000


@dataclass(frozen=True, slots=True)
class Cgroup:
    """One folder where one hierarchy has all controllers (v2), or one for each controller (v1)."""

    folders: tuple[Path, ...]
    counters: Path
    """The file with the line `oom_kill N`."""

    def join(self, pid: int) -> None:
        """Move a process in; its later children are born inside. Raises HostError."""
        for folder in self.folders:
            try:
                (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")
            except OSError as error:
                raise HostError(f"cannot move a process into {folder}: {error.strerror}") from error

    def killed(self) -> int:
        """Return the number of processes that the kernel has killed in it for its memory limit."""
        words = self.counters.read_text(encoding="ascii").split()
        return int(words[words.index("oom_kill") + 1])


@contextlib.contextmanager
def small_cgroup(memory_mib: int, cores: int, tasks: int) -> Iterator[Cgroup]:
    """Create a cgroup with these limits; HostError, with the reason, if none can be made."""
    name = f"legacy-mm-bench-{os.getpid()}"
    memory, quota = str(memory_mib << 20), cores * _PERIOD_US
    if (_ROOT / "cgroup.controllers").is_file():
        folder = _ROOT / name
        limits = {
            folder / "memory.max": memory,
            folder / "cpu.max": f"{quota} {_PERIOD_US}",
            folder / "pids.max": str(tasks),
        }
        cgroup = Cgroup((folder,), folder / "memory.events")
    else:
        in_memory, in_cpu, in_pids = (_ROOT / controller / name for controller in ("memory", "cpu", "pids"))
        limits = {
            in_memory / "memory.limit_in_bytes": memory,
            in_cpu / "cpu.cfs_period_us": str(_PERIOD_US),
            in_cpu / "cpu.cfs_quota_us": str(quota),
            in_pids / "pids.max": str(tasks),
        }
        cgroup = Cgroup((in_memory, in_cpu, in_pids), in_memory / "memory.oom_control")
    try:
        _make(cgroup, limits)
        yield cgroup
    finally:
        for folder in cgroup.folders:
            with contextlib.suppress(OSError):  # not created, or busy while a process in it is still ending
                folder.rmdir()


def _make(cgroup: Cgroup, limits: Mapping[Path, str]) -> None:
    try:
        if len(cgroup.folders) == 1:
            (_ROOT / "cgroup.subtree_control").write_text("+memory +cpu +pids", encoding="ascii")
        for folder in cgroup.folders:
            folder.mkdir()
        for file, text in limits.items():
            file.write_text(text, encoding="ascii")
    except OSError as error:
        raise HostError(f"no cgroup with limits can be made below {_ROOT}: {error.strerror}") from error
