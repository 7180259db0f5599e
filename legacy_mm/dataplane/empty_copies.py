"""A copy that was deleted at the target, and that comes back empty: seen where a record becomes its first one.

Nothing is asked for it. What the mirror has passed is not copied again, so the target lacks it from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from legacy_mm.clients.native.cluster import Cluster
from legacy_mm.dataplane.acks import Part
from legacy_mm.logs import events
from legacy_mm.model import Offsets, TopicPartition


class EmptyCopies:
    """Tells once for each partition that its copy was empty although copying had come further at the source."""

    def __init__(
        self,
        names: Mapping[str, str],
        starts: Offsets,
        safe: Callable[[], Offsets],
        begins: Callable[[TopicPartition], int],
        clusters: tuple[Cluster, Cluster],
    ) -> None:
        """Create the check; `starts` come from the task config; `begins` returns the begin of the source's log, -1 if
        unknown.
        """
        self._names = names
        self._starts = starts
        self._safe = safe
        self._begins = begins
        self._source, self._target = clusters

    def first(self, part: Part) -> None:
        """Handle the first records of a partition at the target, which are not counted as safe yet.

        Records that are placed anew, or by another number of partitions, prove nothing: others were placed elsewhere.
        """
        place = part.piece.partition
        reached, begin = self._safe().get(place, self._starts.get(place, -1)), self._begins(place)
        topic = self._names[place.topic]
        if part.moved or not reached > begin >= 0:
            return
        if self._source.partitions(place.topic) == self._target.partitions(topic):
            events.emit(
                events.COPY_EMPTY, topic=topic, partition=place, reached=reached, begin=begin, count=reached - begin
            )
