"""The pace of requests about topics that the target lacks, as in Java's client, and the log lines about the answers."""

from __future__ import annotations

from collections.abc import Mapping

from legacy_mm.base.clock import monotonic
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.logs import events
from legacy_mm.policies.reminders import Reminders

_MOST_BACKOFF = 1.0
"""`retry.backoff.max.ms` of Java's client."""


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
            told = ", ".join(f"{topic}={problem}" for topic, problem in sorted(problems.items()))
            if self._reminders.is_due(told):
                events.emit(events.TOPICS_MISSING, client=self._client, number=self._answers, problems=told)
