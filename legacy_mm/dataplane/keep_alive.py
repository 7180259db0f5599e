"""Long waits of an engine's own thread, and the heartbeats that tell the driver meanwhile that the task lives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TypeVar

from legacy_mm.clients.native.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clock import Deadline, monotonic
from legacy_mm.control_channel.frames import BEAT_INTERVAL
from legacy_mm.errors import ChannelError

T = TypeVar("T")
_IDLE_BEATS = 10


class KeepAlive:
    """Tells the driver each second that we live, while user code or a distant cluster keeps the engine's own thread.

    A thread does that. It starts with the first such call, and ends when there was none for a while.
    """

    def __init__(self, beat: Callable[[], None]) -> None:
        self._beat = beat
        self._since: float | None = None
        self._runs = False
        self._starting = threading.Lock()

    def __enter__(self) -> None:
        self._since = monotonic()
        if not self._runs and self._is_to_run():
            threading.Thread(target=self._run, name="beat", daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._since = None

    def _is_to_run(self) -> bool:
        """Return True to one caller at a time while no thread runs."""
        with self._starting:
            runs, self._runs = self._runs, True
            return not runs

    def _run(self) -> None:
        idle = 0
        with suppress(ChannelError):
            while idle < _IDLE_BEATS or not self._ends():
                threading.Event().wait(BEAT_INTERVAL)
                since = self._since
                idle = idle + 1 if since is None else 0
                if since is not None and monotonic() - since > BEAT_INTERVAL:
                    self._beat()

    def _ends(self) -> bool:
        """Let the next call start a thread; return False if one has begun before that."""
        self._runs = False
        return self._since is None or not self._is_to_run()


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
