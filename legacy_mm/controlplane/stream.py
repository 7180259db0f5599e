"""One stream: a group membership and the copy job for what it owns.

Read `run` first, then the numbered sequences.

Thread rule: every call on the membership's client happens on this thread; it never calls Spark's JVM and never waits
for a thread that calls this client. Other threads send it `orders` and read frozen snapshots.
"""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import (
    CorruptRecords,
    EndlessCopy,
    FailureKind,
    SendFailure,
    StreamFailure,
    Undecided,
    commits,
)
from legacy_mm.base.model import EARLIEST, LATEST, Offsets, TopicPartition, describe_offsets, describe_partitions
from legacy_mm.base.reports import Gap, Started
from legacy_mm.clients.group.member import AssignmentListener, CommitProblem, Member, MembershipListener
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.copy_job import CopyJob, CopyTrouble, StartCopy
from legacy_mm.controlplane.delivery_guarantee import DeliveryGuarantee
from legacy_mm.controlplane.positions import GapGuard, PositionStore
from legacy_mm.controlplane.receipts import StreamReceipts
from legacy_mm.logs import events
from legacy_mm.metrics.registry import StreamMetrics
from legacy_mm.policies.growing_pauses import Reminders

_POLL_INTERVAL, _QUIET_POLL_INTERVAL = 0.1, 0.5
_QUIET_AFTER = 10.0
"""Nothing wakes a thread out of librdkafka's poll, and a stop waits for it, so a poll is longer only without news."""
_RESTART_BACKOFFS = (0.0, 2.0, 4.0)
"""Pauses before each new try: the cause of quick failures, such as a full /tmp, may be over then."""
_RESTARTS_INTERVAL = 300.0
_RETRY_BACKOFF = 1.0
_EXIT_OF_LOST_TIMEOUT = 1.0
_KILL_TIMEOUT = 30.0
_FATAL: Mapping[FailureKind, type[StreamFailure]] = {
    each.failure_kind: each for each in (CorruptRecords, EndlessCopy, SendFailure, Undecided)
}


class OnFailure(Protocol):
    """Tells of a failure; the rest of the mirror hears of it when `leave` has returned, which ends the stream."""

    def __call__(self, stream: int, error: BaseException, leave: Callable[[], None] | None = None, /) -> None: ...


class Stream(threading.Thread):
    """One membership, its thread and its copy job."""

    def __init__(
        self,
        index: int,
        *,
        pattern: str,
        member: Callable[[MembershipListener], Member],
        commits: Callable[[Callable[[Offsets], None]], Commits],
        positions: PositionStore,
        guard: GapGuard,
        receipts: StreamReceipts | None,
        commit_starts: bool,
        start_copy: StartCopy,
        adapt: Callable[[CopyTrouble], bool],
        revoke_seconds: float,
        metrics: StreamMetrics,
        on_failure: OnFailure,
        listener: AssignmentListener | None = None,
        guarantee: DeliveryGuarantee | None = None,
    ) -> None:
        super().__init__(name=f"stream-{index}", daemon=True)
        self.index = index
        self._pattern = pattern
        self._subscribed = False
        self._make_member = member
        self._commits = commits(self._send_commit)
        self._positions = positions
        self._guard = guard
        self._receipts = receipts
        self._commit_starts = commit_starts
        self._start_copy = start_copy
        self._adapt = adapt
        self._revoke_seconds = revoke_seconds
        self._metrics = metrics
        self._on_failure = on_failure
        self._listener = listener
        self._guarantee = guarantee or DeliveryGuarantee()
        self._untold: list[frozenset[TopicPartition]] = []
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._member: Member | None = None
        self._owned: frozenset[TopicPartition] = frozenset()
        self._generation = 0
        self._job: CopyJob | None = None
        self._starts: dict[TopicPartition, int] = {}
        self._reset: frozenset[TopicPartition] = frozenset()
        self._unacknowledged: dict[TopicPartition, int] = {}
        self._retry_at = 0.0
        self._reminders = Reminders()
        self._news_at = monotonic()
        self._restarts: deque[float] = deque(maxlen=len(_RESTART_BACKOFFS))
        self._stop_deadline: Deadline | None = None
        self._commit_at_stop = True

    # --- orders from other threads

    def subscribe(self, topics: frozenset[str]) -> None:
        """Mirror these topics from the next rebalance on."""

        def order() -> None:
            member = self._require_member()
            if not self._subscribed:
                self._subscribed = True
                events.emit(events.SUBSCRIBED, client=member.name, pattern=self._pattern)
            member.subscribe(topics)
            if not topics:
                self._metrics.left_group()

        self._orders.put(order)

    def stop(self, deadline: Deadline, *, commit: bool) -> None:
        """Run the shutdown sequence; `commit` is False after a failure."""

        def order() -> None:
            self._stop_deadline, self._commit_at_stop = deadline, commit

        self._orders.put(order)

    def uncommitted(self) -> Offsets:
        """Return offsets reached but not durable at the coordinator, for the report of a failed stop."""
        return self._commits.pending() | self._unacknowledged

    # --- the thread

    def run(self) -> None:
        """Join, copy, commit; on the stop order, run the shutdown sequence."""
        try:
            self._member = self._make_member(self)
            events.emit(events.STREAM_STARTED, stream=self.index)
            while self._stop_deadline is None:
                self._take_orders()
                is_quiet = monotonic() - self._news_at > _QUIET_AFTER
                self._member.poll(_QUIET_POLL_INTERVAL if is_quiet else _POLL_INTERVAL)
                self._tend_copy()
                self._commits.tick()
            self._shut_down(self._stop_deadline)
            events.emit(events.STREAM_STOPPED, stream=self.index)
        except BaseException as error:  # noqa: BLE001 - a stream that dies takes the mirror with it, as in the legacy tool
            if commits(error):
                self._on_failure(self.index, error, lambda: self._leave_behind(commit=True))
                return
            if self._job is not None:
                self._job.kill()
            self._on_failure(self.index, error)
            self._leave_behind(commit=False)

    def _leave_behind(self, *, commit: bool) -> None:
        """End the stream after a failure: by a clean stop, or wait for the killed task and commit nothing."""
        self._stop_deadline = Deadline.after(self._revoke_seconds if commit else _KILL_TIMEOUT)
        self._commit_at_stop = commit
        with suppress(Exception):  # the cause of the mirror's end is told
            try:
                if commit:
                    self._shut_down(self._stop_deadline)
                elif self._job is not None:
                    self._job.wait_over(self._stop_deadline)
            finally:
                if self._member is not None:
                    self._member.close()

    def _shut_down(self, deadline: Deadline) -> None:
        """Shut down in four steps.

        (1) Stop the task while the membership continues to poll; (2) commit and poll until the outcome or the deadline;
        (3) call the listener; (4) close with no work left. Without an outcome it stays a member until its session is
        over; with exactly once it leaves, because whoever claims a bundle ends its transaction and fences its task.
        """
        member = self._require_member()
        # (1)
        events.emit(events.FLUSHING, stream=self.index)
        if self._job is not None:
            self._job.stop(deadline, for_good=True)
        while self._job is not None and not deadline.expired():
            member.poll(_POLL_INTERVAL / 5)
            if self._job is not None and self._job.wait_over(deadline.sooner_of(_POLL_INTERVAL / 2)):
                self._finish_job()
        if self._job is not None:
            self._job.kill()
            self._finish_job()
        # (2)
        events.emit(events.COMMITTING_LAST, stream=self.index)
        if not self._commit_at_stop:
            events.emit(events.COMMIT_SKIPPED)
        else:
            self._commits.commit()
            while self._commits.waiting() and not deadline.expired():
                member.poll(_POLL_INTERVAL / 5)
                self._commits.tick()
            if self._commits.waiting():
                if not self._guarantee.leaves_unanswered:
                    return
                self._unacknowledged = self._commits.pending() | self._unacknowledged
        # (4)
        events.emit(events.LEAVING, stream=self.index)
        self._commits.forget(self._owned)
        member.close()
        self._member = None

    def _take_orders(self) -> None:
        while not self._orders.empty():
            self._news_at = monotonic()
            self._orders.get()()

    # --- rebalances; called by the membership inside poll() and close()

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Note new partitions: step (1) of an assignment.

        `_tend_copy` proposes offsets and starts the job once poll() has returned.
        """
        self._generation += 1
        self._news_at = monotonic()
        self._owned |= partitions
        self._metrics.assigned(self._owned)
        self._commits.assigned()
        self._retry_at = 0.0
        if self._listener is not None:
            self._untold.append(partitions)
        if partitions:
            self._say(events.ASSIGNED, partitions)

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Give up partitions in five steps.

        (1) Send Stop to the task; (2) it flushes, reports and ends; (3) commit, asynchronously, as the last act; (4)
        call the listener; (5) return.
        """
        deadline = Deadline.after(self._revoke_seconds)
        if self._stop_deadline is not None:
            deadline = min(deadline, self._stop_deadline, key=lambda each: each.at)
        self._end_job(deadline)
        if self._stop_deadline is None or self._commit_at_stop:
            self._commits.commit()
        self._release(partitions)
        if partitions:
            self._say(events.REVOKED, partitions)
        if self._listener is not None:
            self._tell_assigned()
            self._listener.revoked(partitions)

    def lost(self, partitions: frozenset[TopicPartition]) -> None:
        """Stop the task of lost partitions; commit nothing, call no listener. An empty set means all partitions."""
        self._metrics.left_group()
        gone = partitions or self._owned
        if not gone:
            return
        self._say(events.LOST, gone)
        self._end_job(Deadline.after(min(self._revoke_seconds, _EXIT_OF_LOST_TIMEOUT)))
        self._release(gone)
        if self._receipts is not None:
            self._receipts.released(gone)

    def committed(self, offsets: Offsets, failed: Mapping[TopicPartition, tuple[CommitProblem, str]]) -> None:
        """Process the outcome of a commit, from poll()."""
        self._metrics.commit_settled()
        if self._receipts is not None:
            self._receipts.committed(offsets)
            self._receipts.released(failed.keys() - self._owned)
        if self._job is not None:
            self._guarantee.committed(self._job, offsets)
        if self._commits.settled(offsets, failed) is CommitProblem.LOST:
            self.lost(frozenset())

    def _release(self, partitions: frozenset[TopicPartition]) -> None:
        self._generation += 1
        self._news_at = monotonic()
        self._owned -= partitions
        self._metrics.owns(self._owned)
        self._forget(partitions)

    def _forget(self, partitions: frozenset[TopicPartition]) -> None:
        self._commits.forget(partitions)
        for partition in partitions:
            self._starts.pop(partition, None)

    # --- the copy job

    def _tend_copy(self) -> None:
        """Keep a job running for exactly the owned partitions."""
        if self._job is None:
            if not self._owned:
                self._tell_assigned()
            if self._owned and monotonic() >= self._retry_at:
                self._start_job()
            return
        gaps = (
            self._job.reports.take_gaps()
        )  # first, because offsets that were safe before a gap were reported before it
        self._note_reports()
        self._answer(gaps)
        self._guarantee.poll(self._job, self._require_member(), self._commits)
        trouble = self._job.trouble()
        if trouble is not None:
            self._recover(trouble)
        elif self._job.partitions != self._owned:
            self._end_job(Deadline.after(self._revoke_seconds))
        else:
            self._tell_assigned()

    def _start_job(self) -> None:
        """Start the copy job: (2) propose offsets, (3) call the listener, (4) start it; it answers its actual ones."""
        try:
            known = {partition: self._resume_at(partition) for partition in self._owned}
            missing = [partition for partition, offset in known.items() if offset is None]
            proposed = self._positions.propose(self._require_member(), missing)
        except TimeoutError as error:
            if self._reminders.is_due(str(error)):
                events.emit(events.CLIENT_ERROR, client=self.name, text=f"committed offsets: {error}")
            self._retry_at = monotonic() + _RETRY_BACKOFF
            return
        self._reminders.over()
        self._tell_assigned()
        offsets = {partition: offset for partition, offset in known.items() if offset is not None} | proposed
        self._reset = frozenset(partition for partition, offset in offsets.items() if offset in (EARLIEST, LATEST))
        self._job = self._start_copy(self._generation, offsets)

    def _tell_assigned(self) -> None:
        """Call the user's listener once for each assignment, before the copy job or the revocation."""
        while self._untold and self._listener is not None:
            self._listener.assigned(self._untold.pop(0))

    def _resume_at(self, partition: TopicPartition) -> int | None:
        safe = self._commits.position(partition)
        return safe if safe is not None else self._starts.get(partition)

    def _note_reports(self) -> None:
        job = self._job
        if job is None:
            return
        safe = job.reports.take_safe()  # first, because the start of a partition was reported before it
        if safe:
            self._news_at = monotonic()
        for started in job.reports.take_started():
            self._starts |= started.offsets
            offsets = describe_offsets(started.offsets)
            events.emit(events.COPY_STARTED, stream=self.index, offsets=offsets, worker=job.worker.name)
            self._note_resets(started)
            if self._receipts is not None:
                self._receipts.started(started.offsets)
        if self._receipts is not None:
            for copied in job.reports.take_copied():
                self._receipts.copied(copied)
        self._commits.note({p: offset for p, offset in safe.items() if p in self._owned})

    def _answer(self, gaps: Sequence[Gap]) -> None:
        """Answer gaps, only while the job runs: gaps of a job that ends are found again by the next one."""
        if gaps and self._job is not None:
            answers = self._guard.after(gaps)
            self._starts |= self._guarantee.gap_answered(self._commits, answers)
            self._job.resume(answers)

    def _note_resets(self, started: Started) -> None:
        """Log where partitions without a committed offset begin, and what they skip."""
        begun = {p: started.offsets[p] for p in started.lows if p in self._reset & self._owned}
        for partition, offset in sorted(begun.items()):
            client = self._require_member().name
            events.emit(events.OFFSET_RESET, client=client, partition=partition, offset=offset)
            self._guard.begun(partition, started.lows[partition], offset)
        self._reset -= started.offsets.keys()
        if begun and self._commit_starts:
            self._commits.chosen(begun)

    def _end_job(self, deadline: Deadline) -> None:
        """Stop the job and wait until it is over; kill it after the deadline."""
        if self._job is None:
            return
        self._job.stop(deadline)
        if not self._job.wait_over(deadline):
            self._job.kill()
            self._job.wait_over(Deadline.after(_KILL_TIMEOUT))
        self._finish_job()

    def _finish_job(self) -> None:
        self._note_reports()
        job, self._job = self._job, None
        self._guarantee.job_is_over()
        if job is not None:
            self._unacknowledged = job.reports.unacknowledged
            job.release()

    def _recover(self, trouble: CopyTrouble) -> None:
        """Kill a stalled or lost job, wait until it is over, and copy again from the safe offsets.

        That happens at most 3 times in 5 minutes, or in the time that the driver waits for that many workers.
        """
        job = self._job
        assert job is not None
        if self._adapt(trouble):
            self._finish_killed(job)
            return
        if trouble.fatal:
            raise _FATAL.get(trouble.kind, StreamFailure)(trouble.reason)
        if trouble.counts:
            self._count_restart(job, trouble)
        events.emit(events.COPY_LOST, stream=self.index, reason=trouble.reason)
        self._finish_killed(job)

    def _count_restart(self, job: CopyJob, trouble: CopyTrouble) -> None:
        """Set the time of the next try; raise StreamFailure if there have been too many."""
        now = monotonic()
        seconds = max(_RESTARTS_INTERVAL, (len(_RESTART_BACKOFFS) + 1) * job.worker.hello_seconds)
        restarts = sum(now - at < seconds for at in self._restarts)
        if restarts == len(_RESTART_BACKOFFS):
            raise StreamFailure(
                f"the copy job failed {restarts + 1} times within {seconds / 60:g} minutes: {trouble.reason}"
            )
        self._restarts.append(now)
        self._retry_at = now + _RESTART_BACKOFFS[restarts]

    def _finish_killed(self, job: CopyJob) -> None:
        """Wait until the killed job is over before anything new starts (invariant D).

        The membership continues meanwhile.
        """
        job.kill()
        while not job.wait_over(Deadline.after(_POLL_INTERVAL)):
            self._require_member().poll(0)
            if self._job is not job or self._stop_deadline is not None:
                return
            self._take_orders()
        self._finish_job()

    def _send_commit(self, offsets: Offsets) -> None:
        self._metrics.commit_sent()
        self._require_member().commit(offsets)

    def _require_member(self) -> Member:
        assert self._member is not None
        return self._member

    def _say(self, event: events.Event, partitions: frozenset[TopicPartition]) -> None:
        events.emit(event, stream=self.index, generation=self._generation, partitions=describe_partitions(partitions))
