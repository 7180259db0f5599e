"""Hold what the copy tasks of one process share: threads that hear the driver and watch leases, memory, and its end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from legacy_mm.base.socket_reader import SocketReader
from legacy_mm.clients.net.buffer_pool import Buffers
from legacy_mm.runtime.channel.frames import BEAT_INTERVAL


class Leased(Protocol):
    """A task that may write for as long as its lease lasts."""

    over: threading.Event
    """Set when the task has said its last word."""

    def check_lease(self) -> None:
        """End the process if the lease is over and the last word is not said."""


class TaskProcess:
    """The process of one copy task, or of several."""

    def __init__(self) -> None:
        self.reader = SocketReader("channel")
        self.buffers = Buffers()
        self._tasks: list[Leased] = []
        self._end: Callable[[], None] | None = None
        self._lock = threading.Lock()
        threading.Thread(target=self._watch_leases, name="leases", daemon=True).start()

    def watch_lease(self, task: Leased) -> None:
        """Watch the lease of this task until its last word."""
        with self._lock:
            self._tasks.append(task)

    def after_the_last_task(self, end: Callable[[], None]) -> None:
        """Call this once all tasks of the process have said their last word. From any thread."""
        self._end = end

    def _watch_leases(self) -> None:
        never = threading.Event()
        while not never.wait(BEAT_INTERVAL / 4):
            with self._lock:
                self._tasks = [task for task in self._tasks if not task.over.is_set()]
                tasks = list(self._tasks)
            if self._end is not None and not tasks:
                self._end()
            for task in tasks:
                task.check_lease()
