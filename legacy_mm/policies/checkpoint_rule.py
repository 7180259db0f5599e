"""When a group's checkpoint is emitted, and which offsets a group at the target is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from legacy_mm.model import OffsetPair, TopicPartition


class GroupState(Enum):
    """What a look at the target's group coordinator found."""

    EMPTY = auto()
    """It has no members, or there is no such group."""
    IN_USE = auto()
    """It has members, or is about to."""
    UNKNOWN = auto()
    """It could not be described."""


@dataclass(frozen=True, slots=True)
class TargetGroup:
    """A group at the target, as the last look found it."""

    state: GroupState
    offsets: Mapping[TopicPartition, int | None] = field(default_factory=dict)
    """What an empty group has committed; None: another client has reset it."""


def is_due(last: OffsetPair | None, new: OffsetPair) -> bool:
    """Whether a checkpoint is emitted after the last one of the same group and partition.

    The target's offset must have grown, unless the group was rewound at the source.
    """
    return last is None or last.upstream > new.upstream or last.downstream < new.downstream


def offsets_to_set(group: TargetGroup, translated: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    """Those of a group's translated offsets that are committed for it at the target: never one that goes back.

    MirrorMaker 2 takes a group that it could not describe, or saw in use, for one that does not exist, and rewinds it
    when it has become empty meanwhile; here such a group waits for the next look.
    """
    if group.state is not GroupState.EMPTY:
        return {}
    return {
        partition: offset
        for partition, offset in translated.items()
        if (committed := group.offsets.get(partition)) is None or committed < offset
    }
