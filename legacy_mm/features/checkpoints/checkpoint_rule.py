"""When a group's checkpoint is emitted, and which offsets a group at the target is given."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.base.model import OffsetPair, TopicPartition


def is_due(last: OffsetPair | None, new: OffsetPair) -> bool:
    """Return True if a checkpoint is due after the last one of the same group and partition.

    The target's offset must have grown, unless the group was rewound at the source.
    """
    return last is None or last.upstream > new.upstream or last.downstream < new.downstream


def offsets_to_set(
    committed: Mapping[TopicPartition, int], translated: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    """Return the translated offsets of a group that are committed for it at the target: never one that goes back.

    `committed`: the current offsets there of the group, which has no members.
    """
    return {
        partition: offset
        for partition, offset in translated.items()
        if partition not in committed or committed[partition] < offset
    }
