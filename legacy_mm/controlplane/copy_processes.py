"""Copy processes that streams share: as many as there are cores, and each copy job in the one with the fewest.

Copy jobs with a handler have processes of their own, which begin with what the handler needs before a config comes:
one for each job where Python handles the records, so that they do not wait for one another.

A copy job keeps its own ticket, channel, lease, connections and last word; only the process is common. The driver can
end a task that hangs only together with its process. The other streams of that process start again then, from
their safe offsets, and the end does not count as a failure of theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from legacy_mm.base.errors import ChannelError
from legacy_mm.base.reports import Frame
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.logs import events
from legacy_mm.runtime.channel.channel import ChannelServer, Peer
from legacy_mm.runtime.channel.frames import Begin, Hello, Log, Ready, Share, Ticket
from legacy_mm.runtime.spark.runner import SparkRunner, kill_worker

OnProcessEnd = Callable[[str], None]
_ENDED = "its process ended"


class CopyProcess:
    """The driver's side of one shared process. A ticket waits here until the process says that it takes tickets."""

    def __init__(self, ticket: Ticket, on_end: Callable[[CopyProcess, str], None], share: Share) -> None:
        """Create the process; `share` is its first order."""
        self.ticket = ticket
        self._share = share
        self.jobs: dict[Ticket, OnProcessEnd] = {}
        self._on_end = on_end
        self._waiting: list[Ticket] = []
        self._peer: Peer | None = None
        self._ready = False
        self._lock = threading.Lock()

    def begin(self, ticket: Ticket) -> None:
        """Let the process begin this copy job now, or when it is ready."""
        with self._lock:
            if not self._ready:
                self._waiting.append(ticket)
                return
        self._tell(Begin.of(ticket))

    def close(self) -> None:
        """End the process, which has no copy job any more."""
        with self._lock:
            peer, self._waiting = self._peer, []
        if peer is not None:
            peer.close()

    # --- called by the channel's thread

    def admit(self, peer: Peer, hello: Hello) -> Share | None:
        """Return the order to wait for tickets, once."""
        with self._lock:
            if self._peer is not None:
                return None
            self._peer = peer
            return self._share

    def received(self, frame: Frame) -> None:
        """Send the tickets that waited; write the log lines of all jobs of this process."""
        if isinstance(frame, Log):
            events.emit_forwarded(frame.event, frame.fields)
        elif isinstance(frame, Ready):
            with self._lock:
                self._ready = True
                waiting, self._waiting = self._waiting, []
            for ticket in waiting:
                self._tell(Begin.of(ticket))

    def closed(self) -> None:
        """Note that the process is gone."""
        self._on_end(self, _ENDED)

    def attended(self) -> bool:
        """Return True: the process has no partitions, and its tasks have leases of their own."""
        return True

    def _tell(self, frame: Frame) -> None:
        if self._peer is not None:
            with suppress(ChannelError):  # then its channel closes, too
                self._peer.send(frame)


class CopyProcesses:
    """Runs copy jobs in shared processes; stands in for a `SparkRunner`."""

    shares_workers = True

    def __init__(
        self,
        channel: ChannelServer,
        runner: SparkRunner,
        most: int | None,
        handler: Callable[[], HandlerSettings | None] = lambda: None,
    ) -> None:
        """Create the pool of at most so many processes; `runner` starts each as a Spark job.

        `most` None: each copy job has a process of its own. `handler` returns what `Share` has, for each new process.
        """
        self._channel = channel
        self._runner = runner
        self._most = most
        self._handler = handler
        self._processes: list[CopyProcess] = []
        self._spared: set[Ticket] = set()
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Start the first process before there is a copy job for it."""
        with self._lock:
            process = self._new_process()
        self._start(process)

    def submit(self, ticket: Ticket, description: str, on_end: OnProcessEnd) -> None:
        """Begin the copy job of this ticket; call `on_end(reason)` if its process ends."""
        with self._lock:
            known = self._emptiest()
            process = known or self._new_process()
            process.jobs[ticket] = on_end
        if known is None:
            self._start(process)
        process.begin(ticket)

    def cancel(self, ticket: Ticket) -> None:
        """Forget a copy job that is over; end its process if that was the last one."""
        with self._lock:
            self._spared.discard(ticket)
            process = self._process_of(ticket)
            if process is None:
                return
            del process.jobs[ticket]
            if process.jobs:
                return
            self._processes.remove(process)
        self._let_go(process)

    def kill(self, ticket: Ticket, worker: int) -> None:
        """Kill the process of a copy job that does not end itself; the other jobs in it are spared a failure."""
        with self._lock:
            process = self._process_of(ticket)
            if process is not None:
                self._spared.update(process.jobs.keys() - {ticket})
                self._processes.remove(process)
        kill_worker(worker)
        if process is not None:
            self._let_go(process)

    def is_spared(self, ticket: Ticket) -> bool:
        """Return True if the job's process was ended because of another job in it."""
        return ticket in self._spared

    def _emptiest(self) -> CopyProcess | None:
        """Return the process with the fewest jobs; None if another one may be started instead."""
        if self._most is None:
            return next((process for process in self._processes if not process.jobs), None)
        fewest = min(self._processes, key=lambda process: len(process.jobs), default=None)
        if fewest is not None and fewest.jobs and len(self._processes) < self._most:
            return None
        return fewest

    def _new_process(self) -> CopyProcess:
        ticket = self._channel.new_ticket("", len(self._processes), 0)
        process = CopyProcess(ticket, self._ended, Share(self._handler()))
        self._processes.append(process)
        return process

    def _start(self, process: CopyProcess) -> None:
        self._channel.expect(process)
        self._runner.submit(process.ticket, "copy process", partial(self._ended, process))

    def _process_of(self, ticket: Ticket) -> CopyProcess | None:
        return next((process for process in self._processes if ticket in process.jobs), None)

    def _ended(self, process: CopyProcess, reason: str) -> None:
        with self._lock:
            if process in self._processes:
                self._processes.remove(process)
            jobs = list(process.jobs.values())
            process.jobs.clear()
        self._let_go(process)
        for on_end in jobs:
            on_end(reason)

    def _let_go(self, process: CopyProcess) -> None:
        self._channel.forget(process)
        process.close()
        self._runner.cancel(process.ticket)
