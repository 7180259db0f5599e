"""Receipts: for each commit one JSON line per partition, and a summary at the end.

A line is written when the group's coordinator has the offset, so its records are at the target *and* will not be copied
again. Values that an engine does not know are named in `absent`. Dropped records are counted per stream, not per
partition. A file that cannot be written any more is reported once and holds up nothing.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from legacy_mm.base.clock import epoch_ms
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import Portion
from legacy_mm.base.settings import ReceiptSettings
from legacy_mm.logs import events
from legacy_mm.runtime.channel.frames import Copied

STDOUT = "-"
_KEPT = 5
_MODE = 0o600
_ABSENT = ["target", "crc32c"]
"""The values that no engine tells of a partition."""


class Receipts:
    """The file, for all streams of the process. Raises HostError if it cannot be opened."""

    def __init__(self, settings: ReceiptSettings) -> None:
        self._path = None if settings.path == STDOUT else Path(settings.path)
        self._max_bytes = settings.max_bytes
        self._lock = threading.Lock()
        self._failed = False
        self._totals: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        try:
            self._out = self._open()
        except OSError as error:
            raise HostError(f"--receipts {settings.path} cannot be written: {error.strerror}") from error

    def of_stream(self, flow: str, stream: int) -> StreamReceipts:
        """Return the receipts of one stream."""
        return StreamReceipts(self, flow, stream)

    def commit(self, who: Mapping[str, object], portion: Portion) -> None:
        """Write the line of a portion that is copied and committed."""
        self._totals.update(lines=1, records=portion.records, bytes=portion.bytes)
        source = [portion.begin, portion.end]
        counted = {"records": portion.records, "bytes": portion.bytes, "absent": _ABSENT}
        place = {"topic": portion.topic, "partition": portion.partition}
        self._write({"receipt": "commit", **who, **place, "source": source, **counted})

    def dropped(self, who: Mapping[str, object], reasons: Mapping[str, int]) -> None:
        """Write the line of records that could not be sent and were skipped."""
        self._dropped.update(reasons)
        self._write({"receipt": "dropped", **who, "reasons": dict(reasons)})

    def close(self) -> None:
        """Write the summary and close the file."""
        names = ("lines", "records", "bytes")
        totals = {name: self._totals[name] for name in names}
        self._write({"receipt": "summary", **totals, "dropped": dict(self._dropped)})
        if self._path is not None:
            with suppress(OSError):
                self._out.close()

    def _write(self, row: Mapping[str, object]) -> None:
        line = json.dumps({**row, "time": epoch_ms()}, separators=(",", ":")) + "\n"
        with self._lock:
            try:
                if self._path is not None:
                    self._prepare(self._path)
                self._out.write(line)
                self._out.flush()
            except (OSError, ValueError) as error:
                if not self._failed:
                    self._failed = True
                    events.emit(events.RECEIPTS_FAILED, reason=error)

    def _open(self) -> IO[str]:
        if self._path is None:
            return sys.stdout
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _MODE)
        os.fchmod(descriptor, _MODE)
        return os.fdopen(descriptor, "a", encoding="utf-8")

    def _prepare(self, path: Path) -> None:
        """Recreate the file if another program removed it, and rotate it when it is full."""
        if not os.fstat(self._out.fileno()).st_nlink:
            self._out.close()
            path.parent.mkdir(parents=True, exist_ok=True)
            self._out = self._open()
        if 0 < self._max_bytes <= self._out.tell():
            self._rotate(path)

    def _rotate(self, path: Path) -> None:
        self._out.close()
        for number in range(_KEPT - 1, 0, -1):
            with suppress(FileNotFoundError):
                Path(f"{path}.{number}").replace(f"{path}.{number + 1}")
        path.replace(f"{path}.1")
        self._out = self._open()


class StreamReceipts:
    """Records that one stream copied and has not committed yet. Used on the stream's thread only."""

    def __init__(self, receipts: Receipts, flow: str, stream: int) -> None:
        self._receipts = receipts
        self._who = {"flow": flow, "stream": stream}
        self._copied: defaultdict[TopicPartition, list[Portion]] = defaultdict(list)
        self._dropped: Counter[str] = Counter()

    def started(self, offsets: Offsets) -> None:
        """Drop portions beyond the offsets where copying starts: they will be copied again."""
        for partition, offset in offsets.items():
            self._copied[partition] = [portion for portion in self._copied[partition] if portion.end <= offset]

    def released(self, partitions: Iterable[TopicPartition]) -> None:
        """Drop portions of partitions that were lost before a commit: another member copies them again."""
        for partition in partitions:
            self._copied.pop(partition, None)

    def copied(self, frame: Copied) -> None:
        """Take the portions that are safe."""
        for portion in frame.portions:
            self._copied[TopicPartition(portion.topic, portion.partition)].append(portion)
        self._dropped.update(frame.dropped)

    def committed(self, offsets: Offsets) -> None:
        """Write receipts up to the offsets that the coordinator has."""
        for partition, offset in sorted(offsets.items()):
            portions = self._copied.pop(partition, [])
            later = [portion for portion in portions if portion.end > offset]
            if later:
                self._copied[partition] = later
            if done := portions[: len(portions) - len(later)]:
                self._receipts.commit(self._who, _joined(done))
        if self._dropped:
            self._receipts.dropped(self._who, self._dropped)
            self._dropped.clear()


def _joined(portions: list[Portion]) -> Portion:
    first, last = portions[0], portions[-1]
    records, size = (sum(column) for column in zip(*((each.records, each.bytes) for each in portions), strict=True))
    return first._replace(end=last.end, records=records, bytes=size)
