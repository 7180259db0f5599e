"""CPU, memory and sockets of a process and all its descendants, read from /proc (Linux). Rule: only reads.

CPU of children that ended and were waited for is in their parent's cutime; it is added for the root only once per
process, so nothing counts twice: a live child's own time is read from the child itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")
_TCP = ("tcp", "tcp6")
_THREADS = 17  # the field of /proc/PID/stat, counted from the state


class ProcessSize(NamedTuple):
    """One process: its command line, PSS in bytes, and tasks, which is what `pids.max` and `ulimit -u` count."""

    command: str
    memory: int
    tasks: int


class ProcessTree:
    """The live descendants of a pid, itself included; processes seen once are remembered after their parent ended."""

    def __init__(self, root: int) -> None:
        self.root = root
        self._seen: dict[int, int] = {}

    def pids(self) -> list[int]:
        """Return live processes of the tree, the root first."""
        children: dict[int, list[int]] = {}
        starts: dict[int, int] = {}
        for pid, fields in _stats():
            children.setdefault(int(fields[1]), []).append(pid)
            if fields[0] not in (b"Z", b"X"):
                starts[pid] = int(fields[19])
        found: list[int] = []
        waiting = [self.root, *(pid for pid, start in self._seen.items() if starts.get(pid) == start)]
        while waiting:
            pid = waiting.pop(0)
            if pid not in found:
                if pid in starts:
                    found.append(pid)
                waiting += children.get(pid, [])
        self._seen |= {pid: starts[pid] for pid in found}
        return found

    def names(self) -> dict[int, str]:
        """Return command names of the live processes."""
        return {pid: name for pid in self.pids() if (name := _read(pid, "comm")) is not None}

    def cpu_seconds(self) -> float:
        """Return user and system time of all live processes and of their children that ended."""
        wanted = set(self.pids())
        ticks = sum(sum(map(int, fields[11:15])) for pid, fields in _stats() if pid in wanted)
        return ticks / _TICKS

    def memory_bytes(self) -> int:
        """Return the sum of PSS; of RSS if the kernel does not report PSS."""
        return sum(_memory(pid) for pid in self.pids())

    def tasks(self) -> int:
        """Return the number of threads of all live processes; Linux calls each a task."""
        wanted = set(self.pids())
        return sum(int(fields[_THREADS]) for pid, fields in _stats() if pid in wanted)

    def sizes(self) -> list[ProcessSize]:
        """Return what each live process takes, the largest first."""
        wanted = set(self.pids())
        tasks = {pid: int(fields[_THREADS]) for pid, fields in _stats() if pid in wanted}
        found = [
            ProcessSize((_read(pid, "cmdline") or "").replace("\0", " ").strip(), _memory(pid), tasks[pid])
            for pid in tasks
        ]
        return sorted(found, key=lambda size: size.memory, reverse=True)

    def connections(self) -> list[tuple[int, int]]:
        """Return established TCP connections of the tree as (pid, remote port)."""
        remote = _remote_ports()
        found = []
        for pid in self.pids():
            for inode in _sockets(pid):
                if inode in remote:
                    found.append((pid, remote[inode]))
        return found


def _stats() -> Iterator[tuple[int, list[bytes]]]:
    """Yield (pid, fields of /proc/PID/stat from the state on)."""
    for entry in os.scandir(_PROC):
        if entry.name.isdigit():
            try:
                yield int(entry.name), (_PROC / entry.name / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue


def _memory(pid: int) -> int:
    for file, key in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        for line in (_read(pid, file) or "").splitlines():
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return 0


def _read(pid: int, file: str) -> str | None:
    try:
        return (_PROC / str(pid) / file).read_text(errors="replace").strip()
    except OSError:
        return None


def _sockets(pid: int) -> Iterator[int]:
    try:
        entries = list((_PROC / str(pid) / "fd").iterdir())
    except OSError:
        return
    for entry in entries:
        try:
            target = str(entry.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            yield int(target[8:-1])


def _remote_ports() -> dict[int, int]:
    """Return socket inode -> remote port, established connections only."""
    established = "01"
    found = {}
    for table in _TCP:
        for line in (_PROC / "net" / table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == established:
                found[int(fields[9])] = int(fields[2].rpartition(":")[2], 16)
    return found
