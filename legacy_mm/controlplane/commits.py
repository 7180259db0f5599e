"""Decides when and which offsets are committed, and what each failure means; one object per stream, on its thread only.

Invariant B: within one assignment the offsets given to `note` never go back. A commit is asynchronous: its outcome
comes later through `settled`, so no commit can hold up the group membership.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from legacy_mm.base.clock import epoch_ms, monotonic
from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import Offsets, TopicPartition, describe_offsets
from legacy_mm.clients.group.member import CommitProblem
from legacy_mm.logs import events

_RETRY_BACKOFF = 0.1
_REJOIN_BACKOFF = 3.0
"""Time that offsets wait for the next assignment before they are tried anyway: its news may have come first."""


class Commits:
    """Safe offsets of the current assignment on their way to the group coordinator."""

    def __init__(
        self,
        stream: int,
        interval: float,
        api_timeout: float,
        send: Callable[[Offsets], None],
        existing_topics: Callable[[], frozenset[str] | None],
        on_restart: Callable[[Collection[TopicPartition]], None] | None = None,
    ) -> None:
        """Take the interval in seconds and the services; `on_restart` gets partitions that continue elsewhere."""
        self._stream = stream
        self._interval = interval
        self._api_timeout = api_timeout
        self._send = send
        self._existing_topics = existing_topics
        self._on_restart = on_restart
        self._safe: dict[TopicPartition, int] = {}
        self._durable: dict[TopicPartition, int] = {}
        self._sent: dict[TopicPartition, int] = {}
        self._last = monotonic()
        self._retry_at: float | None = None
        self._failing_since: float | None = None
        self._retries = 0
        self._last_success_ms = -1

    def note(self, offsets: Offsets) -> None:
        """Take over offsets that have become safe."""
        for partition, offset in offsets.items():
            before = self._safe.get(partition, -1)
            assert offset >= before, f"invariant B: {partition} went back from {before} to {offset}"
            self._safe[partition] = offset

    def restart(self, offsets: Offsets) -> None:
        """Forget old offsets of partitions that continue elsewhere after a gap: they are no lower bound any more."""
        for partition in offsets:
            self._safe.pop(partition, None)
            self._durable.pop(partition, None)
        if offsets and self._on_restart is not None:
            self._on_restart(offsets.keys())

    def pending(self) -> dict[TopicPartition, int]:
        """Return the safe offsets that are not known to be durable at the coordinator."""
        return {p: offset for p, offset in self._safe.items() if self._durable.get(p, -1) != offset}

    def chosen(self, offsets: Offsets) -> None:
        """Commit at the next tick the offsets that a policy has chosen.

        Otherwise a restart would choose again and lose what came meanwhile. After a truncation the log may hold the old
        offset again.
        """
        self.note(offsets)
        self._last = float("-inf")

    def tick(self) -> None:
        """Commit when the interval is over or a retry is due; must be called often."""
        now = monotonic()
        if self._retry_at is not None:
            if now >= self._retry_at:
                self.commit()
        elif now - self._last > self._interval and not self._sent:
            self.commit()

    def commit(self) -> None:
        """Send the pending offsets, without waiting."""
        self._last, self._retry_at = monotonic(), None
        offsets = {p: offset for p, offset in self.pending().items() if self._sent.get(p) != offset}
        if offsets:
            self._sent |= offsets
            events.emit(events.COMMITTING, stream=self._stream, offsets=describe_offsets(offsets))
            self._send(offsets)

    def waiting(self) -> bool:
        """Return True while an outcome is outstanding or a retry is due."""
        return bool(self._sent) or self._retry_at is not None

    def settled(
        self, done: Offsets, failed: Mapping[TopicPartition, tuple[CommitProblem, str]]
    ) -> CommitProblem | None:
        """Process the outcome of a commit; the caller must act on LOST.

        Raises StreamFailure if no later try can succeed.
        """
        for partition in failed:
            self._sent.pop(partition, None)
        for partition, offset in done.items():
            if self._sent.get(partition) == offset:  # otherwise a newer commit is under way
                del self._sent[partition]
        self._durable |= {partition: offset for partition, offset in done.items() if partition in self._safe}
        if done:
            self._last_success_ms = epoch_ms()
            events.emit(events.COMMITTED, stream=self._stream, offsets=describe_offsets(done))
        failed = {partition: problem for partition, problem in failed.items() if partition in self._safe}
        if not failed:
            self._failing_since, self._retries = None, 0
            return None
        return self._on_failure(failed)

    def assigned(self) -> None:
        """Retry at once in the new generation what was kept for it."""
        if self._retry_at is not None:
            self._retry_at = monotonic()

    def forget(self, partitions: frozenset[TopicPartition]) -> None:
        """Forget partitions that this stream has lost. The coordinator decides about commits still under way."""
        for partition in partitions:
            for offsets in (self._safe, self._durable, self._sent):
                offsets.pop(partition, None)

    def position(self, partition: TopicPartition) -> int | None:
        """Return the safe offset, at which a new copy job of this assignment starts."""
        return self._safe.get(partition)

    def _on_failure(self, failed: Mapping[TopicPartition, tuple[CommitProblem, str]]) -> CommitProblem:
        now = monotonic()
        problem, reason = next(iter(failed.values()))
        if problem is CommitProblem.FATAL:
            raise StreamFailure(f"offsets cannot be committed: {reason}")
        if problem is CommitProblem.LOST:
            self._say_failure(problem, reason)
            return problem
        if self._failing_since is None:
            self._failing_since = now
            self._say_failure(problem, reason)
        elif now - self._failing_since > self._api_timeout:
            self._failing_since = now
            self._forget_vanished_topics()
            self._say_failure(problem, reason)
        self._retry_at = now + (_REJOIN_BACKOFF if problem is CommitProblem.REJOINING else _RETRY_BACKOFF)
        return problem

    def _say_failure(self, problem: CommitProblem, reason: str) -> None:
        if problem is not CommitProblem.RETRY:
            events.emit(events.COMMIT_REBALANCED, stream=self._stream, reason=reason)
            return
        self._retries += 1
        events.emit(
            events.COMMIT_RETRY,
            stream=self._stream,
            reason=reason,
            retries=self._retries,
            last_commit=self._last_success_ms,
        )

    def _forget_vanished_topics(self) -> None:
        """Forget offsets of topics that no longer exist, as the legacy tool does: they would be refused for ever."""
        existing = self._existing_topics()
        if existing is None:
            events.emit(events.TOPICS_UNKNOWN)
            return
        vanished = frozenset(partition for partition in self._safe if partition.topic not in existing)
        if vanished:
            topics = ", ".join(sorted({partition.topic for partition in vanished}))
            events.emit(events.TOPICS_VANISHED, topics=topics)
            self.forget(vanished)
