"""The copying of one stream: a copy job for exactly the partitions that it owns, and another one after a trouble.

The stream's thread makes every call; others read `unacknowledged`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import CorruptRecords, EndlessCopy, FailureKind, SendFailure, StreamFailure, Undecided
from legacy_mm.base.model import Offsets, TopicPartition, describe_offsets
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.copy_job import CopyJob, CopyTrouble, StartCopy
from legacy_mm.controlplane.delivery_guarantee import DeliveryGuarantee
from legacy_mm.controlplane.positions import StartOffsets
from legacy_mm.controlplane.receipts import StreamReceipts
from legacy_mm.controlplane.stream_membership import StreamMembership
from legacy_mm.logs import events
from legacy_mm.policies.growing_pauses import Reminders

_RESTART_BACKOFFS = (0.0, 2.0, 4.0)
"""Pauses before each new try: the cause of quick failures, such as a full /tmp, may be over then."""
_RESTARTS_INTERVAL = 300.0
_RETRY_BACKOFF = 1.0
KILL_TIMEOUT = 30.0
"""Seconds until a worker that was killed must be gone."""
_FATAL: Mapping[FailureKind, type[StreamFailure]] = {
    each.failure_kind: each for each in (CorruptRecords, EndlessCopy, SendFailure, Undecided)
}


class Restarts:
    """When the next copy job may start: at most 3 follow one another in 5 minutes.

    Or in the time that the driver waits for that many workers.
    """

    def __init__(self) -> None:
        self._at: deque[float] = deque(maxlen=len(_RESTART_BACKOFFS))
        self._due_at = 0.0

    def is_due(self) -> bool:
        """Return True if a job may start now."""
        return monotonic() >= self._due_at

    def make_due(self) -> None:
        """Let a job start at once: there are new partitions."""
        self._due_at = 0.0

    def put_off(self) -> None:
        """Let no job start for a moment."""
        self._due_at = monotonic() + _RETRY_BACKOFF

    def count(self, reason: str, hello_seconds: float) -> None:
        """Set the time of the next try after this trouble; raise StreamFailure if there have been too many."""
        now = monotonic()
        seconds = max(_RESTARTS_INTERVAL, (len(_RESTART_BACKOFFS) + 1) * hello_seconds)
        restarts = sum(now - at < seconds for at in self._at)
        if restarts == len(_RESTART_BACKOFFS):
            raise StreamFailure(f"the copy job failed {restarts + 1} times within {seconds / 60:g} minutes: {reason}")
        self._at.append(now)
        self._due_at = now + _RESTART_BACKOFFS[restarts]


class StreamCopy:
    """The copy jobs of one stream, one after another."""

    def __init__(
        self,
        membership: StreamMembership,
        commits: Commits,
        starts: StartOffsets,
        start_job: StartCopy,
        adapt: Callable[[CopyTrouble], bool],
        guarantee: DeliveryGuarantee | None = None,
        receipts: StreamReceipts | None = None,
    ) -> None:
        """Take the parts of the stream; `adapt` returns True if the next job is made otherwise because of a trouble."""
        self.guarantee = guarantee or DeliveryGuarantee()
        self.unacknowledged: Offsets = {}
        """The offsets that the last job had reached by sending, without an answer of the target."""
        self.safe_at = monotonic()
        """The time when offsets became safe last."""
        self._membership = membership
        self._commits = commits
        self._starts = starts
        self._start_job = start_job
        self._adapt = adapt
        self._receipts = receipts
        self._restarts = Restarts()
        self._reminders = Reminders()
        self._is_paused = False
        self._job: CopyJob | None = None

    def poll(self, revoke_seconds: float) -> CopyTrouble | None:
        """Keep a job running for exactly the owned partitions; return why it cannot continue, or None.

        A job for others is stopped within `revoke_seconds`.
        """
        job, membership = self._job, self._membership
        if job is None:
            if not membership.owned or self._is_paused:
                membership.tell_assigned()
            elif self._restarts.is_due():
                self._start()
            return None
        gaps = job.reports.take_gaps()  # first, because offsets that were safe before a gap were reported before it
        self._note_reports(job)
        if gaps:  # those of a job that ends are found again by the next one
            job.resume(self._starts.answer(gaps, self.guarantee))
        self.guarantee.poll(job, membership.member, self._commits)
        trouble = job.trouble()
        if trouble is not None:
            return trouble
        if job.partitions != membership.owned:
            self.end(Deadline.after(revoke_seconds))
        else:
            membership.tell_assigned()
        return None

    def _start(self) -> None:
        """Start the copy job: (2) propose offsets, (3) call the listener, (4) start it; it answers its actual ones."""
        membership = self._membership
        # (2)
        try:
            offsets = self._starts.propose(membership.member, membership.owned)
        except TimeoutError as error:
            if self._reminders.is_due(str(error)):
                client, text = f"stream-{membership.stream}", f"committed offsets: {error}"
                events.emit(events.CLIENT_ERROR, client=client, text=text)
            self._restarts.put_off()
            return
        self._reminders.over()
        # (3)
        membership.tell_assigned()
        # (4)
        self._job = self._start_job(membership.generation, offsets)

    def _note_reports(self, job: CopyJob) -> None:
        membership = self._membership
        safe = job.reports.take_safe()  # first, because the start of a partition was reported before it
        if safe:
            self.safe_at = monotonic()
        for started in job.reports.take_started():
            offsets = describe_offsets(started.offsets)
            events.emit(events.COPY_STARTED, stream=membership.stream, offsets=offsets, worker=job.worker.name)
            self._starts.started(started, membership.member, membership.owned)
            if self._receipts is not None:
                self._receipts.started(started.offsets)
        if self._receipts is not None:
            for copied in job.reports.take_copied():
                self._receipts.copied(copied)
        self._commits.note({p: offset for p, offset in safe.items() if p in membership.owned})

    def recover(self, trouble: CopyTrouble) -> None:
        """Kill a stalled or lost job, so that another one copies from the safe offsets, once it is over.

        Raises StreamFailure if that would not help, or has been tried too often.
        """
        job = self._job
        assert job is not None
        if not self._adapt(trouble):
            if trouble.fatal:
                raise _FATAL.get(trouble.kind, StreamFailure)(trouble.reason)
            if trouble.counts:
                self._restarts.count(trouble.reason, job.worker.hello_seconds)
            events.emit(events.COPY_LOST, stream=self._membership.stream, reason=trouble.reason)
        job.kill()

    # --- the end of a job

    def is_idle(self) -> bool:
        """Return True if there is no job."""
        return self._job is None

    def stop(self, deadline: Deadline) -> None:
        """Ask the job to flush and end by the deadline, because the mirror stops."""
        if self._job is not None:
            self._job.stop(deadline, for_good=True)

    def kill(self) -> None:
        """End the job without flushing."""
        if self._job is not None:
            self._job.kill()

    def wait_over(self, deadline: Deadline) -> bool:
        """Wait until nothing of the job can reach the target any more, or the deadline; True if there is none."""
        return self._job is None or self._job.wait_over(deadline)

    def end(self, deadline: Deadline) -> None:
        """Stop the job and wait until it is over; kill it after the deadline."""
        if self._job is None:
            return
        self._job.stop(deadline)
        if not self._job.wait_over(deadline):
            self._job.kill()
            self._job.wait_over(Deadline.after(KILL_TIMEOUT))
        self.finish()

    def finish(self) -> None:
        """Take the last reports of a job that is over, and drop it."""
        job = self._job
        if job is None:
            return
        self._note_reports(job)
        self._job = None
        self.guarantee.job_is_over()
        self.unacknowledged = job.reports.unacknowledged
        job.release()

    # --- wishes of the user

    def pause(self, deadline: Deadline) -> None:
        """End the job as for a revocation, and start none until `resume`; the partitions stay with the stream."""
        self._is_paused = True
        self.end(deadline)

    def resume(self) -> None:
        """Let a job start at once."""
        self._is_paused = False
        self._restarts.make_due()

    def restart(self, deadline: Deadline) -> None:
        """End the job, and let another one begin at its safe offsets at once."""
        self.end(deadline)
        self._restarts.make_due()

    # --- changes of the membership

    def assigned(self) -> None:
        """Start the next job at once."""
        self._restarts.make_due()

    def released(self, partitions: Collection[TopicPartition]) -> None:
        """Forget where partitions begin that the stream does not own any more."""
        self._starts.forget(partitions)

    def lost(self, partitions: Collection[TopicPartition]) -> None:
        """Forget the receipts of partitions that another member copies again."""
        if self._receipts is not None:
            self._receipts.released(partitions)

    def committed(self, offsets: Offsets, failed: Collection[TopicPartition]) -> None:
        """Process the outcome of a commit for receipts, and tell the job of it."""
        if self._receipts is not None:
            self._receipts.committed(offsets)
        self.lost([partition for partition in failed if partition not in self._membership.owned])
        if self._job is not None:
            self.guarantee.committed(self._job, offsets)
