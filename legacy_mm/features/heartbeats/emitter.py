"""Heartbeats: records at the target that show the flow is alive (MirrorMaker 2's MirrorHeartbeatTask).

Each process of a group sends heartbeats. The key is the flow's, so compaction keeps one record, and the flow is alive
while any process is.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from legacy_mm.base.clock import epoch_ms, monotonic
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.clients.topics.internal_topic import OnResult
from legacy_mm.clients.topics.shared_writers import TopicWriter
from legacy_mm.logs import events
from legacy_mm.protocol.mirror_records import Heartbeat

_RETRY_BACKOFF = 10.0


class Heartbeats(threading.Thread):
    """The heartbeats of one flow. The next one is sent only after the last was written, so none pile up."""

    def __init__(
        self,
        source_alias: str,
        target_alias: str,
        interval: float,
        prepare: Callable[[], bool],
        writer: Callable[[OnResult], TopicWriter],
        written: Callable[[float], None],
    ) -> None:
        """Take the aliases and the writer; `interval` is in seconds.

        `prepare` creates the topic, and returns False if the target did not answer. `written` is told the age of each
        heartbeat that the target has, in seconds; infinity: there will be some.
        """
        super().__init__(name="heartbeats", daemon=True)
        self._aliases = source_alias, target_alias
        self._interval = interval
        self._prepare = prepare
        self._make_writer = writer
        self._written = written
        self._sent_at = 0.0
        written(math.inf)
        self._failing = False
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Send no more heartbeats; returns at once."""
        self._stopping.set()

    def run(self) -> None:
        """Create the topic, then send heartbeats."""
        while not self._prepare():
            if self._stopping.wait(_RETRY_BACKOFF):
                return
        try:
            writer = self._make_writer(self._result)
        except LegacyMMError as error:
            events.emit(events.HEARTBEATS_FAILED, reason=error)
            return
        while not self._stopping.wait(self._interval - monotonic() % self._interval):  # all flows at one moment
            if not writer.waiting():
                now, self._sent_at = epoch_ms(), monotonic()
                writer.send(*Heartbeat(*self._aliases, now).encode(), now)
        writer.close()

    def _result(self, _: bytes, reason: str | None) -> None:
        """Log when heartbeats begin to fail, and when they reach the target again."""
        if reason is not None and not self._failing:
            events.emit(events.HEARTBEATS_FAILED, reason=reason)
        elif reason is None and self._failing:
            events.emit(events.HEARTBEATS_RESUMED)
        self._failing = reason is not None
        if reason is None:
            self._written(monotonic() - self._sent_at)
