"""Copies that hold records already, where a flow has no position: what would come twice, what would be skipped.

So it is after a move, when a mirror begins in the other direction and names are kept, and behind a source that was
rebuilt. Nobody has written down how far such a copy goes. The times of records tell: what the source has that is not
younger than the copy's youngest record seems to be there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from legacy_mm.base.clock import Deadline, iso_time
from legacy_mm.base.model import EARLIEST, LATEST, Lacking, Offsets, TopicPartition, start_within
from legacy_mm.clients.admin.inspector import NativeInspector, asking
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.newest_times import newest_times
from legacy_mm.controlplane.positions import SetPosition, of_exactly_once
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.position_book import PositionBook
from legacy_mm.logs import events
from legacy_mm.logs.events import Event
from legacy_mm.transactions.bundle_settings import is_exactly_once, offset_book
from legacy_mm.transactions.exactly_once_start import positions

_CLIENT_ID = "legacy_mm-earlier-copies"
_MOST_PLACES = 10


@dataclass(frozen=True, slots=True)
class EarlierCopy:
    """A copy at the target that holds records, of a topic that has partitions without a position."""

    topic: str
    copy: str
    youngest_ms: int
    """The time of its youngest record."""
    behind: Offsets
    """Each partition without a position -> the offset at which it goes on behind the copy."""
    there: int
    """The number of the source's offsets before that, which seem to be at the target."""
    missing: int
    """The number of those from there on."""


class Told(NamedTuple):
    """Something to be said: at the start, and by a plan."""

    event: Event
    fields: Mapping[str, object]

    @property
    def text(self) -> str:
        """The line."""
        return self.event.text.format(**self.fields)


class EarlierCopies:
    """The look at both clusters of one flow."""

    def __init__(self, settings: Settings, names: FlowTopics, book: PositionBook) -> None:
        """Take the flow, and where its positions are."""
        self._settings = settings
        self._names = names
        self._book = book
        self._set_position: SetPosition = of_exactly_once if is_exactly_once(settings) else book.set_position

    def tell(self, topics: Collection[str], deadline: Deadline) -> Iterator[Told]:
        """Yield what is to be said of positions of other logs, and of topics of which something would come twice or be
        skipped; raise LegacyMMError.

        Nothing while the flow runs elsewhere: what it has copied is no earlier copy.
        """
        if self._book.is_in_use(deadline):
            return
        counts = NativeInspector(self._settings.source.connection).partitions(deadline)
        every = [TopicPartition(topic, number) for topic in sorted(topics) for number in range(counts.get(topic, 0))]
        lacking = self.lacking(every, deadline)
        for place, (offset, why) in sorted(lacking.foreign.items()):
            fields = {"offset": offset, "topic": offset_book(self._settings).topic, "partition": place, "why": why}
            yield Told(events.POSITION_OF_ANOTHER_LOG, fields)
        reset = self._settings.source.offset_reset
        if self._settings.source.new_from_earliest:  # a flow that has begun takes what is new from its first record
            reset = "earliest" if len(lacking.partitions) < len(every) else "latest"
        foreign = _topics(lacking.foreign)  # these begin at their first record
        times = self._settings.start_times
        starts = times.among(each for each in lacking.partitions if each.topic not in foreign)
        for found in self._inspect(lacking.partitions, starts, deadline):
            at_time = times.of(found.topic) if found.topic not in foreign else None
            begins = "auto.offset.reset is latest" if at_time is None else f"start.from is {iso_time(at_time)}"
            twice = found.there > 0 if at_time else reset == "earliest" or found.topic in foreign
            if count := found.there if twice else found.missing if at_time or reset == "latest" else 0:
                youngest = f"{datetime.fromtimestamp(found.youngest_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
                fields = {"topic": found.topic, "copy": found.copy, "time": youngest, "count": count}
                fields["how"] = self._how(found.behind)
                if twice:
                    yield Told(events.COPY_COMES_TWICE, fields)
                else:
                    yield Told(events.COPY_WOULD_LACK, {**fields, "begins": begins})

    def _how(self, behind: Offsets) -> str:
        first, *others = sorted(behind)
        more = [f"{place} at {behind[place]}" for place in others[:_MOST_PLACES]]
        more += [f"{len(others) - _MOST_PLACES} more partitions"] if len(others) > _MOST_PLACES else []
        likewise = f"; likewise {', '.join(more)}" if more else ""
        return f"{self._set_position(first, f'--to-offset {behind[first]}')}{likewise}"

    def lacking(self, partitions: Sequence[TopicPartition], deadline: Deadline) -> Lacking:
        """Return the partitions that have no position which counts."""
        exact = positions(self._settings, deadline) if is_exactly_once(self._settings) else {}
        return self._book.lacking([partition for partition in partitions if partition not in exact], deadline)

    def _inspect(
        self, lacking: Sequence[TopicPartition], starts: Mapping[TopicPartition, int], deadline: Deadline
    ) -> Iterator[EarlierCopy]:
        names, begins = self._names, defaultdict[str, list[TopicPartition]](list)
        for partition in lacking:
            if not names.brings_heartbeats(partition.topic):
                begins[partition.topic].append(partition)
        copies = {topic: names.at_target(topic) for topic in begins}
        youngest = self._youngest(set(copies.values()), deadline) if copies else {}
        times: dict[TopicPartition, int] = {}
        for topic, copy in copies.items():
            there = {place.partition: time for place, time in youngest.items() if place.topic == copy}
            if there and names.keeps_partition([topic]):
                times |= {place: there[place.partition] for place in begins[topic] if place.partition in there}
            elif there:
                times |= dict.fromkeys(begins[topic], max(there.values()))
        begun_at = {each: time for each, time in starts.items() if each in times}
        places = self._places(times, begun_at, deadline) if times else {}
        for topic in sorted(_topics(places)):
            yield copy_of(topic, copies[topic], {each: times[each] for each in places if each.topic == topic}, places)

    def _youngest(self, copies: Collection[str], deadline: Deadline) -> dict[TopicPartition, int]:
        target = self._settings.target.connection
        counts = NativeInspector(target).partitions(deadline)
        places = [TopicPartition(topic, number) for topic in copies for number in range(counts.get(topic, 0))]
        with (
            asking("reading the times of copies"),
            closing(Cluster(target.named(_CLIENT_ID), deadline.remaining())) as at,
        ):
            return newest_times(at, places, deadline.remaining()) if places else {}

    def _places(
        self, times: Mapping[TopicPartition, int], starts: Mapping[TopicPartition, int], deadline: Deadline
    ) -> dict[TopicPartition, FirstRead]:
        source = self._settings.source.connection.named(_CLIENT_ID)
        with asking("reading the times of records"), closing(Cluster(source, deadline.remaining())) as cluster:
            lows, ends = (cluster.offsets.of_led(list(times), which, patient=False) for which in (EARLIEST, LATEST))
            younger = cluster.offsets.for_times({place: time + 1 for place, time in times.items()})
            begins = cluster.offsets.for_times(starts) if starts else {}
        found: dict[TopicPartition, FirstRead] = {}
        for place in lows.keys() & ends.keys() & younger.keys():
            found[place] = begin_of(lows[place], ends[place], younger[place])
            if place in begins:
                begin = start_within(begins[place], lows[place], ends[place])
                found[place] = found[place]._replace(low=begin, end=begin)
        return found


class FirstRead(NamedTuple):
    """A partition of the source that has no position."""

    low: int
    """The first offset and the next one to be written: between them reading begins, for a start time in both."""
    end: int
    behind: int
    """The first offset behind the copy."""


def begin_of(low: int, end: int, younger: int) -> FirstRead:
    """Return where a partition begins; `younger`: its first offset that is younger than the copy, -1: none is."""
    return FirstRead(low, end, start_within(younger, low, end))


def _topics(places: Iterable[TopicPartition]) -> set[str]:
    return {place.topic for place in places}


def copy_of(
    topic: str, copy: str, times: Mapping[TopicPartition, int], begins: Mapping[TopicPartition, FirstRead]
) -> EarlierCopy:
    """Return what is to be said of a topic; `times` of the copy's youngest records, by partition of the source."""
    behind = {place: begins[place].behind for place in times}
    there = sum(max(0, begins[place].behind - begins[place].low) for place in times)
    missing = sum(max(0, begins[place].end - begins[place].behind) for place in times)
    return EarlierCopy(topic, copy, max(times.values()), behind, there, missing)
