"""The Spark task: presents the ticket, copies, reports, ends. The only entry from Spark into our code.

The driver answers with the config of one copy job, or with the order to wait for the tickets of several, which then run
in threads of this process (`controlplane/copy_processes.py`).

A task that loses its channel or its lease ends at once, with its process and all that it has queued: it does not flush,
because another task may own the partitions by then, and it purges nothing, because the engine still sends, and records
sent after a purge would come before the purged ones.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress

from legacy_mm.assembly.task_process import TaskProcess
from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import ChannelError, FailureKind, LegacyMMError
from legacy_mm.base.reports import Frame
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.clients.net.buffer_pool import Buffers
from legacy_mm.dataplane.copy_ends import open_ends
from legacy_mm.dataplane.copy_engine import CopyEngine
from legacy_mm.dataplane.delivery import AtLeastOnce, Delivery, SendFrame
from legacy_mm.logs import events
from legacy_mm.runtime.channel.channel import Peer, present
from legacy_mm.runtime.channel.frames import (
    BEAT_INTERVAL,
    LEASE_TIMEOUT,
    Begin,
    Failure,
    Lease,
    Log,
    Marked,
    OwnershipConfirmed,
    Ready,
    Resume,
    Share,
    Stop,
    Stopped,
    TaskConfig,
    Ticket,
    Understood,
)
from legacy_mm.runtime.spark.attempt import attempt_number
from legacy_mm.runtime.spark.worker_daemon import print_with_the_mirror

ABANDONED = 70
"""Exit code of a task that lost its channel or lease."""
ENDED_BY_HANDLER = 71
"""Exit code of a task whose handler ended its JVM in the thread that handles records."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""The options of glibc's `mallopt`."""


def run(tickets: Iterator[Ticket]) -> Iterator[None]:
    """Run a copy job for one ticket and yield nothing; entry point for `mapPartitions`."""
    for ticket in tickets:
        _ignore_signals(embedded=not ticket.certificate)
        _refuse_second_attempt()
        _keep_freed_memory()
        try:
            peer, order = present(ticket, TaskConfig, Share)
        except ConnectionRefusedError:
            if ticket.certificate:  # on a cluster the reason is worth telling
                raise
            return iter(())  # the mirror was stopped while this process started
        _forward_events(peer)
        process = TaskProcess()
        if isinstance(order, TaskConfig):
            CopyTask(peer, order, process).run()
        elif isinstance(order, Share):
            _share(process, ticket, peer, order)
    return iter(())


def _share(process: TaskProcess, ticket: Ticket, peer: Peer, order: Share) -> None:
    """Begin copy jobs as their tickets come; end when the driver closes the channel of this process.

    It closes that when the last job is over. If a job still runs, the driver is gone.
    """
    jobs: list[threading.Thread] = []
    if order.handler is not None:
        threading.Thread(target=_prepare, args=[order.handler], name="handler", daemon=True).start()
    with suppress(ChannelError, OSError):
        peer.send(Ready())
        while (frame := peer.receive()) is not None:
            if isinstance(frame, Begin):
                jobs = [job for job in jobs if job.is_alive()]
                arguments, name = (process, frame.ticket(ticket)), f"copy-{frame.job_stream}"
                jobs.append(threading.Thread(target=_begin, args=arguments, name=name, daemon=True))
                jobs[-1].start()
    if any(job.is_alive() for job in jobs):
        os._exit(ABANDONED)


def _prepare(handler: HandlerSettings) -> None:
    from legacy_mm.dataplane.handler_stage import prepare_handler

    prepare_handler(handler)


def _begin(process: TaskProcess, ticket: Ticket) -> None:
    with suppress(ChannelError, OSError):  # given up meanwhile
        CopyTask(*present(ticket, TaskConfig), process).run()


def _ignore_signals(*, embedded: bool) -> None:
    """Ignore signals: only the main process reacts to them; an embedded task ends by its channel, so it ignores HUP
    too.

    On a cluster HUP keeps its effect: Spark's daemon ends its workers with it when the executor is gone.
    """
    for number in (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if embedded else ())):
        signal.signal(number, signal.SIG_IGN)


def _keep_freed_memory() -> None:
    """Let the C library keep what it would give back to the kernel, only to get it again for the next answer.

    Pages that are new each time take a tenth of the CPU. What one thread has freed is there for all: an arena for each
    would keep the most that its thread ever had. A C library without this call does as it likes.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, 64 << 20)
        mallopt(_MMAP_THRESHOLD, 32 << 20)
        mallopt(_ARENA_MAX, 1)


def _refuse_second_attempt() -> None:
    """Refuse a second attempt: Spark re-runs tasks of lost workers whatever `maxFailures` says, but the driver plans
    anew.
    """
    if attempt_number() > 0:
        raise ChannelError("a copy job is never run twice")


def copy_engine(config: TaskConfig, send: SendFrame, buffers: Buffers) -> CopyEngine:
    """Return the engine that a task config asks for, with its clients; `send` takes its frames."""
    delivery = _delivery(config)
    return CopyEngine(config, send, open_ends(config, buffers, delivery.owners), delivery)


def _delivery(config: TaskConfig) -> type[Delivery]:
    if config.exactly_once is None:
        return AtLeastOnce
    from legacy_mm.transactions.transactional_delivery import ExactlyOnce

    return ExactlyOnce


class CopyTask:
    """One copy job, from its task config to `Stopped`."""

    def __init__(self, peer: Peer, config: TaskConfig, process: TaskProcess) -> None:
        self._peer = peer
        self._config = config
        self._process = process
        self._heard = monotonic()
        self.over = threading.Event()
        """Set when the last word is said: then the loss of the channel or the lease ends nothing any more."""
        self._understood = threading.Event()
        self._engine: CopyEngine | None = None
        self._stop_frame: Stop | None = None
        self._lock = threading.Lock()
        process.watch_lease(self)
        listen = threading.Thread(
            target=peer.watch, args=(process.reader, self._received, self._ended), name="channel", daemon=True
        )
        listen.start()

    def run(self) -> None:
        """Copy until told to stop; what goes wrong is reported as a `Failure` frame."""
        try:
            if self._config.handler is not None:
                print_with_the_mirror()
            engine = copy_engine(self._config, self._peer.send, self._process.buffers)
            with self._lock:
                self._engine = engine
                if self._stop_frame is not None:
                    engine.stop(self._stop_frame.seconds, for_good=self._stop_frame.for_good)
            self._end(Stopped(engine.run()))
        except ChannelError:
            self._abandon()
        except LegacyMMError as error:
            self._fail(Failure(error.failure_kind, str(error), error.retriable))
        except Exception as error:  # noqa: BLE001 - whatever it is, the driver decides
            self._fail(Failure(FailureKind.OTHER, str(error), retriable=True))

    def _fail(self, failure: Failure) -> None:
        if self._engine is not None:
            self._engine.purge()
        with suppress(ChannelError):
            self._end(failure)

    def _end(self, last: Stopped | Failure) -> None:
        """Say the last word, stay until the driver has read it, and close the channel.

        What the driver has not read goes with this process.
        """
        self.over.set()
        self._peer.send(last)
        while not self._understood.wait(BEAT_INTERVAL / 4) and not self._lease_is_over():
            continue
        self._peer.close()

    # --- called by the thread that hears the driver; must return at once

    def _received(self, frame: Frame) -> None:
        self.check_lease()
        self._heard = monotonic()
        self._obey(frame)

    def _ended(self, error: Exception | None) -> None:
        self._understood.set()
        self._abandon()

    def _obey(self, frame: Frame) -> None:
        if isinstance(frame, Lease):
            return
        if isinstance(frame, Understood):
            self._understood.set()
            if not self.over.is_set():  # the last word was said for an engine that never comes back
                self.over.set()
                self._process.after_the_last_task(lambda: os._exit(ENDED_BY_HANDLER))
                self._peer.close()
        with self._lock:
            if isinstance(frame, Stop):
                self._stop_frame = frame
                if self._engine is not None:
                    self._engine.stop(frame.seconds, for_good=frame.for_good)
            elif isinstance(frame, Resume) and self._engine is not None:
                self._engine.resume(frame.offsets)
            elif isinstance(frame, OwnershipConfirmed) and self._engine is not None:
                self._engine.delivery.confirmed(frame.bundles)
            elif isinstance(frame, Marked) and self._engine is not None:
                self._engine.delivery.marked(frame.offsets)

    def check_lease(self) -> None:
        """End the process if the lease is over and the last word is not said."""
        if self._lease_is_over():
            self._abandon()

    def _lease_is_over(self) -> bool:
        """Return True if the lease is over, for good: frames that a frozen task finds when it wakes were meant for
        its past.
        """
        return monotonic() - self._heard > LEASE_TIMEOUT

    def _abandon(self) -> None:
        if not self.over.is_set():
            os._exit(ABANDONED)


def _forward_events(peer: Peer) -> None:
    """Log lines are written where the user looks: in the driver."""

    class Forwarder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            event = getattr(record, "event", None)
            if event is not None:
                fields = {name: str(value) for name, value in getattr(record, "fields", {}).items()}
                with suppress(ChannelError):
                    peer.send(Log(event.name, fields))

    events.logger.handlers = [Forwarder()]
    events.logger.propagate = False
    events.logger.setLevel(logging.INFO)
