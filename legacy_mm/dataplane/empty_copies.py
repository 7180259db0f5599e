"""A copy that was deleted at the target, and that comes back empty: seen where a record becomes its first one.

What the mirror has passed is not copied again, so the target lacks it from then on. Where the target has as many
partitions as the source, nothing is asked for it. Where it has another number, as brokers make topics, a record that is
the first of its partition proves nothing alone: others may hold what was copied. Then their ends are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from legacy_mm.clients.native.cluster import Cluster
from legacy_mm.clients.native.connection_errors import ClusterUnreachable, ConnectionLost, RequestRefused
from legacy_mm.dataplane.acks import Part
from legacy_mm.logs import events
from legacy_mm.model import LATEST, Offsets, TopicPartition


@dataclass
class _Life:
    """One topic of the target, from its making to its deletion, or to the next partition that is added."""

    topic_id: object
    partitions: int
    reached: Offsets
    """The offsets of the source that copying had reached when its first record arrived."""
    begun: int = 0
    """The number of its partitions whose first record was one of ours."""
    told: set[TopicPartition] = field(default_factory=set)


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
        self._lives: dict[str, _Life] = {}

    def first(self, part: Part) -> None:
        """Handle the first records of a partition at the target, which are not counted as safe yet."""
        place = part.piece.partition
        topic = self._names[place.topic]
        sources = [each for each in self._starts if self._names[each.topic] == topic]
        if not any(self._reached(each) > self._begins(each) >= 0 for each in sources):
            return  # nothing to lack
        life = self._life(topic, sources)
        life.begun += 1
        if not part.moved and self._source.partitions(place.topic) == life.partitions:
            if place not in life.told or life.topic_id is None:
                self._tell(topic, life, place, self._reached(place))
        elif self._holds_ours_only(topic, life):
            for each in sources:
                if each not in life.told:
                    self._tell(topic, life, each, life.reached[each])

    def _life(self, topic: str, sources: Sequence[TopicPartition]) -> _Life:
        topic_id, partitions = self._target.topic_ids().get(topic), self._target.partitions(topic)
        life = self._lives.get(topic)
        if life is None or (life.topic_id, life.partitions) != (topic_id, partitions):
            reached = {place: self._reached(place) for place in sources}
            life = self._lives[topic] = _Life(topic_id, partitions, reached)
        return life

    def _reached(self, place: TopicPartition) -> int:
        return self._safe().get(place, self._starts.get(place, -1))

    def _holds_ours_only(self, topic: str, life: _Life) -> bool:
        """Return True if every record of the topic has arrived since its first one did."""
        places = [TopicPartition(topic, number) for number in range(life.partitions)]
        with suppress(ConnectionLost, ClusterUnreachable, RequestRefused):
            ends = self._target.offsets_of_led(places, LATEST, patient=False)
            return len(ends) == len(places) and sum(end > 0 for end in ends.values()) <= life.begun
        return False

    def _tell(self, topic: str, life: _Life, place: TopicPartition, reached: int) -> None:
        begin = self._begins(place)
        if reached > begin >= 0:
            life.told.add(place)
            events.emit(
                events.COPY_EMPTY, topic=topic, partition=place, reached=reached, begin=begin, count=reached - begin
            )
