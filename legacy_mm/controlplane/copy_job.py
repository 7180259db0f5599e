"""The driver's side of one copy job: its ticket, the reports of its task, and the proof that it is over.

Invariant D: a copy job is over when its last word came and its worker is gone; where streams share a worker, when its
last word came, which a task says when it has closed all its connections, and its channel is closed; or, embedded, when
the driver has killed the worker and seen it gone; or, on a cluster, when the channel is dead and the lease has run out
twice over. The end of the Spark job proves nothing. Frames arrive on the channel's thread, questions come from the
stream's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import ChannelError, FailureKind
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import CopiedRun, Frame, Gap, Progress, Started, Statistics
from legacy_mm.logs import events
from legacy_mm.metrics.registry import StreamMetrics
from legacy_mm.runtime.channel.channel import ChannelServer, Peer, process_start
from legacy_mm.runtime.channel.frames import (
    LEASE_TIMEOUT,
    Copied,
    Exit,
    Failure,
    Hello,
    Log,
    MarkAsked,
    Marked,
    OwnershipAsked,
    OwnershipConfirmed,
    Pairs,
    Resume,
    Stop,
    Stopped,
    TaskConfig,
    Ticket,
    Understood,
)

_HELLO_TIMEOUT, _CLUSTER_HELLO_TIMEOUT = 30.0, 150.0
"""Seconds until a task must report. The second value is for clusters that may have to start executors first."""
_NO_ROOM = ": the cluster has no free core, too little memory, or a master that has forgotten this application"
_PROGRESS_INTERVAL = 10.0
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


class JobRunner(Protocol):
    """Starts and ends the workers of copy jobs. `submit` and `cancel` return at once."""

    shares_workers: bool
    """A worker has several copy jobs, and outlives each of them."""

    def submit(self, ticket: Ticket, description: str, on_end: Callable[[str], None]) -> None:
        """Start a copy job; call `on_end(reason)` when no worker has it any more."""

    def cancel(self, ticket: Ticket) -> None:
        """Let go of a copy job that is over or given up."""

    def kill(self, ticket: Ticket, worker: int) -> None:
        """Kill the worker of a copy job, by its process id on this host."""

    def is_spared(self, ticket: Ticket) -> bool:
        """Return True if the job's worker was killed because of another job."""


class PairSink(Protocol):
    """Receiver of offset pairs. Called on the channel's thread or the stream's; must not block."""

    def started(self, offsets: Offsets) -> None:
        """Note that this process copies these partitions from these offsets; called again after a gap."""

    def copied(self, runs: Sequence[CopiedRun]) -> None:
        """Receive acknowledged records."""

    def ended(self, partitions: Collection[TopicPartition]) -> None:
        """Note that this process does not copy these partitions any more."""


class CopyJob:
    """One Spark job with one task that copies one assignment from given offsets until it gets a stop order."""

    def __init__(
        self,
        ticket: Ticket,
        config: TaskConfig,
        channel: ChannelServer,
        runner: JobRunner,
        metrics: StreamMetrics,
        *,
        embedded: bool,
        pairs: PairSink | None = None,
        on_exit: Callable[[int], None] = lambda code: None,
        unattended_seconds: float = float("inf"),
    ) -> None:
        """Take the ticket, the task config and the services of the driver.

        `on_exit` is called with the code when the message handler ends the program. `unattended_seconds` is the time
        after the stream's thread last looked at which the task must end.
        """
        self.ticket = ticket
        self.partitions = frozenset(config.offsets)
        self.worker = "not started"
        self.hello_seconds = _HELLO_TIMEOUT if embedded else _CLUSTER_HELLO_TIMEOUT
        """Seconds that the task may take to report."""
        self.unacknowledged: dict[TopicPartition, int] = {}
        self._config = config
        self._channel = channel
        self._runner = runner
        self._metrics = metrics
        self._embedded = embedded
        self._pairs = pairs
        self._on_exit = on_exit
        self._changed = threading.Condition()
        self._unattended_seconds = unattended_seconds
        self._since = self._attended = monotonic()
        self._heard: float | None = None
        self._peer: Peer | None = None
        self._pid: tuple[int, int] | None = None
        self._stopped = self._failed = self._closed = self._refusing = self._spark_over = False
        self._closed_at = 0.0
        self._safe: dict[TopicPartition, int] = {}
        self._started: list[Started] = []
        self._gaps: list[Gap] = []
        self._asked: list[int] = []
        self._unmarked: dict[TopicPartition, int] = {}
        self._copied: list[Copied] = []
        self._trouble: CopyTrouble | None = None

    def start(self, description: str) -> None:
        """Make the ticket valid and give it to Spark."""
        self._channel.expect(self)
        self._runner.submit(self.ticket, description, self._spark_ended)

    # --- called by the channel's thread

    def admit(self, peer: Peer, hello: Hello) -> TaskConfig | None:
        """Return the task config, once."""
        with self._changed:
            if self._peer is not None or self._refusing:
                return None
            self._peer, self._pid = peer, (hello.pid, hello.process_start)
            self.worker = f"{hello.host}:{hello.pid}"
            self._heard = monotonic()
            self._changed.notify_all()
            return self._config

    def received(self, frame: Frame) -> None:
        """Process a report of the task."""
        if isinstance(frame, Log):
            events.emit_forwarded(frame.event, frame.fields)
            return
        if isinstance(frame, Exit):
            self._on_exit(frame.code)
            return
        if isinstance(frame, Statistics):
            self._metrics.statistics(frame)
        elif isinstance(frame, Progress):
            self._metrics.progress(frame)
        if self._pairs is not None and isinstance(frame, Started):
            self._pairs.started(frame.offsets)
        elif self._pairs is not None and isinstance(frame, Pairs):
            self._pairs.copied(frame.runs)
        with self._changed:
            self._heard = monotonic()
            if isinstance(frame, Progress):
                self._safe |= frame.offsets
            elif isinstance(frame, Started):
                self._started.append(frame)
            elif isinstance(frame, Gap):
                self._gaps.append(frame)
            elif isinstance(frame, OwnershipAsked):
                self._asked += frame.bundles
            elif isinstance(frame, MarkAsked):
                self._unmarked |= frame.offsets
            elif isinstance(frame, Copied):
                self._copied.append(frame)
            elif isinstance(frame, Stopped):
                self._stopped = True
                self.unacknowledged = dict(frame.offsets)
            elif isinstance(frame, Failure):
                self._failed = True
                self._trouble = CopyTrouble(frame.reason, not frame.retriable, frame.kind)
            self._changed.notify_all()
        if isinstance(frame, Stopped | Failure):
            self._tell(Understood())

    def closed(self) -> None:
        """Note that the task's channel is closed."""
        with self._changed:
            self._closed, self._closed_at = True, monotonic()
            self._changed.notify_all()

    def attended(self) -> bool:
        """Return True while the stream's thread looks after the job.

        Invariant D: a stream that hangs loses its partitions, and could not stop the task that copies them.
        """
        return monotonic() - self._attended < self._unattended_seconds

    def _spark_ended(self, reason: str) -> None:
        with self._changed:
            self._spark_over = True
            if self._peer is None and not self._refusing:
                self._trouble = CopyTrouble(reason, fatal=False)
            self._changed.notify_all()

    # --- called by the stream's thread

    def take_started(self) -> list[Started]:
        """Return the actual start offsets reported since the last call, also after gaps."""
        with self._changed:
            started, self._started = self._started, []
            return started

    def take_gaps(self) -> list[Gap]:
        """Return the gaps that wait for an answer."""
        with self._changed:
            gaps, self._gaps = self._gaps, []
            return gaps

    def take_asked(self) -> list[int]:
        """Return the bundles for which the task asks whether the group's generation holds them."""
        with self._changed:
            asked, self._asked = self._asked, []
            return asked

    def confirm(self, bundles: Sequence[int]) -> None:
        """Answer that the generation holds these bundles."""
        self._tell(OwnershipConfirmed(bundles))

    def take_unmarked(self) -> dict[TopicPartition, int]:
        """Return the offsets that the group must have from exactly once before these partitions are read."""
        with self._changed:
            unmarked, self._unmarked = self._unmarked, {}
            return unmarked

    def marked(self, offsets: Offsets) -> None:
        """Answer that the group has offsets of these partitions from exactly once."""
        self._tell(Marked(offsets))

    def take_copied(self) -> list[Copied]:
        """Return the content of receipts reported since the last call."""
        with self._changed:
            copied, self._copied = self._copied, []
            return copied

    def take_safe(self) -> dict[TopicPartition, int]:
        """Return the safe offsets that moved since the last call."""
        with self._changed:
            safe, self._safe = self._safe, {}
            return safe

    def resume(self, offsets: Offsets) -> None:
        """Answer gaps."""
        self._tell(Resume(offsets))

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
        if not self._failed and self._runner.is_spared(self.ticket):
            return CopyTrouble("its process was ended because of another stream", fatal=False, counts=False)
        if self._trouble is not None:
            return self._trouble
        if self._closed and not self._stopped:
            return CopyTrouble("its worker is gone", fatal=False)
        if self._heard is None:
            if now - max(self._since, woke) > self.hello_seconds:
                reason = f"no worker reported within {self.hello_seconds:g} s"
                return CopyTrouble(reason if self._embedded else reason + _NO_ROOM, fatal=False)
        elif now - max(self._heard, woke) > _PROGRESS_INTERVAL:
            return CopyTrouble(f"its worker reported nothing for {_PROGRESS_INTERVAL:g} s", fatal=False)
        return None

    def stop(self, deadline: Deadline, *, for_good: bool = False) -> None:
        """Ask the task to flush, report and end; a task that has not reported yet is refused when it does.

        `for_good`: the mirror stops, and no job follows.
        """
        with self._changed:
            self._refusing = True
        self._tell(Stop(max(0.0, deadline.remaining() - _EXIT_TIMEOUT), for_good))

    def is_over(self) -> bool:
        """Return True when nothing of this job can reach the target any more (invariant D)."""
        with self._changed:
            if self._peer is None:
                return self._refusing
            if self._embedded:
                return self._closed and (self._has_ended_itself() or not self._worker_lives())
            if self._closed and (self._stopped or self._trouble is not None):
                return True
            return self._closed and monotonic() - self._closed_at > 2 * LEASE_TIMEOUT

    def wait_over(self, deadline: Deadline) -> bool:
        """Wait until the job is over or the deadline; kill the worker of a task that does not end itself."""
        exit_by: Deadline | None = None
        while not self.is_over() and not deadline.expired():
            self._attended = monotonic()
            with self._changed:
                ending = self._stopped or self._trouble is not None or self._closed
                if not ending:
                    self._changed.wait(min(_LOOK_INTERVAL, deadline.remaining()))
                    continue
            exit_by = exit_by or deadline.sooner_of(_EXIT_TIMEOUT)
            if exit_by.expired():
                self.kill()
                exit_by = deadline.sooner_of(_EXIT_TIMEOUT)
            threading.Event().wait(_LOOK_INTERVAL / 4)
        return self.is_over()

    def kill(self) -> None:
        """End the job without flushing: SIGKILL if the worker is ours, otherwise its channel closes and its lease runs
        out.
        """
        with self._changed:
            self._refusing = True
            lives = self._embedded and not self._has_ended_itself() and self._worker_lives()
            peer, pid = self._peer, self._pid
        if lives and pid is not None:
            self._runner.kill(self.ticket, pid[0])
        if peer is not None:
            peer.close()
        self._runner.cancel(self.ticket)

    def release(self) -> None:
        """Refuse the ticket of the finished job from now on, and drop its clients."""
        self._metrics.copy_ended()
        if self._pairs is not None:
            self._pairs.ended(self.partitions)
        self._channel.forget(self)
        if not self._spark_over:
            self._runner.cancel(self.ticket)

    def _has_ended_itself(self) -> bool:
        """Return True if nothing of the job is left in a worker that lives on for other jobs."""
        return self._runner.shares_workers and (self._stopped or self._failed)

    def _worker_lives(self) -> bool:
        return self._pid is not None and process_start(self._pid[0]) == self._pid[1]

    def _tell(self, frame: Frame) -> None:
        with self._changed:
            peer = self._peer
        if peer is not None:
            with suppress(ChannelError):
                peer.send(frame)


StartCopy = Callable[[int, Offsets], CopyJob]
"""(generation, start offsets) -> a copy job that is running."""
