"""Start, wait and stop of a run: signals, the one deadline, and the exit code.

Only the main process reacts to signals; the handlers only note the number. The main thread owns the deadline: wherever
a stream is stuck, the process ends at most `_GRACE_TIMEOUT` after it. If the main thread itself is stuck (a start that
hangs, a log pipe without a reader), another thread ends the process `_OVERDUE_TIMEOUT` after the deadline. The JVM and
the workers' daemon then end too, because their standard input closes.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING

from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.errors import LegacyMMError, StreamFailure, commits
from legacy_mm.logs import events
from legacy_mm.metrics.health import Phase

if TYPE_CHECKING:
    from legacy_mm.flow.host import Host
    from legacy_mm.flow.mirror import Mirror

_LOOK_INTERVAL = 0.2
_STOP_LOOK_INTERVAL = 0.05
_JVM_TIMEOUT = 3.0
_GRACE_TIMEOUT = 1.0
_OVERDUE_TIMEOUT = 1.8
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Signals:
    """The first of TERM, INT, HUP that arrives; one that was ignored when we started stays ignored (nohup).

    A signal during the start waits until the start is over, for an orderly stop, but no longer than a stop may take.
    """

    def __init__(self, shutdown_timeout: float, end: Callable[[int], object] = os._exit) -> None:
        """Install the handlers; `end` is called with the exit code when the process has not ended in time."""
        self.arrived: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.shutdown_timeout = shutdown_timeout
        self._codes: queue.SimpleQueue[int] = queue.SimpleQueue()
        threading.Thread(target=self._end_overdue, args=(end,), name="stop-deadline", daemon=True).start()
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def _note(self, number: int, _: FrameType | None) -> None:
        self.arrived.put(number)
        self.limit(128 + number)

    def limit(self, code: int) -> None:
        """Limit the time in which the process must end with this code: the first call starts the shutdown timeout."""
        self._codes.put(code)

    def _end_overdue(self, end: Callable[[int], object]) -> None:
        code = self._codes.get()
        sleep(self.shutdown_timeout + _OVERDUE_TIMEOUT)
        end(code)


@dataclass(frozen=True, slots=True)
class CleanStop:
    """A stop that commits."""

    code: int
    by_handler: bool = False
    """True if the message handler ends the program, False if a signal does."""


def run(mirrors: list[Mirror], host: Host, signals: Signals) -> int:
    """Run the mirrors until a signal, a failure of any, or the handler's end; return the legacy tool's exit code.

    Where one takes the place of another, it does so in the list.
    """
    shutdown_timeout = signals.shutdown_timeout
    for mirror in mirrors:
        _start(mirror)
    host.phase = Phase.RUNNING
    ending = _wait(mirrors, host, signals)
    code = _exit_code(ending)
    signals.limit(code)
    host.phase = Phase.STOPPING if isinstance(ending, CleanStop) else Phase.FAILED
    deadline = Deadline.after(shutdown_timeout)
    commit = isinstance(ending, CleanStop) or commits(ending)
    events.emit(events.SHUTDOWN_STARTED)
    events.emit(events.STREAMS_STOPPING)
    for mirror in mirrors:
        mirror.stop(deadline, commit=commit)
    in_time = [mirror.join(deadline) for mirror in mirrors]
    complete = all(in_time)
    if commit:
        _report_uncommitted(mirrors)
        while isinstance(ending, CleanStop) and ending.by_handler and not host.exits.empty():
            code = host.exits.get()  # Java reports it only when it has ended
    if not complete:
        events.emit(events.STOP_OVERDUE, seconds=shutdown_timeout, what="a stream that does not come back")
    events.emit(events.CLOSING)
    host.close(Deadline.after(_JVM_TIMEOUT if complete else _GRACE_TIMEOUT))
    events.emit(events.SHUTDOWN_FINISHED)
    return code


def _exit_code(ending: CleanStop | BaseException) -> int:
    if isinstance(ending, CleanStop):
        return ending.code
    return ending.exit_code if isinstance(ending, LegacyMMError) else StreamFailure.exit_code


def _wait(mirrors: list[Mirror], host: Host, signals: Signals) -> CleanStop | BaseException:
    """Wait until a signal, a failure or the handler's end.

    Meanwhile each mirror whose key stores have changed is replaced by its successor.
    """
    while True:
        try:
            return CleanStop(128 + signals.arrived.get(timeout=_LOOK_INTERVAL))
        except queue.Empty:
            _bury_orphans(host.spark.jvm.pid)
            if not host.exits.empty():
                return CleanStop(host.exits.get(), by_handler=True)
            for mirror in mirrors:
                if (failure := mirror.failures.take()) is not None:
                    return failure
            if (error := host.failure()) is not None:
                mirrors[0].failures.failed_outside(error)
                return error
            for place, mirror in enumerate(mirrors):
                mirrors[place] = renewed(mirror, signals.shutdown_timeout, lambda: not signals.arrived.empty())
                mirrors[place].keep_to_orders()


def renewed(mirror: Mirror, shutdown_timeout: float, is_interrupted: Callable[[], bool]) -> Mirror:
    """Return the mirror that runs from now on: its successor if its key stores have changed, else the same one.

    A mirror that is replaced stops as by a signal, with all that was copied committed, within `shutdown_timeout`
    seconds. `is_interrupted` returns True once the caller wants to stop: then, and after a failure, which is in
    `failures` of what is returned, nothing new begins.
    """
    make = mirror.successor()
    if make is None or not _make_room(mirror, shutdown_timeout, is_interrupted):
        return mirror
    try:
        successor = make()
    except Exception as error:  # noqa: BLE001 - reported; nothing may end a mirror in silence
        mirror.failures.failed_outside(error)
        return mirror
    successor.orders = mirror.orders
    _start(successor)
    mirror.orders.replaced(make)
    successor.keep_to_orders()
    return successor


def _make_room(mirror: Mirror, seconds: float, is_interrupted: Callable[[], bool]) -> bool:
    """Stop the mirror as a signal does, with all that was copied committed; return False if it must not be replaced."""
    deadline = Deadline.after(seconds)
    mirror.stop(deadline, commit=True)
    while not mirror.stopped() and not deadline.expired():
        if is_interrupted():
            return False
        sleep(_STOP_LOOK_INTERVAL)
    if not mirror.join(deadline):
        mirror.failures.failed_outside(StreamFailure(f"not stopped after {seconds:g} s for new key stores"))
    _report_uncommitted([mirror])
    return mirror.failures.are_none() and not is_interrupted()


def _start(mirror: Mirror) -> None:
    """Start the mirror; what stands in the way, such as threads that cannot be made, is a failure of it."""
    try:
        mirror.start()
    except Exception as error:  # noqa: BLE001 - reported; the others still stop in order
        mirror.failures.failed_outside(error)


def _bury_orphans(jvm: int) -> None:
    """Reap orphans: as PID 1 of a container we inherit the children of processes that ended."""
    if os.getpid() != 1:
        return
    with suppress(ChildProcessError):
        while (child := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) and child.si_pid != jvm:
            os.waitpid(child.si_pid, 0)


def _report_uncommitted(mirrors: Sequence[Mirror]) -> None:
    for mirror in mirrors:
        for partition, offset in sorted(mirror.uncommitted().items()):
            events.emit(events.NOT_COMMITTED, partition=partition, offset=offset)
