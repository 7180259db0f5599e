"""A copy that was deleted at the target, and that comes back empty: seen where a record becomes its first one.

What the mirror has passed is not copied again, so the target lacks it from then on. Where the target has as many
partitions as the source, nothing is asked for it. Where it has another number, as brokers make topics, a record that is
the first of its partition proves nothing alone: others may hold what was copied. Then their ends are asked for. Of a
topic whose first record was ours when nothing had been copied, a partition may get its first one late: keys decide.

With `acks=0` no answer has an offset, so the ends of a topic are asked for before its first record is sent. A handler
may have dropped all before, or have sent it elsewhere: only the topic that is the copy by name is judged, by where this
copy job began, or by what it has seen in that topic itself; and the line says that it may be so.

`FullCopies` is the other way round: a copy that holds records already where a partition begins at its first one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from legacy_mm.base.model import EARLIEST, LATEST, Offsets, TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost, RequestRefused
from legacy_mm.dataplane.acks import Part
from legacy_mm.dataplane.keep_alive import KeepAlive
from legacy_mm.logs import events

CountOfPartitions = Callable[[str], int]


class FullCopies:
    """Tells once for each topic; made where nobody has looked at both ends before."""

    def __init__(
        self, names: Mapping[str, str], starts: Offsets, source: CountOfPartitions, target: CountOfPartitions
    ) -> None:
        """Take what a copy job copies and where it begins; both ends return the number of partitions of a topic."""
        self._names = names
        self._source, self._target = source, target
        self._beginning = {partition for partition, start in starts.items() if start == EARLIEST}
        self._mixed: set[str] = set()
        """Topics into which a record came that changed the number of its partition; and those that were told."""

    def acknowledged(self, part: Part, base_offset: int) -> None:
        """Handle what a copy has from this offset on; -1: nobody knows."""
        if not self._beginning:
            return
        place = part.piece.partition
        if part.moved:
            self._mixed.add(place.topic)
        elif place in self._beginning:
            self._beginning.discard(place)
            copy = self._names[place.topic]
            if base_offset > 0 and place.topic not in self._mixed and self._source(place.topic) == self._target(copy):
                self._mixed.add(place.topic)
                events.emit(events.COPY_FULL, topic=copy, partition=place, count=base_offset)


@dataclass(frozen=True)
class Copying:
    """Holds what one copy job copies, and how far it is."""

    names: Mapping[str, str]
    """Topic -> its copy."""
    starts: Offsets
    """From the task config."""
    safe: Callable[[], Offsets]
    begins: Callable[[TopicPartition], int]
    """Returns the begin of the source's log, -1 if unknown."""
    handled: bool = False
    """By a handler."""
    begins_unseen: bool = False
    """Nobody has looked if copies hold records already where a partition begins at its first one."""


@dataclass
class _Life:
    """One topic of the target, from its making to its deletion, or to the next partition that is added."""

    topic_id: object
    partitions: int
    reached: Offsets
    """The offsets of the source that copying had reached when its first record arrived."""
    begun: int = 0
    """The number of its partitions whose first record was one of ours."""
    reported: set[TopicPartition] = field(default_factory=set)


@dataclass
class _Asked:
    """The ends of one topic of the target before records were sent that nobody acknowledges."""

    topic_id: object
    partitions: int
    ends: dict[TopicPartition, int] | None
    """None: there is nothing to lack."""


class EmptyCopies:
    """Tells once for each partition that its copy was empty although copying had come further at the source."""

    def __init__(self, copying: Copying, clusters: tuple[Cluster, Cluster], beat: KeepAlive) -> None:
        self._copying = copying
        self._source, self._target = clusters
        self._beat = beat
        counts = self._source.metadata.partitions, self._target.metadata.partitions
        self._full = FullCopies(copying.names, copying.starts, *counts) if copying.begins_unseen else None
        self._lives: dict[str, _Life] = {}
        self._known: dict[str, _Asked] = {}
        self._begun: dict[str, object] = {}
        """Topic -> its id, where one of its first records was ours before anything could be missing."""
        self._firsts: set[TopicPartition] = set()
        """Partitions of the source that had the first record of the same one of the copy."""
        self._seen: set[TopicPartition] = set()
        """Partitions of the source of which something was in the copy since this job began; only with a handler."""

    def acknowledged(self, part: Part, base_offset: int) -> None:
        """Handle what the target has from this offset on, which is not counted as safe yet."""
        if not part.in_copy:
            return
        if self._full is not None:
            self._full.acknowledged(part, base_offset)
        if base_offset == 0:
            self._first(part)
        if self._copying.handled:
            self._seen.add(part.piece.partition)

    def before_sending(self, part: Part, number: int) -> None:
        """Handle what is about to be sent to the partition of this number, and is not answered."""
        if not part.in_copy:
            return
        topic = self._copying.names[part.piece.partition.topic]
        known = self._asked_of(topic)
        if known.ends is None:
            return
        place = TopicPartition(topic, number)
        if place not in known.ends and self._target.metadata.leader(place) is not None:
            places = [TopicPartition(topic, each) for each in range(known.partitions)]
            known.ends |= self._ends([each for each in places if each not in known.ends])
        if known.ends.get(place) == 0:
            known.ends[place] = len(part.offsets)
            self._first(part)

    def _asked_of(self, topic: str) -> _Asked:
        """Return what is known of the topic's ends in its life of now.

        Where it was made again under this job, all of it was empty, whatever was sent there before we knew.
        """
        metadata = self._target.metadata
        topic_id, partitions = metadata.topic_ids().get(topic), metadata.partitions(topic)
        known = self._known.get(topic)
        if known is not None and (known.topic_id, known.partitions) == (topic_id, partitions):
            return known
        ends: dict[TopicPartition, int] | None = {} if self._lacking(self._sources(topic)) else None
        if ends is not None and known is not None and known.topic_id not in (None, topic_id):
            ends = dict.fromkeys((TopicPartition(topic, number) for number in range(partitions)), 0)
        self._known[topic] = _Asked(topic_id, partitions, ends)
        return self._known[topic]

    def _first(self, part: Part) -> None:
        place = part.piece.partition
        topic = self._copying.names[place.topic]
        sources = self._sources(topic)
        is_again = place in self._firsts
        if not part.moved:
            self._firsts.add(place)
        if not self._lacking(sources):
            self._begun[topic] = self._target.metadata.topic_ids(fresh=False).get(topic)
            return
        life = self._life(topic, sources)
        life.begun += 1
        if not part.moved and self._source.metadata.partitions(place.topic) == life.partitions:
            is_late = life.topic_id is not None and life.topic_id == self._begun.get(topic) and not is_again
            if not is_late and (place not in life.reported or life.topic_id is None):
                self._tell(topic, life, place, self._reached(place))
        elif self._holds_ours_only(topic, life):
            for each in sources:
                if each not in life.reported:
                    self._tell(topic, life, each, life.reached[each])

    def _sources(self, topic: str) -> list[TopicPartition]:
        names = self._copying.names
        return [each for each in self._copying.starts if names[each.topic] == topic]

    def _lacking(self, sources: Sequence[TopicPartition]) -> bool:
        """Return True if something of these was copied that the source still has."""
        return any(self._reached(each) > self._copying.begins(each) >= 0 for each in sources)

    def _life(self, topic: str, sources: Sequence[TopicPartition]) -> _Life:
        topic_id, partitions = self._target.metadata.topic_ids().get(topic), self._target.metadata.partitions(topic)
        life = self._lives.get(topic)
        if life is None or (life.topic_id, life.partitions) != (topic_id, partitions):
            reached = {place: self._reached(place) for place in sources}
            life = self._lives[topic] = _Life(topic_id, partitions, reached)
        return life

    def _reached(self, place: TopicPartition) -> int:
        start = self._copying.starts.get(place, -1)
        if self._copying.handled and place not in self._seen:
            return start  # what it dropped since then is not missing
        return self._copying.safe().get(place, start)

    def _holds_ours_only(self, topic: str, life: _Life) -> bool:
        """Return True if every record of the topic has arrived since its first one did."""
        places = [TopicPartition(topic, number) for number in range(life.partitions)]
        ends = self._ends(places)
        return len(ends) == len(places) and sum(end > 0 for end in ends.values()) <= life.begun

    def _ends(self, places: Collection[TopicPartition]) -> Offsets:
        with self._beat, suppress(ConnectionLost, ClusterUnreachable, RequestRefused):
            return self._target.offsets.of_led(places, LATEST, patient=False)
        return {}

    def _tell(self, topic: str, life: _Life, place: TopicPartition, reached: int) -> None:
        begin = self._copying.begins(place)
        if reached > begin >= 0:
            life.reported.add(place)
            event = events.COPY_PERHAPS_EMPTY if self._copying.handled else events.COPY_EMPTY
            events.emit(event, topic=topic, partition=place, reached=reached, begin=begin, count=reached - begin)
