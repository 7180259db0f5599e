"""Reports of one copy task: told to whom they concern as they come, or kept for the stream's thread to take.

They arrive on the channel's thread, and the stream's thread takes them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import CopiedRun, Frame, Gap, Progress, Started, Statistics
from legacy_mm.logs import events
from legacy_mm.metrics.registry import StreamMetrics
from legacy_mm.runtime.channel.frames import Copied, Exit, Log, MarkAsked, OwnershipAsked, Pairs, Stopped


class PairSink(Protocol):
    """Receiver of offset pairs. Called on the channel's thread or the stream's; must not block.

    A protocol, because the feature that has it is a sibling of this package.
    """

    def started(self, offsets: Offsets) -> None:
        """Note that this process copies these partitions from these offsets; called again after a gap."""

    def copied(self, runs: Sequence[CopiedRun]) -> None:
        """Receive acknowledged records."""

    def ended(self, partitions: Collection[TopicPartition]) -> None:
        """Note that this process does not copy these partitions any more."""


class TaskReports:
    """Keeps what the task of one copy job has reported until somebody takes it."""

    def __init__(
        self,
        metrics: StreamMetrics,
        pairs: PairSink | None = None,
        on_exit: Callable[[int], None] = lambda code: None,
    ) -> None:
        """Take who is told at once; `on_exit` is called with the code when the message handler ends the program."""
        self.unacknowledged: dict[TopicPartition, int] = {}
        """The offsets that the task had reached by sending when it stopped, if the target did not acknowledge them."""
        self._metrics = metrics
        self._pairs = pairs
        self._on_exit = on_exit
        self._lock = threading.Lock()
        self._safe: dict[TopicPartition, int] = {}
        self._started: list[Started] = []
        self._gaps: list[Gap] = []
        self._asked: list[int] = []
        self._unmarked: dict[TopicPartition, int] = {}
        self._copied: list[Copied] = []

    # --- called by the channel's thread

    def received(self, frame: Frame) -> None:
        """Process a report of the task."""
        match frame:
            case Log():
                events.emit_forwarded(frame.event, frame.fields)
            case Exit():
                self._on_exit(frame.code)
            case Statistics():
                self._metrics.statistics(frame)
            case Progress():
                self._metrics.progress(frame)
            case Started() if self._pairs is not None:
                self._pairs.started(frame.offsets)
            case Pairs() if self._pairs is not None:
                self._pairs.copied(frame.runs)
        with self._lock:
            self._keep(frame)

    def _keep(self, frame: Frame) -> None:
        match frame:
            case Progress():
                self._safe |= frame.offsets
            case Started():
                self._started.append(frame)
            case Gap():
                self._gaps.append(frame)
            case OwnershipAsked():
                self._asked += frame.bundles
            case MarkAsked():
                self._unmarked |= frame.offsets
            case Copied():
                self._copied.append(frame)
            case Stopped():
                self.unacknowledged = dict(frame.offsets)

    # --- called by the stream's thread

    def take_started(self) -> list[Started]:
        """Return the actual start offsets reported since the last call, also after gaps."""
        with self._lock:
            started, self._started = self._started, []
            return started

    def take_gaps(self) -> list[Gap]:
        """Return the gaps that wait for an answer."""
        with self._lock:
            gaps, self._gaps = self._gaps, []
            return gaps

    def take_asked(self) -> list[int]:
        """Return the bundles for which the task asks whether the group's generation holds them."""
        with self._lock:
            asked, self._asked = self._asked, []
            return asked

    def take_unmarked(self) -> dict[TopicPartition, int]:
        """Return the offsets that the group must have from exactly once before these partitions are read."""
        with self._lock:
            unmarked, self._unmarked = self._unmarked, {}
            return unmarked

    def take_copied(self) -> list[Copied]:
        """Return the content of receipts reported since the last call."""
        with self._lock:
            copied, self._copied = self._copied, []
            return copied

    def take_safe(self) -> dict[TopicPartition, int]:
        """Return the safe offsets that moved since the last call."""
        with self._lock:
            safe, self._safe = self._safe, {}
            return safe

    def end(self, partitions: Collection[TopicPartition]) -> None:
        """Tell those who are told at once that the copying of these partitions is over."""
        self._metrics.copy_ended()
        if self._pairs is not None:
            self._pairs.ended(partitions)
