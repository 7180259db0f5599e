"""The worker of one copy job, as the driver sees it: its process, its channel, and how long it has been silent.

A worker that streams share has a `CopyWorker` for each of its copy jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import ChannelError
from legacy_mm.base.reports import Frame
from legacy_mm.controlplane.copy_processes import CopyProcesses
from legacy_mm.runtime.channel.channel import Peer, process_start
from legacy_mm.runtime.channel.frames import Hello, Ticket
from legacy_mm.runtime.spark.runner import SparkRunner

_HELLO_TIMEOUT, _CLUSTER_HELLO_TIMEOUT = 30.0, 150.0
"""Seconds until a task must report. The second value is for clusters that may have to start executors first."""
_NO_ROOM = ": the cluster has no free core, too little memory, or a master that has forgotten this application"
_PROGRESS_INTERVAL = 10.0


class CopyWorker:
    """The worker that has, or will have, the ticket of one copy job. The job holds its lock where it changes."""

    def __init__(self, ticket: Ticket, runner: SparkRunner | CopyProcesses, *, embedded: bool) -> None:
        """Take what starts and ends workers; `embedded`: they are processes of this host."""
        self.ticket = ticket
        self.embedded = embedded
        self.name = "not started"
        self.hello_seconds = _HELLO_TIMEOUT if embedded else _CLUSTER_HELLO_TIMEOUT
        """Seconds that the task may take to report."""
        self._runner = runner
        self._since = monotonic()
        self._heard: float | None = None
        self._peer: Peer | None = None
        self._process: tuple[int, int] | None = None
        self._is_let_go = False

    def start(self, description: str, on_end: Callable[[str], None]) -> None:
        """Give the ticket to Spark; call `on_end(reason)` when no worker has it any more."""

        def ended(reason: str) -> None:
            self._is_let_go = True
            on_end(reason)

        self._runner.submit(self.ticket, description, ended)

    def admit(self, peer: Peer, hello: Hello) -> None:
        """Take the worker that has presented the ticket."""
        self._peer, self._process = peer, (hello.pid, hello.process_start)
        self.name = f"{hello.host}:{hello.pid}"
        self.heard()

    def is_admitted(self) -> bool:
        """Return True once a worker has presented the ticket."""
        return self._peer is not None

    def heard(self) -> None:
        """Note that it has reported something."""
        self._heard = monotonic()

    def silence(self, now: float, woke: float) -> str | None:
        """Return why its silence is too long, or None. What counts began when this process `woke` from a pause."""
        if self._heard is None:
            if now - max(self._since, woke) > self.hello_seconds:
                reason = f"no worker reported within {self.hello_seconds:g} s"
                return reason if self.embedded else reason + _NO_ROOM
        elif now - max(self._heard, woke) > _PROGRESS_INTERVAL:
            return f"its worker reported nothing for {_PROGRESS_INTERVAL:g} s"
        return None

    def tell(self, frame: Frame) -> None:
        """Send the task a frame, if there is one; a channel that is closed is told of elsewhere."""
        if self._peer is not None:
            with suppress(ChannelError):
                self._peer.send(frame)

    def outlives_jobs(self) -> bool:
        """Return True if it has other jobs, too, and so lives on when this one has ended itself."""
        return self._runner.shares_workers

    def is_spared(self) -> bool:
        """Return True if it was killed because of another job."""
        return self._runner.is_spared(self.ticket)

    def lives(self) -> bool:
        """Return True while its process is there; only for processes of this host."""
        return self._process is not None and process_start(self._process[0]) == self._process[1]

    def end(self, *, kill: bool) -> None:
        """Close its channel and let go of the ticket; `kill` the process before, if it is one of this host."""
        if kill and self.embedded and self._process is not None and self.lives():
            self._runner.kill(self.ticket, self._process[0])
        if self._peer is not None:
            self._peer.close()
        self._runner.cancel(self.ticket)

    def release(self) -> None:
        """Let go of the ticket of a job that is over, unless Spark has done so."""
        if not self._is_let_go:
            self._runner.cancel(self.ticket)
