"""The account of a copy job: what is under way, what is safe, what was measured, and what the driver is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from legacy_mm.base.model import Offsets
from legacy_mm.base.reports import Frame, Progress
from legacy_mm.clients.produce.appender import Acknowledged
from legacy_mm.dataplane.acks import Pieces, SafeOffsets
from legacy_mm.dataplane.copy_ends import CopyEnds
from legacy_mm.dataplane.copy_measures import CopyMeasures
from legacy_mm.dataplane.delivery import SendFrame
from legacy_mm.dataplane.empty_copies import Copying, EmptyCopies
from legacy_mm.dataplane.keep_alive import KeepAlive, ReportTimes
from legacy_mm.dataplane.one_cluster import OneCluster
from legacy_mm.dataplane.refused_batches import Aside
from legacy_mm.runtime.channel.frames import TaskConfig


class CopyBook:
    """The account of one copy job. For the engine's thread."""

    def __init__(
        self, config: TaskConfig, ends: CopyEnds, send: SendFrame, beat: KeepAlive, times: ReportTimes
    ) -> None:
        """Take the clients, what sends frames to the driver, and when it does. `beat` watches long questions."""
        self.send = send
        self.times = times
        self.safe = SafeOffsets()
        self.measures = CopyMeasures(config, ends.router)
        self.pieces = Pieces(self.safe, self.measures.tally)
        ends.read.first_missing = self.pieces.first_missing
        self._ends = ends
        handled, begin = config.handler is not None, ends.read.log_begin
        copying = Copying(config.names, config.offsets, self.safe.safe, begin, handled, config.begins_unseen)
        self.empty_copies = EmptyCopies(copying, ends.clusters, beat)
        self._one_cluster = OneCluster({} if handled else config.names, ends.clusters, beat)

    def count(self, acknowledged: Acknowledged) -> None:
        """Count a batch that the target has, for good."""
        part, base_offset = acknowledged
        if not isinstance(part, Aside):
            self.empty_copies.acknowledged(part, base_offset)
            self.measures.acknowledged(part, base_offset)
            self._one_cluster.acknowledged(part, base_offset)
        self.pieces.acknowledged(part.piece)

    def send_progress(self, progress: Callable[[Offsets], Progress], dropped: Mapping[str, int]) -> None:
        """Tell the driver what has become safe; `progress` makes the frame of it. `dropped`: reason -> records."""
        self.times.sent()
        self._one_cluster.tell()
        for frame in self.measures.frames(dropped):
            self.send(frame)
        self.send(progress(self.safe.take_moved()))

    def send_statistics(self, *, last: bool = False) -> None:
        """Tell the driver the numbers of the clients and of the copying, each when it is due, and the `last` ones."""
        read = self._ends.read.statistics_when_due(last=last)
        written = self._ends.written.statistics_when_due(last=last)
        copied = self.measures.statistics_when_due(self.safe.safe(), last=last)
        found: tuple[Frame | None, ...] = (read, written, copied)
        for statistics in filter(None, found):
            self.send(statistics)
