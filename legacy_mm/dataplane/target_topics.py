"""What the `batches` engine waits for before it sends to a topic for the first time."""

from __future__ import annotations

import threading
from collections.abc import Callable

from legacy_mm.clock import Deadline, monotonic
from legacy_mm.copyjob import Plan
from legacy_mm.dataplane.partition_counts import GROWTH_SECONDS, missing_seconds, too_few
from legacy_mm.dataplane.patience import Patience
from legacy_mm.dataplane.send_failure import Unsendable
from legacy_mm.dataplane.unmade_topics import UnmadeTopics
from legacy_mm.wire import failures
from legacy_mm.wire.cluster import Cluster
from legacy_mm.wire.survey import missing_topics


class TargetTopics:
    """The target's topics, as the engine's own thread asks for them."""

    def __init__(
        self,
        plan: Plan,
        target: Cluster,
        patience: Patience,
        stopping: threading.Event,
        wait: Callable[[], None],
        tell: Callable[[str], None],
    ) -> None:
        """`wait`: a moment, or until there is news of the target. `tell` gets what the user should know meanwhile."""
        self._target = target
        self._stopping = stopping
        self._wait = wait
        self._tell = tell
        self._missing_seconds = missing_seconds(plan.target)
        self._unmade = UnmadeTopics(plan, lambda topics: patience.ask(lambda: missing_topics(target, topics)))

    def partitions(self, topic: str, least: int) -> int:
        """How many a topic has, created if need be; waits for it, and a moment for it to have `least`.

        What the target told before this call refuses nothing: the right may have been granted since. 0: we stop.
        Raises Unsendable; StreamFailure when there are too few.
        """
        while self._unmade.holds(topic):
            if self._stopping.is_set():
                return 0
            self._wait()
        self._target.watch([topic], create=True)
        asked = monotonic()
        missing = Deadline.after(self._missing_seconds)
        growing: Deadline | None = None
        while (count := self._target.partitions(topic)) < least:
            if self._stopping.is_set():
                return 0
            age = self._target.age()
            if count:
                growing = growing or Deadline.after(GROWTH_SECONDS)
                if growing.expired() and age is not None and age < GROWTH_SECONDS:
                    raise too_few(topic, count, least)
            elif age is not None and monotonic() - age >= asked:
                problem = self._target.problem(topic)
                code = failures.for_good(problem)
                if code or missing.expired():
                    raise Unsendable(code or failures.UNKNOWN_TOPIC)
                if hindrance := failures.hindrance(problem):
                    self._tell(f"topic {topic} is waited for: {hindrance}")
            self._target.stale()
            self._wait()
        return count
