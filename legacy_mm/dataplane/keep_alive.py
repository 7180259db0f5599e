"""Long waits of an engine's own thread, and the heartbeats that tell the driver meanwhile that the task lives.

`ReportTimes` says when a task reports otherwise.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from math import inf
from typing import TypeVar

from legacy_mm.base.clock import Deadline, monotonic, sleep
from legacy_mm.base.errors import ChannelError
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.runtime.channel.frames import BEAT_INTERVAL

T = TypeVar("T")
_IDLE_BEATS = 10
IDLE_INTERVAL = 2.5
"""The driver gives up a task that says nothing for 10 s."""


class KeepAlive:
    """Tells the driver each second that we live, while user code or a distant cluster keeps the engine's own thread.

    One thread of the process does that for all engines. It starts with the first such call, and forgets an engine that
    made none for a while.
    """

    def __init__(self, beat: Callable[[], None]) -> None:
        self._beat = beat
        self._since: float | None = None
        self._idle = 0
        self._is_watched = False
        self._starting = threading.Lock()

    def __enter__(self) -> None:
        self._since = monotonic()
        if not self._is_watched and self._is_to_watch():
            _BEATS.add(self)

    def __exit__(self, *_: object) -> None:
        self._since = None

    def _is_to_watch(self) -> bool:
        """Return True to one caller at a time while it is not watched."""
        with self._starting:
            watched, self._is_watched = self._is_watched, True
            return not watched

    def poll(self) -> bool:
        """Report a call that takes long; return False if this is to be forgotten. Called each second."""
        since = self._since
        self._idle = self._idle + 1 if since is None else 0
        if since is not None and monotonic() - since > BEAT_INTERVAL:
            try:
                self._beat()
            except ChannelError:
                return False
            except Exception:  # noqa: BLE001 - one engine's fault must not silence the others
                sys.excepthook(*sys.exc_info())
                return False
        return self._idle < _IDLE_BEATS or not self._ends()

    def _ends(self) -> bool:
        """Let the next call be watched anew; return False if one has begun before that."""
        self._is_watched = False
        return self._since is None or not self._is_to_watch()


class _Beats:
    """The thread that tends the engines' long calls; it lives as long as there are some."""

    def __init__(self) -> None:
        self._watched: list[KeepAlive] = []
        self._lock = threading.Lock()

    def add(self, engine: KeepAlive) -> None:
        """Look after this one until it says that it is to be forgotten."""
        with self._lock:
            self._watched.append(engine)
            if len(self._watched) == 1:
                threading.Thread(target=self._run, name="beat", daemon=True).start()

    def _run(self) -> None:
        while True:
            sleep(BEAT_INTERVAL)
            with self._lock:
                watched = list(self._watched)
            over = [engine for engine in watched if not engine.poll()]
            with self._lock:
                for engine in over:
                    self._watched.remove(engine)  # once: it may be watched anew already
                if not self._watched:
                    return


_BEATS = _Beats()


class RetryLoop:
    """Asks a cluster until it answers, or until a stop."""

    def __init__(self, stopping: threading.Event, beat: KeepAlive, meanwhile: Callable[[], None]) -> None:
        """Create the loop; `meanwhile` is called between two tries."""
        self._stopping = stopping
        self._beat = beat
        self._meanwhile = meanwhile

    def ask(self, question: Callable[[], T], seconds: float = inf, *, at_least_once: bool = False) -> T | None:
        """Return the cluster's answer within this time; None when stopping. Raise the error of the last try."""
        deadline = Deadline.after(seconds)
        while at_least_once or not self._stopping.is_set():
            at_least_once = False
            try:
                with self._beat:
                    return question()
            except (ConnectionLost, ClusterUnreachable):
                if deadline.expired():
                    raise
                self._meanwhile()
        return None


class ReportTimes:
    """The time of the next report."""

    def __init__(self, interval: float, poll: float, is_idle: Callable[[], bool]) -> None:
        """Take the seconds between reports while there is work, and between two looks at it."""
        self.interval = interval
        self.next_at = monotonic()
        self.rests = False
        """True while the engine's thread waits for news alone: who has some must wake it."""
        self._poll = poll
        self._is_idle = is_idle

    def due(self) -> bool:
        """Return True if a report is due."""
        return monotonic() >= self.next_at

    def sent(self) -> None:
        """Note that a report is sent now."""
        self.next_at = monotonic() + (IDLE_INTERVAL if self._is_idle() else self.interval)

    def soon(self) -> bool:
        """Note that there is something to report; return True if the engine's thread must be woken for it."""
        self.next_at = min(self.next_at, monotonic() + self.interval)
        return self.rests

    def pause(self) -> float:
        """Return how long nothing needs the engine's thread unless something comes."""
        self.rests = self._is_idle()
        return max(0.0, self.next_at - monotonic()) if self.rests else self._poll
