"""Lets through what the target can have, for the `records` engine: librdkafka would queue the rest until it is full.

Before the first record of a topic is sent the target is asked for it. The partitions of a topic that is not there wait
at the source, and are read again from there once it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from legacy_mm.clock import Deadline
from legacy_mm.control_channel.frames import TaskConfig
from legacy_mm.dataplane.retry_backoff import RetryBackoff, is_error_name
from legacy_mm.dataplane.send_failure import ends_waiting
from legacy_mm.dataplane.unmade_topics import UnmadeTopics
from legacy_mm.dataplane.waiting_topics import WaitingTopics
from legacy_mm.logs import events
from legacy_mm.model import Columns, Offsets, TopicPartition

_UNMADE = "topic.creation has not made it yet"


class GatedReader(Protocol):
    """The operations the gate needs of the source's reader."""

    def hold(self, offsets: Offsets, positions: Offsets) -> None:
        """Read no more of these until `resume`; `positions` are those of the others."""

    def resume(self, offsets: Offsets, positions: Offsets) -> None:
        """Resume these partitions from these positions."""


class TargetGate:
    """The target topics of one task config."""

    def __init__(
        self, config: TaskConfig, reader: GatedReader, problem: Callable[[str], str | None], unmade: UnmadeTopics
    ) -> None:
        """Create the gate; `problem` returns why a topic, which the request may create, cannot be written, as
        `RecordSender.topic_problem` does.
        """
        self._names = {} if config.handler else config.names  # a handler's records have the names of the target
        self._reader = reader
        self._problem = problem
        self._unmade = unmade
        self._pace = RetryBackoff(config.target.connection)
        self._missing_seconds = config.target.produce.missing_topic_timeout
        self._missing: dict[str, Deadline] = {}
        self._open: set[str] = set()
        self._shut: set[str] = set()
        self._held: dict[TopicPartition, int] = {}
        self._waiting = WaitingTopics()
        self.reasons: dict[str, str] = {}
        """Target topic -> why it cannot be written."""

    def passed(self, batch: Columns, positions: Offsets) -> Columns:
        """Return the records that may be sent; `positions` are the source positions before them."""
        if self._open.issuperset(batch.topics):
            return batch
        firsts = {partition: found.offsets[0] for partition, found in batch.by_partition()}
        held = {place: offset for place, offset in firsts.items() if not self._is_open(place.topic)}
        return self.hold(held, batch, positions) if held else batch

    def hold(self, offsets: Offsets, batch: Columns, positions: Offsets, *, reading: bool = True) -> Columns:
        """Let these partitions wait at these offsets; what is left of the batch. `positions` are as for `passed`."""
        self._held |= offsets
        if reading:
            self._reader.hold(offsets, {**positions, **batch.next_offsets(), **self._held})
        return Columns.joined([found for place, found in batch.by_partition() if place not in offsets])

    def shut(self, sources: Collection[str]) -> list[str]:
        """Ask anew for the targets of these topics; those that cannot be written, which wait from now on."""
        self._open.difference_update(sources)
        return [topic for topic in sources if not self._is_open(topic)]

    def forget(self, partition: TopicPartition) -> None:
        """Forget the partition, which resumes at another position."""
        self._held.pop(partition, None)

    def expect(self, topics: Iterable[str]) -> None:
        """Expect records for these target topics in any case, as a handler wants it: only report missing topics."""
        for topic in topics:
            self._is_open(topic)

    def tell(self) -> None:
        """Ask again for what is waited for, when it is time, and say what came of it."""
        if not self._pace.is_due(waiting=bool(self._shut)):
            return
        for topic in sorted(self._shut):
            self._is_open(topic)
        missing = {topic: why for topic, why in self.reasons.items() if is_error_name(why)}
        self._pace.tell(missing)
        self._waiting.note(missing, {topic: why for topic, why in self.reasons.items() if topic not in missing})

    def tend(self, positions: Callable[[], Offsets]) -> None:
        """Call `tell`, and resume the partitions that can; only with no records in hand."""
        self.tell()
        free = {partition: offset for partition, offset in self._held.items() if partition.topic in self._open}
        for partition in free:
            del self._held[partition]
        if free:
            self._reader.resume(free, {**positions(), **self._held})

    def tell_of_the_end(self) -> None:
        """Report at the end of copying which partitions waited, and why."""
        counts = Counter(self._names.get(partition.topic, partition.topic) for partition in self._held)
        for topic, count in sorted(counts.items()):
            reason = self.reasons.get(topic, "it came back only now")
            events.emit(events.NOT_COPIED, topic=topic, partitions=count, reason=reason)

    def _is_open(self, source: str) -> bool:
        """Return True if records of this topic may be sent; without an answer, librdkafka waits for the target."""
        if source in self._open:
            return True
        topic = self._names.get(source, source)
        problem = _UNMADE if self._unmade.holds(topic) else self._problem(topic)
        if problem and ends_waiting(problem, topic, self._names):
            problem = ""  # the sender reports it
        if problem and problem != _UNMADE:
            missing = self._missing.setdefault(topic, Deadline.after(self._missing_seconds))
            problem = "" if missing.expired() else problem
        if problem:
            self.reasons[topic] = problem
            self._shut.add(source)
            return False
        self._shut.discard(source)
        self.reasons.pop(topic, None)
        self._missing.pop(topic, None)
        if problem is not None:
            self._open.add(source)
        return True
