"""Runs the flows of one process: each starts, fails and starts again alone; a signal stops all of them.

A flow has its own thread, because a cluster that is away may hold up its start for a minute.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from legacy_mm.clock import Deadline, monotonic
from legacy_mm.errors import ConfigurationError, commits, one_line
from legacy_mm.flow.host import Host
from legacy_mm.flow.lifecycle import Signals
from legacy_mm.flow.mirror import Mirror
from legacy_mm.logs import events
from legacy_mm.metrics.health import Phase

_LOOK_INTERVAL, _FAILURE_LOOK_INTERVAL = 0.2, 1.0
_FIRST_BACKOFF = 5.0
_LONGEST_BACKOFF = 300.0
_HEALTHY_AFTER = 600.0
"""A flow that has run so long begins again with the first pause."""
_STOP_TIMEOUT = 30.0
"""The time in which a flow that failed must be gone before it starts again."""
_JVM_TIMEOUT = 3.0
_HOST_FAILED, _NOTHING_TO_RUN = 3, 2


@dataclass(frozen=True, slots=True)
class SupervisedFlow:
    """A flow: its name, what it consists of in MirrorMaker 2's words, how it is built and forgotten."""

    name: str
    connectors: str
    build: Callable[[], Mirror]
    on_change: Callable[[str], None] = field(default=lambda failure: None)
    """Called with an empty text once the flow runs, and with the reason once a mirror that failed is gone."""


class _FlowThread(threading.Thread):
    """Keeps one flow running until it is told to stop."""

    def __init__(self, flow: SupervisedFlow) -> None:
        super().__init__(name=f"flow-{flow.name}", daemon=True)
        self._flow = flow
        self._orders: queue.SimpleQueue[Deadline] = queue.SimpleQueue()
        self._backoff = _FIRST_BACKOFF
        self.refused = False
        """True once it is clear that the flow can never run as it is configured."""

    def stop(self, deadline: Deadline) -> None:
        """Stop the flow, with all that was copied committed; returns at once."""
        self._orders.put(deadline)

    def run(self) -> None:
        """Build, run, and after a failure pause and build again."""
        while True:
            started = monotonic()
            try:
                mirror = self._flow.build()
            except ConfigurationError as error:  # no later try could do better
                events.emit(events.FLOW_REFUSED, flow=self._flow.name, reason=one_line(error))
                self._flow.on_change(one_line(error))
                self.refused = True
                return
            except Exception as error:  # noqa: BLE001 - said below; nothing may end a flow in silence
                reason: BaseException = error
            else:
                deadline, failure = self._attend(mirror)
                if deadline is not None:
                    mirror.stop(deadline, commit=True)
                    mirror.join(deadline)
                    _report_uncommitted(mirror)
                    events.emit(events.FLOW_STOPPED, flow=self._flow.name)
                    return
                assert failure is not None
                reason = failure
                _end(mirror, failure)
            self._flow.on_change(one_line(reason))
            if monotonic() - started > _HEALTHY_AFTER:
                self._backoff = _FIRST_BACKOFF
            events.emit(events.FLOW_FAILED, flow=self._flow.name, seconds=self._backoff, reason=one_line(reason))
            if self._ordered(self._backoff) is not None:
                return
            self._backoff = min(2 * self._backoff, _LONGEST_BACKOFF)

    def _attend(self, mirror: Mirror) -> tuple[Deadline | None, BaseException | None]:
        """Run the mirror until the order to stop, or its failure."""
        mirror.start()
        self._flow.on_change("")
        events.emit(events.FLOW_STARTED, flow=self._flow.name, connectors=self._flow.connectors)
        while True:
            if (deadline := self._ordered(_FAILURE_LOOK_INTERVAL)) is not None:
                return deadline, None
            if not mirror.failures.empty():
                return None, mirror.failures.get()

    def _ordered(self, seconds: float) -> Deadline | None:
        try:
            return self._orders.get(timeout=seconds)
        except queue.Empty:
            return None


def _end(mirror: Mirror, failure: BaseException) -> None:
    """Stop what is left of a mirror that has failed; invariant D: its tasks are gone, or their lease is over."""
    deadline = Deadline.after(_STOP_TIMEOUT)
    mirror.stop(deadline, commit=commits(failure))
    mirror.join(deadline)


def _report_uncommitted(mirror: Mirror) -> None:
    for partition, offset in sorted(mirror.uncommitted().items()):
        events.emit(events.NOT_COMMITTED, partition=partition, offset=offset)


def supervise(flows: Sequence[SupervisedFlow], host: Host, signals: Signals) -> int:
    """Run the flows until a signal, or until the host fails; return the exit code."""
    threads = [_FlowThread(flow) for flow in flows]
    for thread in threads:
        thread.start()
    host.phase = Phase.RUNNING
    code = _wait(threads, host, signals)
    signals.limit(code)
    host.phase = Phase.STOPPING if code > 128 else Phase.FAILED
    deadline = Deadline.after(signals.shutdown_timeout)
    events.emit(events.SHUTDOWN_STARTED)
    for thread in threads:
        thread.stop(deadline)
    for thread in threads:
        thread.join(deadline.remaining())
    if any(thread.is_alive() for thread in threads):
        events.emit(events.STOP_OVERDUE, seconds=signals.shutdown_timeout, what="a flow that does not come back")
    events.emit(events.CLOSING)
    host.close(Deadline.after(_JVM_TIMEOUT))
    events.emit(events.SHUTDOWN_FINISHED)
    return code


def _wait(threads: Sequence[_FlowThread], host: Host, signals: Signals) -> int:
    while True:
        try:
            return 128 + signals.arrived.get(timeout=_LOOK_INTERVAL)
        except queue.Empty:
            if (error := host.failure()) is not None:
                events.emit(events.STREAM_FAILED, error=error, stream=0, reason=one_line(error))
                return _HOST_FAILED
            if all(thread.refused for thread in threads):
                return _NOTHING_TO_RUN
