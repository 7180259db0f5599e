"""The part of the page for somebody who may fail over now: how old checkpoints are, and which groups have none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from legacy_mm.connect.page.flow_numbers import FlowNumbers, LeftOut, total

_AGES = {
    "heartbeat": ("heartbeats", "last_heartbeat"),
    "checkpoint": ("mirror_offsets", "last_checkpoint"),
    "look at the groups": ("mirror_offsets", "last_look"),
    "offset sync": ("mirror_offsets", "last_sync"),
}
"""Event that comes again and again -> the measure of the time since the last one."""
_DONE = {
    "checkpoints": "checkpoints written",
    "groups": "moves of groups at the target",
    "syncs": "offset syncs written",
    "failed_syncs": "offset syncs that failed",
}


class FailOver(NamedTuple):
    """The facts about one flow, by the partitions that this process copies."""

    ages: Mapping[str, float]
    """Event of a feature that is on -> the seconds since the last one; infinity: there was none yet."""
    groups: float
    """The groups with offsets in these partitions; NaN before anybody has looked."""
    left_out_count: float
    """The number of those without a checkpoint for some partition."""
    left_out: Sequence[LeftOut]
    """Not all of those, if there are many."""
    done: Mapping[str, float]
    """The work since the start: word -> number."""

    @property
    def translated(self) -> float:
        """The groups with a checkpoint for each of these partitions."""
        return self.groups - self.left_out_count

    @property
    def is_known(self) -> bool:
        """True where a feature that has a part in it is on."""
        return bool(self.ages)


def fail_over(numbers: FlowNumbers) -> FailOver:
    """Return what the numbers of a flow say of it."""
    ages = {what: age for what, place in _AGES.items() if not math.isnan(age := numbers.least(*place))}
    done = {word: count for measure, word in _DONE.items() if (count := numbers.summed("mirror_offsets", measure))}
    return FailOver(
        ages,
        total(each.value for each in numbers.of("mirror_offsets", "groups_seen")),
        numbers.summed("mirror_offsets", "groups_left_out"),
        numbers.left_out,
        done,
    )
