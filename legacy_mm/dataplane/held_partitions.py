"""Source partitions that cannot be copied now: each waits alone, and costs no memory.

What was read of one is forgotten, and it is read again from there once its topic is there, once something gets through
to the target partitions that it has records for, or once the pause of a record that cannot be copied is over. All
others are copied meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import CorruptRecords, HandlerFailure
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.dataplane.target_topics import TargetTopics, WaitingTopics
from legacy_mm.dataplane.waiting_records import WaitingRecords
from legacy_mm.logs import events
from legacy_mm.runtime.channel.frames import TaskConfig

_LOOK_INTERVAL = 0.1


class _Held(NamedTuple):
    """The reason why one partition waits."""

    offset: int
    """The offset from which it resumes."""
    topic: str
    least: int
    """The least number of partitions the target topic must have."""
    queues: tuple[TopicPartition, ...] = ()
    """Target partitions; none where it is the topic that is missing, or the record that cannot be copied."""
    retry: Deadline | None = None
    """When the record at the offset is tried again; None: it is no record that holds the partition up."""


class HeldPartitions:
    """The held partitions of one copy job."""

    def __init__(self, config: TaskConfig, fetcher: Fetcher, topics: TargetTopics, appender: BatchAppender) -> None:
        self.records = WaitingRecords(appender)
        """Refused records; each holds its own partition up, and tells of that itself."""
        self.stops_for_good = True
        """False once a stop has come after which somebody copies these partitions at once."""
        self._config = config
        self._fetcher = fetcher
        self._topics = topics
        self._appender = appender
        self._held: dict[TopicPartition, _Held] = {}
        self._waiting = WaitingTopics()
        self._next_inspection = Deadline(0)

    def __len__(self) -> int:
        return len(self._held)

    def hold(
        self, source: TopicPartition, offset: int, topic: str, least: int, queues: Collection[TopicPartition] = ()
    ) -> None:
        """Let it wait at this offset for a topic, or for target partitions (`queues`) to which nothing gets through."""
        self._held[source] = _Held(offset, topic, least, tuple(queues))
        self._fetcher.hold(source, offset)

    def wait_at(self, source: TopicPartition, offset: int, error: CorruptRecords | HandlerFailure) -> None:
        """Let it wait at a record that cannot be copied, until its pause is over; raise the error where none waits."""
        if not self._config.records_may_wait:
            raise error
        topic = self._config.names.get(source.topic, source.topic)
        seconds = self.records.failed(source, offset, topic, error)
        self._held[source] = _Held(offset, topic, 1, retry=Deadline.after(seconds))
        self._fetcher.hold(source, offset)

    def stays(self, source: TopicPartition) -> bool:
        """Return True if the partition waits; the records just read of it are dropped then."""
        held = self._held.get(source)
        if held is not None:
            self._fetcher.hold(source, held.offset)
        return held is not None

    def forget(self, source: TopicPartition) -> None:
        """Forget the partition, which resumes at another position."""
        self._held.pop(source, None)
        self.records.forget(source)

    def poll(self) -> None:
        """Let those go on for which there may be a way; raise ProducerBroken where there will be none."""
        if not self._next_inspection.expired():
            return
        self._next_inspection = Deadline.after(_LOOK_INTERVAL)
        self._topics.poll(self._appender.stuck())
        for source in [source for source, held in self._held.items() if self._may_go_on(held)]:
            del self._held[source]
            self._fetcher.release(source)
        self._waiting.note(self._missing(), self._stuck())

    def reasons(self) -> Mapping[str, str]:
        """Return target topic -> the reason why it cannot be written, for topics with waiting records."""
        return {**self._stuck(), **self._missing(), **self.records.reasons()}

    def _stuck(self) -> dict[str, str]:
        waiting, stuck = self.records.places(), self._appender.stuck().items()
        return {partition.topic: f"{partition}: {why}" for partition, why in stuck if partition not in waiting}

    def _missing(self) -> dict[str, str]:
        missing = {held.topic for held in self._held.values() if not held.queues and held.retry is None}
        return {topic: self._topics.problem(topic) for topic in missing}

    def tell_of_the_end(self, unacknowledged: Offsets) -> None:
        """Report at the end of copying which partitions waited, and why; nothing where they are copied on at once."""
        if not self.stops_for_good:
            return
        reasons = self.reasons()
        counts = Counter(held.topic for source, held in self._held.items() if source not in unacknowledged)
        for topic, count in sorted(counts.items()):
            reason = reasons.get(topic, "it came back only now")
            events.emit(events.NOT_COPIED, topic=topic, partitions=count, reason=reason)

    def _may_go_on(self, held: _Held) -> bool:
        if held.retry is not None:
            return held.retry.expired()
        if held.queues:
            return all(map(self._appender.takes, held.queues))
        return self._topics.may_go_on(held.topic, held.least)
