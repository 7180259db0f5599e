"""Heartbeats: a record at the target says again and again that the flow is alive (MirrorMaker 2's MirrorHeartbeatTask).

Each process of a group beats: the key is the flow's, so compaction keeps one record, and the flow is alive while any of
them is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from legacy_mm import events
from legacy_mm.clock import epoch_ms
from legacy_mm.errors import LegacyMMError
from legacy_mm.kafka.internal_topic import InternalTopicWriter, OnResult
from legacy_mm.protocol.mirror_records import Heartbeat

_AGAIN_SECONDS = 10.0


class Heartbeats(threading.Thread):
    """The heartbeats of one flow. One that is not written yet keeps the next one back, so none pile up."""

    def __init__(
        self,
        source_alias: str,
        target_alias: str,
        interval: float,
        prepare: Callable[[], bool],
        writer: Callable[[OnResult], InternalTopicWriter],
    ) -> None:
        """`prepare` sees to the topic and tells, by False, that the target did not answer. `interval`: seconds."""
        super().__init__(name="heartbeats", daemon=True)
        self._aliases = source_alias, target_alias
        self._interval = interval
        self._prepare = prepare
        self._make_writer = writer
        self._failing = False
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Beat no more; returns at once."""
        self._stopping.set()

    def run(self) -> None:
        """See to the topic, then wait and beat."""
        while not self._prepare():
            if self._stopping.wait(_AGAIN_SECONDS):
                return
        try:
            writer = self._make_writer(self._result)
        except LegacyMMError as error:
            events.emit(events.HEARTBEATS_FAILED, reason=error)
            return
        while not self._stopping.wait(self._interval):
            if not writer.waiting():
                now = epoch_ms()
                writer.send(*Heartbeat(*self._aliases, now).encode(), now)
        writer.close()

    def _result(self, _: bytes, reason: str | None) -> None:
        """Say when heartbeats begin to fail, and when they come through again."""
        if reason is not None and not self._failing:
            events.emit(events.HEARTBEATS_FAILED, reason=reason)
        elif reason is None and self._failing:
            events.emit(events.HEARTBEATS_RESUMED)
        self._failing = reason is not None
