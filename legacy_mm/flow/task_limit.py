"""The limit on processes and threads (Linux calls both tasks) of this host or container, and the mirror's needs.

A mirror that meets the limit later ends in the middle of its work, or a client library aborts the process.

The control groups of this process (Linux) are read here: a container or a service manager limits it by them.
"""

from __future__ import annotations

import math
import os
import resource
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.topic_steps import move_whole_topics
from legacy_mm.handlers.loader import needs_java

PROC = Path("/proc")
_CGROUPS = Path("/sys/fs/cgroup")
_FIRST_STREAM = 80
_EACH_FURTHER, _EACH_IN_PYTHON = 6, 14
"""Tasks of a busy mirror on two cores with one broker on each side (2026-11-29): 76, 134 and 280 were counted of 1, 10
and 40 streams; 69, 196 and 617 where each stream has a process for a handler in Python, or for steps that look at
records. Each further broker costs a stream one or two more.
"""
_EACH_JVM = 10
"""Tasks of the JVM in a copy process: with a handler in a jar 84, 150 and 301 were counted."""
_EACH_FEATURE = 8
"""Tasks of the clients that a feature has beside the copying: 860 were counted of 20 flows with six features each."""


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


class _Room(NamedTuple):
    """The number of tasks that may still be started, and the limit that says so."""

    tasks: int
    limit: str


def check_task_limit(flows: Iterable[Settings]) -> None:
    """Raise ConfigurationError if this process may not start as many tasks as the streams of these flows need.

    Call it before anything is started: what runs already counts against the limit. On a cluster most tasks are
    elsewhere, and nothing is checked.
    """
    embedded = [settings for settings in flows if settings.process.spark.embedded]
    if not embedded:
        return
    streams = max(1, sum(settings.streams for settings in embedded))
    needed = _FIRST_STREAM + max(0, sum(map(_needed, embedded)) - _EACH_FURTHER)
    room = min((*_of_cgroups(), *_of_user()), default=None)
    if room is None or room.tasks + _own_tasks() >= needed:
        return
    fewer = ", or ask for fewer --num.streams" if streams > 1 else ""
    raise ConfigurationError(
        f"{streams} stream{'s' if streams > 1 else ''} need about {needed} processes and threads, and {room.limit} "
        f"leaves {room.tasks}: raise it by {needed - room.tasks}{fewer}"
    )


def _needed(settings: Settings) -> int:
    """Return the tasks of one flow, as one beside others."""
    features = _EACH_FEATURE * len(settings.features.switched_on)
    handler = settings.handler
    if handler is None or move_whole_topics(settings):
        return features + _EACH_FURTHER * settings.streams
    if needs_java(handler):
        return features + _EACH_FURTHER * settings.streams + _EACH_JVM * min(settings.streams, usable_cores())
    return features + _EACH_IN_PYTHON * settings.streams


def _own_tasks() -> int:
    """Return the tasks of this process, which the limit counts already and the need contains."""
    return _threads(PROC / "self" / "status")


def _of_cgroups() -> Iterator[_Room]:
    """Yield the room in the control groups of this process, and in those around them."""
    for folder in folders("pids"):
        with suppress(OSError, ValueError):  # no such file, or `max`
            limit = int((folder / "pids.max").read_text(encoding="ascii"))
            current = int((folder / "pids.current").read_text(encoding="ascii"))
            yield _Room(limit - current, f"pids.max of this container ({limit})")


def _of_user() -> Iterator[_Room]:
    """Yield the room that `ulimit -u` leaves to this user; it does not hold for root."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if limit == resource.RLIM_INFINITY or os.getuid() == 0:
        return
    used = 0
    for status in PROC.glob("[0-9]*/status"):
        if _value(status, "Uid").split()[:1] == [str(os.getuid())]:
            used += _threads(status)
    yield _Room(limit - used, f"the limit of this user (ulimit -u: {limit})")


def _threads(status: Path) -> int:
    return int(_value(status, "Threads") or 0)


def _value(status: Path, name: str) -> str:
    """Return a value of a `status` file; empty if the process has ended."""
    return next((line.partition(":")[2] for line in lines(status) if line.startswith(f"{name}:")), "")
