"""A group's offsets at the source, and the offsets at which it would continue at the target. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import CommittedOffset, GroupOffsets, Offsets, TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.clients.topics.topic_reader import has_records
from legacy_mm.features.checkpoints.group_position import (
    GroupPosition,
    How,
    answer,
    best,
    by_checkpoint,
    copied_until,
    first_known,
)
from legacy_mm.features.checkpoints.idle_partitions import Ends, IdlePartitions
from legacy_mm.features.checkpoints.translation import StoredCheckpoints, StoredSyncs
from legacy_mm.features.offset_syncs.exact_offsets import StoredMaps
from legacy_mm.features.offset_syncs.offset_map import OffsetMap

_SCANS = 8


@dataclass(frozen=True, slots=True)
class ClusterView:
    """One cluster: its groups and its topics."""

    groups: GroupAdmin
    topics: NativeInspector


@dataclass(frozen=True, slots=True)
class Source(ClusterView):
    """The cluster that is mirrored."""

    connection: ConnectionSettings
    """The way to it, as the mirror's consumers have it."""
    copied: Callable[[Deadline], GroupOffsets]
    """The mirror's own positions; raises LegacyMMError."""
    committed_only: bool
    """True if the mirror copies no record of an aborted transaction."""


@dataclass(frozen=True, slots=True)
class Known:
    """Offset syncs, maps and checkpoints that the mirror has written."""

    syncs: StoredSyncs
    maps: StoredMaps
    checkpoints: StoredCheckpoints


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a group in one partition."""

    source: TopicPartition
    committed: CommittedOffset
    target: TopicPartition
    """Partition of the copy, if there is one."""
    answer: GroupPosition
    left: int | None = None
    """Number of offsets of the target left to read from there; records, if nothing is compacted."""


class GroupTranslation:
    """Translation of group offsets, for use by one thread."""

    def __init__(
        self,
        source: Source,
        target: ClusterView,
        known: Known,
        copies: Callable[[Collection[str]], Mapping[str, str]],
    ) -> None:
        """Take both clusters and what the mirror has written.

        `copies` returns those of some source topics that are mirrored with offset syncs -> their names at the target.
        """
        self.source = source
        self.target = target
        self._known = known
        self._copies = copies
        self._idle = IdlePartitions(source.topics, source.copied, self._first_known, self._has_records)

    def refresh(self, deadline: Deadline) -> None:
        """Read what the mirror has written since the last time; raises HostError."""
        self._known.syncs.refresh(deadline)
        self._known.maps.refresh(deadline)
        self._known.checkpoints.refresh(deadline)

    def positions(self, group: str, deadline: Deadline, *, from_first: bool = False) -> list[Position]:
        """Return the position of each partition that the group has committed; raises LegacyMMError, also if there is
        none.

        `from_first`: the group begins at the copy's first record where its offset is unknown.
        """
        committed = self.source.groups.offsets_of(group, deadline)
        if not committed:
            raise HostError(f"group {group} has committed nothing at the source")
        copies = self._copies({place.topic for place in committed})
        counts = self.target.topics.partitions(deadline)
        there = {
            place: TopicPartition(copies[place.topic], place.partition)
            for place in committed
            if place.topic in copies and place.partition < counts.get(copies[place.topic], 0)
        }
        target_ends = self.target.topics.log_ends(
            there.values(), deadline
        )  # read before the known offsets, and before the source's
        self.refresh(deadline)
        source_ends = self.source.topics.log_ends(there, deadline)
        with ThreadPoolExecutor(_SCANS) as pool:
            topics = {place.topic for place in there}
            all_read = self._idle.read_to_the_end({group: committed}, topics, deadline, pool.map)[group]

        def position(place: TopicPartition) -> Position:
            offset = committed[place]
            target = there.get(place)
            if target is None:
                missing = GroupPosition(How.NO_COPY if place.topic in copies else How.NOT_MIRRORED)
                named = TopicPartition(copies.get(place.topic, place.topic), place.partition)
                return Position(place, offset, named, missing)
            there_ends = target_ends[target]
            found = self._answer(place, offset.offset, source_ends[place], there_ends)
            checkpoint = self._known.checkpoints.last(group, target)
            if found.how is How.UNKNOWN:  # a checkpoint there was, too, right only while the group had nothing left
                found = GroupPosition(How.AT_THE_END, there_ends[1]) if place.topic in all_read else found
            elif checkpoint is not None and checkpoint.downstream <= there_ends[1]:
                first = self._known.maps.read_map(place).nearest(-1).first
                found = by_checkpoint(found, offset.offset, checkpoint, first)
            if from_first and found.how in (How.UNKNOWN, How.TOO_OLD):
                found = GroupPosition(How.FIRST_RECORD, there_ends[0], behind=found.behind)
            if (
                found.offset is not None and found.offset > there_ends[1]
            ):  # copied after the ends were read, or never there
                there_ends = self.target.topics.log_ends([target], deadline)[target]
                found = found if found.offset <= there_ends[1] else GroupPosition(How.COPY_RECREATED, behind=True)
            left = None if found.offset is None else max(0, there_ends[1] - found.offset)
            return Position(place, offset, target, found, left)

        with ThreadPoolExecutor(_SCANS) as pool:
            return list(pool.map(position, sorted(committed)))

    def ends(self, group: str, deadline: Deadline) -> Ends:
        """Return the log ends of all partitions of the mirrored topics that the group has committed."""
        committed = self.source.groups.offsets_of(group, deadline)
        return self._idle.ends(self._copies({place.topic for place in committed}), deadline)

    def _first_known(self, place: TopicPartition) -> int | None:
        return first_known(self._map(place).nearest(-1).first, self._known.syncs.pairs(place))

    def lag(self, ends: Ends, deadline: Deadline) -> Offsets:
        """Return the number of source offsets of each partition not copied up to its end.

        Partitions without lag are left out.
        """
        self.refresh(deadline)
        committed = self.source.copied(deadline)

        def behind(place: TopicPartition) -> int:
            low, end = ends[place]
            own = committed.get(place)
            copied = max(low, copied_until(self._map(place)), 0 if own is None else own.offset)
            return end - copied if self._has_records(place, copied, end) else 0

        with ThreadPoolExecutor(_SCANS) as pool:
            return {place: lag for place, lag in zip(ends, pool.map(behind, ends), strict=True) if lag}

    def _answer(
        self, place: TopicPartition, offset: int, ends: tuple[int, int], target: tuple[int, int]
    ) -> GroupPosition:
        (low, end), (first, next_offset) = ends, target
        pairs = self._map(place)
        found = answer(
            offset,
            pairs,
            self._known.syncs.pairs(place),
            lambda begin, until: self._has_records(place, max(begin, low), until),
        )
        # records that the source has removed since may still be at the target
        all_read = offset >= end or first == next_offset
        if found.how is How.UNKNOWN and all_read and not self._has_records(place, low, end):
            return GroupPosition(How.NOTHING_TO_READ, next_offset)
        # compaction, or an aborted transaction, may have left nothing before the first record
        if found.how is How.TOO_OLD and pairs.runs and low <= offset:
            begin = pairs.runs[0].upstream
            if not self._has_records(place, offset, begin):
                return best(begin, pairs.nearest(begin), ())
        return found

    def _map(self, place: TopicPartition) -> OffsetMap:
        return self._known.maps.read_map(place)

    def _has_records(self, place: TopicPartition, begin: int, end: int) -> bool:
        return begin < end and has_records(
            self.source.connection, *place, begin, end, committed=self.source.committed_only
        )


def untranslated(positions: Iterable[Position]) -> list[Position]:
    """Return the positions whose offset is unknown."""
    return [each for each in positions if each.answer.offset is None]
