"""The Spark task: presents the ticket, copies, reports, ends. The only entry from Spark into our code.

A task that loses its channel or its lease ends at once, with all that it has queued: it does not flush, because another
task may own the partitions by then, and it purges nothing, because the engine still sends, and records sent after a
purge would come before the purged ones.
"""

from __future__ import annotations

import ctypes
import importlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Protocol

from legacy_mm.clock import monotonic
from legacy_mm.control_channel.channel import Peer, present
from legacy_mm.control_channel.frames import (
    BEAT_INTERVAL,
    LEASE_SECONDS,
    Failure,
    Frame,
    Lease,
    Log,
    Plan,
    Resume,
    Stop,
    Stopped,
    Ticket,
    Understood,
)
from legacy_mm.errors import ChannelError, FailureKind, LegacyMMError
from legacy_mm.logs import events
from legacy_mm.model import Offsets
from legacy_mm.spark.attempt import attempt_number
from legacy_mm.spark.worker_daemon import print_with_the_mirror

ABANDONED = 70
"""Exit code of a task that lost its channel or lease."""
ENDED_BY_HANDLER = 71
"""Exit code of a task whose handler ended its JVM in the thread that handles records."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The options of glibc's `mallopt`."""
_ENGINES = {
    "records": ("legacy_mm.dataplane.records_engine", "RecordsEngine"),
    "handler": ("legacy_mm.dataplane.handler_engine", "HandlerEngine"),
    "batches": ("legacy_mm.dataplane.batches_engine", "BatchesEngine"),
}
"""Only the engine that is used is imported (invariant E)."""
_kept_until_exit: list[Any] = []
"""Clients are not closed but end with the process: closing waits for brokers, and there is nothing left to say."""


class Engine(Protocol):
    """An engine that copies the partitions of one plan. `stop` and `resume` come from other threads."""

    def run(self) -> Offsets:
        """Copy until stopped; how far sending went where it was not acknowledged in time."""

    def stop(self, seconds: float) -> None:
        """Read no more and finish within this time."""

    def resume(self, offsets: Offsets) -> None:
        """Resume the partitions that reported a gap."""

    def purge(self) -> None:
        """Purge all unsent records; call this after `run`."""


def run(tickets: Iterator[Ticket]) -> Iterator[None]:
    """Run a copy job for one ticket and yield nothing; entry point for `mapPartitions`."""
    for ticket in tickets:
        _ignore_signals(embedded=not ticket.certificate)
        _refuse_second_attempt()
        _keep_freed_memory()
        CopyTask(ticket).run()
    return iter(())


def _ignore_signals(*, embedded: bool) -> None:
    """Ignore signals: only the main process reacts to them; an embedded task ends by its channel, so it ignores HUP
    too.

    On a cluster HUP keeps its effect: Spark's daemon ends its workers with it when the executor is gone.
    """
    for number in (signal.SIGTERM, signal.SIGINT, *((signal.SIGHUP,) if embedded else ())):
        signal.signal(number, signal.SIG_IGN)


def _keep_freed_memory() -> None:
    """Let the C library keep what it would give back to the kernel, only to get it again for the next answer.

    Pages that are new each time take a tenth of the CPU. A C library without this call does as it likes.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, 64 << 20)
        mallopt(_MMAP_THRESHOLD, 32 << 20)


def _refuse_second_attempt() -> None:
    """Refuse a second attempt: Spark re-runs tasks of lost workers whatever `maxFailures` says, but the driver plans
    anew.
    """
    if attempt_number() > 0:
        raise ChannelError("a copy job is never run twice")


class CopyTask:
    """One copy job, from the ticket to `Stopped`."""

    def __init__(self, ticket: Ticket) -> None:
        self._peer, plan = present(ticket, Plan)
        self._plan = plan
        self._heard = monotonic()
        self._over = threading.Event()
        self._understood = threading.Event()
        self._engine: Engine | None = None
        self._stop_frame: Stop | None = None
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, name="channel", daemon=True).start()
        threading.Thread(target=self._watch_lease, name="lease", daemon=True).start()

    def run(self) -> None:
        """Copy until told to stop; what goes wrong is reported as a `Failure` frame."""
        _forward_events(self._peer)
        try:
            with self._lock:
                self._engine = _engine(self._plan, self._peer.send)
                if self._stop_frame is not None:
                    self._engine.stop(self._stop_frame.seconds)
            _kept_until_exit.append(self._engine)
            self._end(Stopped(self._engine.run()))
        except ChannelError:
            self._abandon()
        except LegacyMMError as error:
            self._fail(Failure(error.failure_kind, str(error), error.retriable, error.batch_bytes))
        except Exception as error:  # noqa: BLE001 - whatever it is, the driver decides
            self._fail(Failure(FailureKind.OTHER, str(error), retriable=True))

    def _fail(self, failure: Failure) -> None:
        if self._engine is not None:
            self._engine.purge()
        with suppress(ChannelError):
            self._end(failure)
        self._peer.close()

    def _end(self, last: Stopped | Failure) -> None:
        """Say the last word and stay until the driver has read it: what it has not read goes with this process."""
        self._over.set()
        self._peer.send(last)
        while not self._understood.wait(BEAT_INTERVAL / 4) and not self._lease_is_over():
            continue

    def _listen(self) -> None:
        try:
            while (frame := self._peer.receive()) is not None and not self._lease_is_over():
                self._heard = monotonic()
                self._obey(frame)
        except (ChannelError, OSError):
            pass
        self._understood.set()
        self._abandon()

    def _obey(self, frame: Frame) -> None:
        if isinstance(frame, Lease):
            return
        if isinstance(frame, Understood):
            self._understood.set()
            if not self._over.is_set():  # the last word was said for an engine that never comes back
                os._exit(ENDED_BY_HANDLER)
        with self._lock:
            if isinstance(frame, Stop):
                self._stop_frame = frame
                if self._engine is not None:
                    self._engine.stop(frame.seconds)
            elif isinstance(frame, Resume) and self._engine is not None:
                self._engine.resume(frame.offsets)

    def _watch_lease(self) -> None:
        while not self._over.wait(BEAT_INTERVAL / 4):
            if self._lease_is_over():
                self._abandon()

    def _lease_is_over(self) -> bool:
        """Return True if the lease is over, for good: frames that a frozen task finds when it wakes were meant for
        its past.
        """
        return monotonic() - self._heard > LEASE_SECONDS

    def _abandon(self) -> None:
        if not self._over.is_set():
            os._exit(ABANDONED)


def _engine(plan: Plan, report: Callable[[Frame], None]) -> Engine:
    if plan.handler is not None:
        print_with_the_mirror()
    module, name = _ENGINES["handler" if plan.handler is not None else plan.engine]
    made: Engine = getattr(importlib.import_module(module), name)(plan, report)
    return made


def _forward_events(peer: Peer) -> None:
    """Log lines are written where the user looks: in the driver."""

    class Forwarder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            event = getattr(record, "event", None)
            if event is not None:
                told = {name: str(value) for name, value in getattr(record, "fields", {}).items()}
                with suppress(ChannelError):
                    peer.send(Log(event.name, told))

    events.logger.handlers = [Forwarder()]
    events.logger.propagate = False
    events.logger.setLevel(logging.INFO)
