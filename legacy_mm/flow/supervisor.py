"""Runs the flows of one process: each starts, fails and starts again alone; a signal stops all of them.

A flow has its own thread, because a cluster that is away may hold up its start for a minute.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import ConfigurationError, EndlessCopy, StreamFailure, commits, one_line
from legacy_mm.flow.host import Host
from legacy_mm.flow.lifecycle import Signals, renewed
from legacy_mm.flow.mirror import Mirror
from legacy_mm.logs import events
from legacy_mm.metrics.health import Phase
from legacy_mm.policies.growing_pauses import pause_after

_LOOK_INTERVAL, _FAILURE_LOOK_INTERVAL = 0.2, 1.0
_HEALTHY_AFTER = 600.0
"""A flow that has run so long begins again with the first pause."""
_STOP_TIMEOUT = 30.0
"""The time in which a flow that failed must be gone before it starts again."""
_JVM_TIMEOUT = 3.0
_HOST_FAILED, _NOTHING_TO_RUN = 3, 2


class FlowPhase(Enum):
    """The phase of a flow's life."""

    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class SupervisedFlow:
    """A flow: its name, what it consists of in MirrorMaker 2's words, how it is built and forgotten."""

    name: str
    connectors: str
    build: Callable[[], Mirror]
    on_change: Callable[[FlowPhase, str], None] = field(default=lambda phase, reason: None)
    """Called with the phase once it has begun, when no mirror of the phase before is left, and why the flow failed."""
    on_start: Callable[[Mirror], None] = field(default=lambda mirror: None)
    """Called with each mirror of the flow once it has started."""


class FlowKeeper:
    """Keeps one flow running until it is told to stop, in a thread of its own.

    Whatever its code raises is a failure of this flow: it ends no other one, and is never the flow's silent end.
    """

    def __init__(self, flow: SupervisedFlow, shutdown_timeout: float) -> None:
        """Take the flow; `shutdown_timeout` is the seconds that a mirror may take to stop for its successor."""
        self._flow = flow
        self._shutdown_timeout = shutdown_timeout
        self._thread: threading.Thread | None = None
        self._begin_at = 0.0
        self._orders: queue.SimpleQueue[Deadline | SupervisedFlow] = queue.SimpleQueue()
        self._stop_deadline: Deadline | None = None
        self._next: SupervisedFlow | None = None
        self._repeats = 0
        self._has_run = False
        self.refused = False
        """True once it is clear that the flow can never run as it is configured."""

    def begin(self) -> None:
        """Start the thread unless it has started; where no thread can be made, another call tries again in time."""
        if self._thread is not None or monotonic() < self._begin_at:
            return
        thread = threading.Thread(target=self._run, name=f"flow-{self._flow.name}", daemon=True)
        try:
            thread.start()
        except (RuntimeError, MemoryError) as error:
            self._begin_at = monotonic() + self._report(error)
        else:
            self._thread = thread

    def stop(self, deadline: Deadline) -> None:
        """Stop the flow, with all that was copied committed; returns at once."""
        self._orders.put(deadline)

    def change(self, flow: SupervisedFlow) -> None:
        """Stop the flow, with all that was copied committed, and run this one in its place; returns at once."""
        self._orders.put(flow)

    def join(self, deadline: Deadline) -> bool:
        """Wait until the flow has stopped; return False if it has not by the deadline."""
        if self._thread is None:
            return True
        self._thread.join(deadline.remaining())
        return not self._thread.is_alive()

    def _run(self) -> None:
        """Build, run, and after a failure pause and build again."""
        while not self._is_over():
            self._take_next()
            started = monotonic()
            try:
                self._run_once()
            except EndlessCopy as error:
                self._refuse(error)
            except BaseException as error:  # noqa: BLE001 - said; nothing may end a flow in silence
                if monotonic() - started > _HEALTHY_AFTER:
                    self._repeats = 0
                self._ordered(self._report(error))
            if self.refused:
                self._ordered(None)

    def _is_over(self) -> bool:
        """Return True once the flow is to stop for good; an order that came meanwhile is taken."""
        self._ordered(0.0)
        return self._stop_deadline is not None

    def _take_next(self) -> None:
        if self._next is not None:
            self._flow, self._next = self._next, None
            self._repeats, self._has_run, self.refused = 0, False, False

    def _run_once(self) -> None:
        """Run the flow until an order; raise what it failed of, once what was left of it has ended."""
        if not self._repeats:  # what has failed is failed until it runs
            self._flow.on_change(FlowPhase.STARTING, "")
        try:
            mirror = self._flow.build()
        except ConfigurationError as error:
            if self._has_run:  # the configuration was right: a file of it is missing, or half written, for a moment
                raise
            self._refuse(error)
            return
        try:
            mirror.start()
            self._has_run = True
            self._flow.on_change(FlowPhase.RUNNING, "")
            self._flow.on_start(mirror)
            events.emit(events.FLOW_STARTED, flow=self._flow.name, connectors=self._flow.connectors)
            while not self._ordered(_FAILURE_LOOK_INTERVAL):
                if (failure := mirror.failures.take()) is not None:
                    raise failure
                before = mirror
                mirror = renewed(mirror, self._shutdown_timeout, lambda: not self._orders.empty())
                if mirror is not before:
                    self._flow.on_start(mirror)
            self._stop(mirror)
        except BaseException as error:
            _end(mirror, error)
            raise

    def _stop(self, mirror: Mirror) -> None:
        """Stop it as ordered; where another flow follows, raise StreamFailure if it does not stop in time."""
        deadline = self._stop_deadline or Deadline.after(self._shutdown_timeout)
        mirror.stop(deadline, commit=True)
        is_over = mirror.join(deadline)
        _report_uncommitted(mirror)
        if not is_over and self._next is not None:
            raise StreamFailure(f"not stopped after {self._shutdown_timeout:g} s for a change")
        self._flow.on_change(FlowPhase.STOPPED, "")
        events.emit(events.FLOW_STOPPED, flow=self._flow.name)

    def _refuse(self, error: BaseException) -> None:
        """Say that no later start would do better."""
        events.emit(events.FLOW_REFUSED, flow=self._flow.name, reason=one_line(error))
        self._flow.on_change(FlowPhase.FAILED, one_line(error))
        self.refused = True

    def _report(self, failure: BaseException) -> float:
        """Say that the flow failed; return the seconds until it is to be tried again."""
        seconds, self._repeats = pause_after(self._repeats), self._repeats + 1
        self._flow.on_change(FlowPhase.FAILED, one_line(failure))
        events.emit(events.FLOW_FAILED, flow=self._flow.name, seconds=seconds, reason=one_line(failure))
        return seconds

    def _ordered(self, seconds: float | None) -> bool:
        """Return True if there is an order, for which this waits so long; None: until one comes."""
        if self._stop_deadline is None and (self._next is None or not self._orders.empty()):
            with suppress(queue.Empty):
                order = self._orders.get(timeout=seconds)
                if isinstance(order, Deadline):
                    self._stop_deadline = order
                else:
                    self._next = order
        return self._stop_deadline is not None or self._next is not None


def _end(mirror: Mirror, failure: BaseException) -> None:
    """Stop what is left of a mirror that has failed; invariant D: its tasks are gone, or their lease is over."""
    deadline = Deadline.after(_STOP_TIMEOUT)
    mirror.stop(deadline, commit=commits(failure))
    mirror.join(deadline)


def _report_uncommitted(mirror: Mirror) -> None:
    for partition, offset in sorted(mirror.uncommitted().items()):
        events.emit(events.NOT_COMMITTED, partition=partition, offset=offset)


class Supervisor:
    """The flows of a process, each of which may be added, changed and removed while the others run."""

    def __init__(self, host: Host, signals: Signals, *, outlives_flows: bool = False) -> None:
        """Take what the flows share; a signal stops all of them.

        `outlives_flows`: to have no flow that can run is no end, because somebody may change one or add another.
        """
        self._host = host
        self._signals = signals
        self._outlives_flows = outlives_flows
        self._keepers: list[FlowKeeper] = []
        self._removed: list[FlowKeeper] = []
        self._lock = threading.Lock()

    def add(self, flow: SupervisedFlow) -> FlowKeeper:
        """Keep this flow running too, from the call of `run` on."""
        keeper = FlowKeeper(flow, self._signals.shutdown_timeout)
        with self._lock:
            self._keepers.append(keeper)
        return keeper

    def remove(self, keeper: FlowKeeper) -> None:
        """Stop this flow for good, with all that was copied committed; returns at once."""
        with self._lock:
            self._keepers.remove(keeper)
            self._removed.append(keeper)
        keeper.stop(Deadline.after(self._signals.shutdown_timeout))

    def run(self) -> int:
        """Run the flows until a signal, or until the host fails; return the exit code."""
        host, signals = self._host, self._signals
        self._begin()
        host.phase = Phase.RUNNING
        code = self._wait()
        signals.limit(code)
        host.phase = Phase.STOPPING if code > 128 else Phase.FAILED
        deadline = Deadline.after(signals.shutdown_timeout)
        events.emit(events.SHUTDOWN_STARTED)
        with self._lock:
            keepers = [*self._keepers, *self._removed]
        for keeper in keepers:
            keeper.stop(deadline)
        in_time = [keeper.join(deadline) for keeper in keepers]
        if not all(in_time):
            events.emit(events.STOP_OVERDUE, seconds=signals.shutdown_timeout, what="a flow that does not come back")
        events.emit(events.CLOSING)
        host.close(Deadline.after(_JVM_TIMEOUT))
        events.emit(events.SHUTDOWN_FINISHED)
        return code

    def _begin(self) -> bool:
        """Begin the flows that have not begun; return True if one of them may run, or may come."""
        with self._lock:
            keepers = list(self._keepers)
            self._removed = [each for each in self._removed if not each.join(Deadline.after(0))]
        for keeper in keepers:
            keeper.begin()
        return self._outlives_flows or not all(keeper.refused for keeper in keepers)

    def _wait(self) -> int:
        while True:
            try:
                return 128 + self._signals.arrived.get(timeout=_LOOK_INTERVAL)
            except queue.Empty:
                if (error := self._host.failure()) is not None:
                    events.emit(events.HOST_FAILED, error=error, reason=one_line(error))
                    return _HOST_FAILED
                if not self._begin():
                    return _NOTHING_TO_RUN
