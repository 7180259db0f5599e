"""Asks where partitions would begin that have a start time and no position: for `explain`, and for a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from legacy_mm.base.clock import Deadline, iso_time
from legacy_mm.base.model import TopicPartition, start_within
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.flow.flow_settings import Settings


class TimeStart(NamedTuple):
    """The start of a partition at a time."""

    time: int
    offset: int | None
    """None: its leader does not tell."""

    def because(self) -> str:
        """Return the reason, in words."""
        said = f"start.from is {iso_time(self.time)}"
        return said if self.offset is not None else f"{said}, and its leader does not tell which record that is"


def time_starts(
    settings: Settings,
    inspector: NativeInspector,
    ends: Mapping[TopicPartition, tuple[int, int]],
    deadline: Deadline,
) -> dict[TopicPartition, TimeStart]:
    """Return the start of each partition whose topic has a time; `ends`: where its log begins, and where reading ends.

    Raise HostError.
    """
    times = settings.start_times.among(ends)
    first = inspector.at_times(times, deadline)
    return {
        each: TimeStart(time, start_within(first[each], *ends[each]) if each in first else None)
        for each, time in times.items()
    }


def plan_notes(
    settings: Settings, inspector: NativeInspector, lacking: Collection[TopicPartition], deadline: Deadline
) -> Iterator[str]:
    """Yield a line for each partition with a start time, of those that lack a position; raise HostError."""
    timed = settings.start_times.among(lacking)
    for each, start in sorted(time_starts(settings, inspector, inspector.log_ends(timed, deadline), deadline).items()):
        where = "begins nowhere yet" if start.offset is None else f"begins at offset {start.offset}"
        yield f"{each} {where}: it has no position, and {start.because()}"
