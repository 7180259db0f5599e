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


class KeepAlive(threading.Thread):
    """Tells the driver each second that we live, while user code or a distant cluster keeps the engine's own thread."""

    def __init__(self, beat: Callable[[], None]) -> None:
        super().__init__(name="beat", daemon=True)
        self._beat = beat
        self._since: float | None = None
        self.start()

    def __enter__(self) -> None:
        self._since = monotonic()

    def __exit__(self, *_: object) -> None:
        self._since = None

    def run(self) -> None:
        """Run until the channel breaks or the process ends."""
        with suppress(ChannelError):
            while not threading.Event().wait(BEAT_INTERVAL):
                since = self._since
                if since is not None and monotonic() - since > BEAT_INTERVAL:
                    self._beat()


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
