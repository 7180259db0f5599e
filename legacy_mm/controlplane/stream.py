"""One stream: a group membership and the copy job for what it owns.

Read `run` first, then the numbered sequences.

Thread rule: every call on the membership's client happens on this thread; it never calls Spark's JVM and never waits
for a thread that calls this client. Other threads send it `orders` and read frozen snapshots.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import commits
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.clients.group.member import CommitProblem, Failed
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.stream_copy import KILL_TIMEOUT, StreamCopy
from legacy_mm.controlplane.stream_membership import StreamMembership
from legacy_mm.logs import events

_POLL_INTERVAL, _QUIET_POLL_INTERVAL = 0.1, 0.5
_QUIET_AFTER = 10.0
"""Nothing wakes a thread out of librdkafka's poll, and a stop waits for it, so a poll is longer only without news."""
_EXIT_OF_LOST_TIMEOUT = 1.0
OnFailure = Callable[[int, BaseException, Callable[[], None] | None], None]
"""(stream, error, leave): the mirror hears of the failure when `leave`, which ends the stream, has returned."""


class _Stop(NamedTuple):
    """The order to stop."""

    deadline: Deadline
    commits: bool


class Stream(threading.Thread):
    """One membership, its thread and its copy job."""

    def __init__(
        self,
        membership: StreamMembership,
        commits: Commits,
        copy: StreamCopy,
        *,
        revoke_seconds: float,
        on_failure: OnFailure,
    ) -> None:
        """Take the parts; `revoke_seconds` is the time in which partitions are given up."""
        super().__init__(name=f"stream-{membership.stream}", daemon=True)
        self.index = membership.stream
        self._membership = membership
        self._commits = commits
        self._copy = copy
        self._revoke_seconds = revoke_seconds
        self._on_failure = on_failure
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._news_at = monotonic()
        self._stopping: _Stop | None = None
        self._unanswered: Offsets = {}
        """Offsets whose last commit had no answer when the stream left the group."""

    # --- orders from other threads

    def subscribe(self, topics: frozenset[str]) -> None:
        """Mirror these topics from the next rebalance on."""
        self._orders.put(lambda: self._membership.subscribe(topics))

    def stop(self, deadline: Deadline, *, commit: bool) -> None:
        """Run the shutdown sequence; `commit` is False after a failure."""

        def order() -> None:
            self._stopping = _Stop(deadline, commit)

        self._orders.put(order)

    def pause(self) -> None:
        """Copy nothing until `resume`, with all that was copied committed; the stream stays in its group."""

        def order() -> None:
            self._copy.pause(Deadline.after(self._revoke_seconds))
            self._commits.commit()

        self._orders.put(order)

    def resume(self) -> None:
        """Copy again after `pause`."""
        self._orders.put(self._copy.resume)

    def restart(self) -> None:
        """Begin to copy again from the safe offsets; the stream stays in its group."""
        self._orders.put(lambda: self._copy.restart(Deadline.after(self._revoke_seconds)))

    def uncommitted(self) -> Offsets:
        """Return offsets reached but not durable at the coordinator, for the report of a failed stop."""
        return {**self._commits.pending(), **self._unanswered, **self._copy.unacknowledged}

    # --- the thread

    def run(self) -> None:
        """Join, copy, commit; on the stop order, run the shutdown sequence."""
        try:
            self._membership.join(self)
            events.emit(events.STREAM_STARTED, stream=self.index)
            while self._stopping is None:
                self._take_orders()
                is_quiet = monotonic() - max(self._news_at, self._copy.safe_at) > _QUIET_AFTER
                self._membership.member.poll(_QUIET_POLL_INTERVAL if is_quiet else _POLL_INTERVAL)
                self._poll_copy()
                self._commits.tick()
            self._shut_down(self._stopping)
            events.emit(events.STREAM_STOPPED, stream=self.index)
        except BaseException as error:  # noqa: BLE001 - a stream that dies takes the mirror with it, as in the legacy tool
            if commits(error):
                self._on_failure(self.index, error, lambda: self._leave_behind(commit=True))
                return
            self._copy.kill()
            self._on_failure(self.index, error, None)
            self._leave_behind(commit=False)

    def _poll_copy(self) -> None:
        """Keep the copying going; after a trouble wait until the killed job is over before a new one (invariant D).

        The membership continues meanwhile.
        """
        trouble = self._copy.poll(self._revoke_seconds)
        if trouble is None:
            return
        self._copy.recover(trouble)
        while not self._copy.wait_over(Deadline.after(_POLL_INTERVAL)):
            self._membership.member.poll(0)
            if self._copy.is_idle() or self._stopping is not None:
                return
            self._take_orders()
        self._copy.finish()

    def _leave_behind(self, *, commit: bool) -> None:
        """End the stream after a failure: by a clean stop, or wait for the killed task and commit nothing."""
        self._stopping = stop = _Stop(Deadline.after(self._revoke_seconds if commit else KILL_TIMEOUT), commit)
        with suppress(Exception):  # the cause of the mirror's end is told
            try:
                if commit:
                    self._shut_down(stop)
                else:
                    self._copy.wait_over(stop.deadline)
            finally:
                self._membership.leave()

    def _shut_down(self, stop: _Stop) -> None:
        """Shut down in four steps.

        (1) Stop the task while the membership continues to poll; (2) commit and poll until the outcome or the deadline;
        (3) call the listener; (4) close with no work left. Without an outcome it stays a member until its session is
        over; with exactly once it leaves, because whoever claims a bundle ends its transaction and fences its task.
        """
        member, deadline = self._membership.member, stop.deadline
        # (1)
        events.emit(events.FLUSHING, stream=self.index)
        self._copy.stop(deadline)
        while not self._copy.is_idle() and not deadline.expired():
            member.poll(_POLL_INTERVAL / 5)
            if self._copy.wait_over(deadline.sooner_of(_POLL_INTERVAL / 2)):
                self._copy.finish()
        self._copy.kill()
        self._copy.finish()
        # (2)
        events.emit(events.COMMITTING_LAST, stream=self.index)
        if not stop.commits:
            events.emit(events.COMMIT_SKIPPED)
        else:
            self._commits.commit()
            while self._commits.waiting() and not deadline.expired():
                member.poll(_POLL_INTERVAL / 5)
                self._commits.tick()
            if self._commits.waiting():
                if not self._copy.guarantee.leaves_unanswered:
                    return
                self._unanswered = self._commits.pending()
        # (4), and inside it (3): the member revokes what it has when it is closed
        events.emit(events.LEAVING, stream=self.index)
        self._commits.forget(self._membership.owned)
        self._membership.leave()

    def _take_orders(self) -> None:
        while not self._orders.empty():
            self._news_at = monotonic()
            self._orders.get()()

    # --- rebalances; called by the membership inside poll() and close()

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Note new partitions: step (1) of an assignment.

        `StreamCopy` proposes offsets and starts the job once poll() has returned.
        """
        self._news_at = monotonic()
        self._commits.assigned()
        self._copy.assigned()
        self._membership.assigned(partitions)

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Give up partitions in five steps.

        (1) Send Stop to the task; (2) it flushes, reports and ends; (3) commit, asynchronously, as the last act; (4)
        call the listener; (5) return.
        """
        deadline = Deadline.after(self._revoke_seconds)
        if self._stopping is not None:
            deadline = min(deadline, self._stopping.deadline, key=lambda each: each.at)
        # (1), (2)
        self._copy.end(deadline)
        # (3)
        if self._stopping is None or self._stopping.commits:
            self._commits.commit()
        self._release(partitions)
        # (4)
        self._membership.revoked(partitions)

    def lost(self, partitions: frozenset[TopicPartition]) -> None:
        """Stop the task of lost partitions; commit nothing, call no listener. An empty set means all partitions."""
        gone = self._membership.lost(partitions)
        if not gone:
            return
        self._copy.end(Deadline.after(min(self._revoke_seconds, _EXIT_OF_LOST_TIMEOUT)))
        self._release(gone)
        self._copy.lost(gone)

    def committed(self, offsets: Offsets, failed: Failed) -> None:
        """Process the outcome of a commit, from poll()."""
        self._membership.commit_settled()
        self._copy.committed(offsets, failed)
        if self._commits.settled(offsets, failed) is CommitProblem.LOST:
            self.lost(frozenset())

    def _release(self, partitions: frozenset[TopicPartition]) -> None:
        self._news_at = monotonic()
        self._membership.released(partitions)
        self._commits.forget(partitions)
        self._copy.released(partitions)
