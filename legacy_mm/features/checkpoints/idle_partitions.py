"""Partitions of which nothing is known, because nothing was copied since offsets are written down, and what a group has
left to read there.

Before partitions were preserved a record may have gone to any partition of the copy. So a group is at the end of an
idle partition if nothing of its topic is left for it that was copied before the first pair of offsets became known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import GroupOffsets, TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector

Ends = Mapping[TopicPartition, tuple[int, int]]
"""First offset, and the next offset to be written."""
AskOfEach = Callable[[Callable[[TopicPartition], bool], Iterable[TopicPartition]], Iterable[bool]]


@dataclass(frozen=True, slots=True)
class IdlePartitions:
    """The question to the source, for use by one thread."""

    topics: NativeInspector
    copied: Callable[[Deadline], GroupOffsets]
    """The mirror's own positions; raises LegacyMMError."""
    first_known: Callable[[TopicPartition], int | None]
    """The lowest source offset of a partition of which a pair is known; None: nothing is known."""
    has_records: Callable[[TopicPartition, int, int], bool]
    """True if the source has records from one offset to before another, if that is greater; markers are none."""

    def read_to_the_end(
        self, groups: Mapping[str, GroupOffsets], topics: Collection[str], deadline: Deadline, mapped: AskOfEach = map
    ) -> dict[str, set[str]]:
        """Return group -> those of the topics with an unknown partition in which it has nothing left; raise
        LegacyMMError.

        `groups`: where each group is in all its partitions. `mapped` may ask of several partitions at a time.
        """
        unknown = {
            group: {place.topic for place in found if place.topic in topics and self.first_known(place) is None}
            for group, found in groups.items()
        }
        ends = self.ends(sorted(set().union(*unknown.values())), deadline) if any(unknown.values()) else {}
        copied = self.copied(deadline) if ends else {}
        places: dict[str, list[TopicPartition]] = {}
        for place in ends:
            places.setdefault(place.topic, []).append(place)

        def has_left(committed: GroupOffsets, place: TopicPartition) -> bool:
            low, end = ends[place]
            read, mirrored = (offsets[place].offset if place in offsets else 0 for offsets in (committed, copied))
            first = self.first_known(place)
            if first is not None:  # what was copied since stands in the partition of its own number
                return read < low or self.has_records(place, read, min(first, end))
            # records that the source has removed since may still be at the target
            return read < low or self.has_records(place, min(read, max(low, mirrored)), end)

        return {
            group: {
                topic
                for topic in several & places.keys()
                if not any(mapped(partial(has_left, groups[group]), places[topic]))
            }
            for group, several in unknown.items()
        }

    def ends(self, topics: Iterable[str], deadline: Deadline) -> Ends:
        """Return the log ends of all partitions of these topics; raise LegacyMMError."""
        counts = self.topics.partitions(deadline)
        places = [TopicPartition(topic, number) for topic in topics for number in range(counts.get(topic, 0))]
        return self.topics.log_ends(places, deadline)
