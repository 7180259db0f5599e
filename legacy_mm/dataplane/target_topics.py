"""The state of target topics that the engine needs before it sends; it never blocks for one.

A missing topic is asked for again at the pace of Java's client, with Java's words: each answer that lacks it is a WARN
line. Its records are held meanwhile (`held_partitions.py`).

`UnmadeTopics` are those that a duty makes first, `RetryBackoff` is the pace, `WaitingTopics` tells of them, and
`StartedTarget` answers the engine's stages.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.admin.inspector import missing_topics
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.dataplane.copy_ends import CopyEnds
from legacy_mm.dataplane.keep_alive import RetryLoop
from legacy_mm.dataplane.send_failure import ProducerBroken, Unsendable, ends_waiting
from legacy_mm.logs import events
from legacy_mm.policies.growing_pauses import Reminders
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.runtime.channel.frames import TaskConfig

_MADE_TIMEOUT = 30.0
"""The time the duty, which tries again each 10 s, has for the next topic. Then copying goes on without it."""
_LOOK_INTERVAL = 0.2
_MOST_BACKOFF = 1.0
"""`retry.backoff.max.ms` of Java's client."""
GROWTH_TIMEOUT = 10.0
"""The time a target topic may take to get its missing partitions."""
_QUIET_INTERVAL = 3.0
"""Within so long brokers make a topic, and leaders move."""
_MAKE = (
    "make it, or see why the brokers do not: auto.create.topics.enable, the right to create, or a topic whose name "
    "differs only in dots and underscores"
)
_MEND = "see to the brokers of the target"


class UnmadeTopics:
    """The unmade topics of one task config; none where no duty creates topics."""

    def __init__(self, config: TaskConfig, missing: Callable[[Collection[str]], Collection[str] | None]) -> None:
        """Create the store; `missing` returns the topics that the target lacks, without creating them; None: no
        answer.
        """
        self._topics = {config.names[topic] for topic in config.keeps_partition} if config.topics_made else set()
        self._kept = {config.names[topic] for topic in config.compacted}
        self._missing = missing
        self._reported: set[str] = set()
        self._deadline: Deadline | None = None
        self._looked = Deadline(0)

    def has(self, topic: str) -> bool:
        """Return True if its duty was still waited for when the target was last asked."""
        return topic in self._topics

    def holds(self, topic: str) -> bool:
        """Return True if its duty is still waited for; asks the target, unless it was just asked."""
        if topic not in self._topics or not self._looked.expired():
            return topic in self._topics
        self._looked = Deadline.after(_LOOK_INTERVAL)
        missing = self._missing(self._topics)
        if missing is None:
            self._deadline = None
            return True
        made = self._topics.difference(missing)
        self._topics -= made
        if made or self._deadline is None:
            self._deadline = Deadline.after(_MADE_TIMEOUT)
        if topic in self._topics and self._deadline.expired():
            self._give_up(topic)
        return topic in self._topics

    def _give_up(self, topic: str) -> None:
        """Give up, with one message per topic; a topic that must not be created in another way is still waited for."""
        if topic not in self._kept:
            events.emit(events.TOPIC_UNMADE, topic=topic)
            self._topics.remove(topic)
        elif topic not in self._reported:
            self._reported.add(topic)
            events.emit(events.COMPACTED_UNMADE, topic=topic)


class RetryBackoff:
    """When to ask again: soon, then less and less often, at last each second."""

    def __init__(self, target: ConnectionSettings) -> None:
        """Create the pace."""
        self._first = target.retry_backoff
        self._most = max(self._first, _MOST_BACKOFF)
        self._client = target.client_id or "client"
        self._pause = self._first
        self._due = 0.0
        self._answers = 0
        self._reminders = Reminders()

    def is_due(self, *, waiting: bool) -> bool:
        """Return True if it is time to ask again; `waiting`: there is something to ask for."""
        if not waiting:
            self._pause, self._due = self._first, 0.0
            self._reminders.over()
            return False
        now = monotonic()
        if now < self._due:
            return False
        self._due = now + self._pause
        self._pause = min(2 * self._pause, self._most)
        return True

    def tell(self, problems: Mapping[str, str]) -> None:
        """Report the target's answer about these topics; one that lasts at growing pauses."""
        if problems:
            self._answers += 1
            listed = ", ".join(f"{topic}={problem}" for topic, problem in sorted(problems.items()))
            if self._reminders.is_due(listed):
                events.emit(events.TOPICS_MISSING, client=self._client, number=self._answers, problems=listed)


@dataclass(slots=True)
class _Wait:
    """A topic that is waited for."""

    asked: float
    missing: Deadline
    growing: Deadline | None = None
    named: bool = False
    """A handler names a partition that is missing."""


class TargetTopics:
    """The target's topics, as the engine's own thread asks for them."""

    def __init__(
        self,
        config: TaskConfig,
        target: Cluster,
        retries: RetryLoop,
        stopping: threading.Event,
        wait: Callable[[], None],
    ) -> None:
        """Create the topics; `wait` waits a moment, or until the target has news."""
        self._names = config.names
        self._records_may_wait = config.records_may_wait
        self._metadata = target.metadata
        self._stopping = stopping
        self._wait = wait
        self._pace = RetryBackoff(config.target.connection)
        self._missing_seconds = config.target.produce.missing_topic_timeout
        self._unmade = UnmadeTopics(config, lambda topics: retries.ask(lambda: missing_topics(target, topics)))
        self._waits: dict[str, _Wait] = {}

    def partitions(self, topic: str, least: int, *, named: bool = False) -> int:
        """Return a topic's partition count, created if needed; 0: it has fewer than `least` and must be waited for.

        Answers of before the first call refuse nothing: the right may have been granted since. Raise Unsendable;
        StreamFailure when there are too few. `named`: a handler names the last of these partitions, so that only its
        records are unsendable where it stays away.
        """
        if self._unmade.holds(topic):
            return 0
        if topic not in self._waits:
            self._ask(topic)
        self._waits[topic].named = named
        count = self._metadata.partitions(topic)
        if count < least:
            self._raise_if_over(topic, count, least)
            return 0
        self._waits.pop(topic, None)
        return count

    def may_go_on(self, topic: str, least: int) -> bool:
        """Return True if a topic exists now, or the wait has ended: `partitions` has an answer."""
        if self._unmade.holds(topic):
            return False
        if topic not in self._waits:
            return True
        count = self._metadata.partitions(topic)
        return count >= least or self._verdict(topic, count, least) is not None

    def problem(self, topic: str) -> str:
        """Return the reason to wait for a topic: Java's name of the error, or that a duty must create it."""
        if topic not in self._waits and self._unmade.has(topic):
            return "topic.creation has not made it yet"
        problem = self._metadata.problem(topic)
        return error_codes.name(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if problem is None else problem)

    def poll(self, stuck: Collection[TopicPartition]) -> None:
        """Ask again for what is waited for, when it is time, and tell of it; also of the topics that are `stuck`.

        Raise ProducerBroken for a stuck partition that is gone, since its topic came back with fewer: what waits for it
        was placed by the old number, and a new copy job places it by the new one.
        """
        topics = {partition.topic for partition in stuck}
        waited = sorted({topic for topic in (*self._waits, *topics) if not self._metadata.partitions(topic)})
        if self._pace.is_due(waiting=bool(self._waits or topics)):
            self._pace.tell({topic: self.problem(topic) for topic in waited})
            self._metadata.stale()
        for topic, number in stuck:
            if 0 < (count := self._metadata.partitions(topic)) <= number:
                raise ProducerBroken(
                    f"{topic}-{number} is gone from the target: the topic was recreated there with {count} partitions"
                )

    def _ask(self, topic: str) -> None:
        """Ask about a topic; older knowledge from before the first question, or from long ago, is discarded."""
        self._metadata.watch([topic], create=True)
        self._waits[topic] = wait = _Wait(monotonic(), Deadline.after(self._missing_seconds))
        while not self._answered(wait) and not self._metadata.partitions(topic) and not self._stopping.is_set():
            self._metadata.stale()
            self._wait()

    def _ends_waiting(self, problem: int, topic: str) -> bool:
        return not self._records_may_wait and ends_waiting(error_codes.name(problem), topic, self._names)

    def _answered(self, wait: _Wait) -> bool:
        age = self._metadata.age()
        return age is not None and monotonic() - age >= wait.asked

    def _raise_if_over(self, topic: str, count: int, least: int) -> None:
        verdict = self._verdict(topic, count, least)
        if verdict is not None:
            del self._waits[topic]
            raise verdict

    def _verdict(self, topic: str, count: int, least: int) -> Unsendable | StreamFailure | None:
        """Return the reason that ends the wait."""
        wait = self._waits[topic]
        if count and wait.named:
            return Unsendable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) if wait.missing.expired() else None
        if count:
            age = self._metadata.age()
            wait.growing = wait.growing or Deadline.after(GROWTH_TIMEOUT)
            fresh = age is not None and age < GROWTH_TIMEOUT
            return _too_few(topic, count, least) if wait.growing.expired() and fresh else None
        if not self._answered(wait):
            return None
        problem = self._metadata.problem(topic)
        if problem is not None and self._ends_waiting(problem, topic):
            return Unsendable(problem)
        return Unsendable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) if wait.missing.expired() else None


def _too_few(topic: str, count: int, wanted: int) -> StreamFailure:
    """Return the failure that ends the mirror before a record is sent to a wrong partition."""
    return StreamFailure(
        f"preserve.partitions: {topic} has {count} partitions at the target and {wanted} at the source; "
        f"give it {wanted}, or leave preserve.partitions off"
    )


class WaitingTopics:
    """The waiting topics of one copy job."""

    def __init__(self) -> None:
        self._deadlines: dict[str, Deadline] = {}
        self._reported: set[str] = set()

    def note(self, missing: Mapping[str, str], stuck: Mapping[str, str]) -> None:
        """Note the topics that are missing, and those with a stuck partition, each with the reason.

        A reason that many share at the same time, as when a whole cluster is away, is one line.
        """
        for reasons, advice in ((missing, _MAKE), (stuck, _MEND)):
            if new := [topic for topic in reasons if self._is_to_be_told(topic)]:
                self._reported.update(new)
                events.emit(events.TOPIC_WAITS, topic=_list_names(new), reason=reasons[min(new)], advice=advice)
        over = self._deadlines.keys() - missing.keys() - stuck.keys()
        if back := [topic for topic in over if topic in self._reported]:
            self._reported.difference_update(back)
            events.emit(events.TOPIC_GOES_ON, topic=_list_names(back))
        for topic in over:
            del self._deadlines[topic]

    def _is_to_be_told(self, topic: str) -> bool:
        deadline = self._deadlines.setdefault(topic, Deadline.after(_QUIET_INTERVAL))
        return topic not in self._reported and deadline.expired()


def _list_names(topics: Collection[str]) -> str:
    return min(topics) if len(topics) == 1 else f"{min(topics)} and {len(topics) - 1} more"


class StartedTarget:
    """The partitions of target topics, as stages ask for them: the first question starts the appender."""

    def __init__(self, topics: TargetTopics, ends: CopyEnds, retries: RetryLoop, stopping: threading.Event) -> None:
        """Take what knows the topics, and the clients; the target must answer before a batch is placed."""
        self._topics = topics
        self._ends = ends
        self._retries = retries
        self._stopping = stopping
        self.is_started = False

    def partitions(self, topic: str, least: int, *, named: bool = False) -> int:
        """Return the number of partitions as `TargetTopics.partitions` does, of a target that has answered."""
        if self.is_started and (count := self._ends.target.metadata.partitions(topic)) >= least:
            return count
        if not self.is_started:
            self._retries.ask(self._ends.appender.start)
            self.is_started = not self._stopping.is_set()
        return self._topics.partitions(topic, least, named=named)
