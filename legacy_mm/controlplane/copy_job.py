"""The driver's side of one copy job: its ticket, the reports of its task, and the proof that it is over.

Invariant D: a copy job is over when its last word came and its worker is gone; where streams share a worker, when its
last word came, which a task says when it has closed all its connections, and its channel is closed; or, embedded, when
the driver has killed the worker and seen it gone; or, on a cluster, when the channel is dead and the lease has run out
twice over. The end of the Spark job proves nothing. Frames arrive on the channel's thread, questions come from the
stream's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from legacy_mm.base.clock import Deadline, monotonic, sleep
from legacy_mm.base.errors import FailureKind
from legacy_mm.base.model import Offsets
from legacy_mm.base.reports import Frame
from legacy_mm.controlplane.copy_worker import CopyWorker
from legacy_mm.controlplane.task_reports import TaskReports
from legacy_mm.runtime.channel.channel import ChannelServer, Peer
from legacy_mm.runtime.channel.frames import (
    LEASE_TIMEOUT,
    Exit,
    Failure,
    Hello,
    Log,
    Marked,
    OwnershipConfirmed,
    Resume,
    Stop,
    Stopped,
    TaskConfig,
    Understood,
)

_EXIT_TIMEOUT = 2.0
_LOOK_INTERVAL = 0.02


@dataclass(frozen=True, slots=True)
class CopyTrouble:
    """The reason why a copy job cannot continue. `fatal`: a new one would not help."""

    reason: str
    fatal: bool
    kind: FailureKind = FailureKind.OTHER
    counts: bool = True
    """False: another stream is the cause, or a pause of the host, so the job may be started again any number of
    times.
    """


class CopyJob:
    """One Spark job with one task that copies one assignment from given offsets until it gets a stop order."""

    def __init__(
        self,
        worker: CopyWorker,
        config: TaskConfig,
        channel: ChannelServer,
        reports: TaskReports,
        unattended_seconds: float = float("inf"),
    ) -> None:
        """Take the worker of the ticket, the task config, and the one that gets the reports.

        `unattended_seconds` is the time after the stream's thread last looked at which the task must end.
        """
        self.ticket = worker.ticket
        self.partitions = frozenset(config.offsets)
        self.worker = worker
        self.reports = reports
        self._config = config
        self._channel = channel
        self._changed = threading.Condition()
        self._unattended_seconds = unattended_seconds
        self._attended = monotonic()
        self._stopped = self._failed = self._refusing = False
        self._closed_at: float | None = None
        self._trouble: CopyTrouble | None = None

    def start(self, description: str) -> None:
        """Make the ticket valid and give it to Spark."""
        self._channel.expect(self)
        self.worker.start(description, self._spark_ended)

    # --- called by the channel's thread

    def admit(self, peer: Peer, hello: Hello) -> TaskConfig | None:
        """Return the task config, once."""
        with self._changed:
            if self.worker.is_admitted() or self._refusing:
                return None
            self.worker.admit(peer, hello)
            self._changed.notify_all()
            return self._config

    def received(self, frame: Frame) -> None:
        """Process a report of the task."""
        self.reports.received(frame)
        if isinstance(frame, Log | Exit):
            return
        with self._changed:
            self.worker.heard()
            match frame:
                case Stopped():
                    self._stopped = True
                case Failure():
                    self._failed = True
                    self._trouble = CopyTrouble(frame.reason, not frame.retriable, frame.kind)
            self._changed.notify_all()
        if isinstance(frame, Stopped | Failure):
            self.worker.tell(Understood())

    def closed(self) -> None:
        """Note that the task's channel is closed."""
        with self._changed:
            self._closed_at = monotonic()
            self._changed.notify_all()

    def attended(self) -> bool:
        """Return True while the stream's thread looks after the job.

        Invariant D: a stream that hangs loses its partitions, and could not stop the task that copies them.
        """
        return monotonic() - self._attended < self._unattended_seconds

    def _spark_ended(self, reason: str) -> None:
        with self._changed:
            if not self.worker.is_admitted() and not self._refusing:
                self._trouble = CopyTrouble(reason, fatal=False)
            self._changed.notify_all()

    # --- called by the stream's thread

    def confirm(self, bundles: Sequence[int]) -> None:
        """Answer that the generation holds these bundles."""
        self.worker.tell(OwnershipConfirmed(bundles))

    def marked(self, offsets: Offsets) -> None:
        """Answer that the group has offsets of these partitions from exactly once."""
        self.worker.tell(Marked(offsets))

    def resume(self, offsets: Offsets) -> None:
        """Answer gaps."""
        self.worker.tell(Resume(offsets))

    def trouble(self) -> CopyTrouble | None:
        """Return the reason why the job cannot continue, or None.

        A worker that is lost because this process stood still, and could not renew its lease, does not count.
        """
        now = self._attended = monotonic()
        woke = self._channel.beat.woke()
        with self._changed:
            found = self._found(now, woke)
            if found is None or self._failed or now - woke > LEASE_TIMEOUT:
                return found
        return replace(found, reason=f"{found.reason}, after a pause of this process or host", counts=False)

    def _found(self, now: float, woke: float) -> CopyTrouble | None:
        if not self._failed and self.worker.is_spared():
            return CopyTrouble("its process was ended because of another stream", fatal=False, counts=False)
        if self._trouble is not None:
            return self._trouble
        if self._closed_at is not None and not self._stopped:
            return CopyTrouble("its worker is gone", fatal=False)
        silence = self.worker.silence(now, woke)
        return None if silence is None else CopyTrouble(silence, fatal=False)

    def stop(self, deadline: Deadline, *, for_good: bool = False) -> None:
        """Ask the task to flush, report and end; a task that has not reported yet is refused when it does.

        `for_good`: the mirror stops, and no job follows.
        """
        with self._changed:
            self._refusing = True
        self.worker.tell(Stop(max(0.0, deadline.remaining() - _EXIT_TIMEOUT), for_good))

    def is_over(self) -> bool:
        """Return True when nothing of this job can reach the target any more (invariant D)."""
        with self._changed:
            if not self.worker.is_admitted():
                return self._refusing
            if self._closed_at is None:
                return False
            if self.worker.embedded:
                return self._has_ended_itself() or not self.worker.lives()
            if self._stopped or self._trouble is not None:
                return True
            return monotonic() - self._closed_at > 2 * LEASE_TIMEOUT

    def wait_over(self, deadline: Deadline) -> bool:
        """Wait until the job is over or the deadline; kill the worker of a task that does not end itself."""
        exit_by: Deadline | None = None
        while not self.is_over() and not deadline.expired():
            self._attended = monotonic()
            with self._changed:
                ending = self._stopped or self._trouble is not None or self._closed_at is not None
                if not ending:
                    self._changed.wait(min(_LOOK_INTERVAL, deadline.remaining()))
                    continue
            exit_by = exit_by or deadline.sooner_of(_EXIT_TIMEOUT)
            if exit_by.expired():
                self.kill()
                exit_by = deadline.sooner_of(_EXIT_TIMEOUT)
            sleep(_LOOK_INTERVAL / 4)
        return self.is_over()

    def kill(self) -> None:
        """End the job without flushing: SIGKILL if the worker is ours, otherwise its channel closes and its lease runs
        out.
        """
        with self._changed:
            self._refusing = True
            has_ended_itself = self._has_ended_itself()
        self.worker.end(kill=not has_ended_itself)

    def release(self) -> None:
        """Refuse the ticket of the finished job from now on, and drop its clients."""
        self.reports.end(self.partitions)
        self._channel.forget(self)
        self.worker.release()

    def _has_ended_itself(self) -> bool:
        """Return True if nothing of the job is left in a worker that lives on for other jobs."""
        return self.worker.outlives_jobs() and (self._stopped or self._failed)


StartCopy = Callable[[int, Offsets], CopyJob]
"""(generation, start offsets) -> a copy job that is running."""
