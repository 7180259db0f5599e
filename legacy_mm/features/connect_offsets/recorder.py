"""Writes what a flow has committed into MirrorMaker 2's topic of offsets, in Kafka Connect's format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from legacy_mm.clock import Deadline
from legacy_mm.features.connect_offsets.connect_offset_settings import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.connect_start import MARK
from legacy_mm.model import Offsets
from legacy_mm.protocol.connect_offsets import Connector, key_of, value_of
from legacy_mm.protocol.records import murmur2

_POSITIVE = 0x7FFFFFFF


class Writer(Protocol):
    """A writer of records to one topic."""

    def send(
        self, key: bytes, value: bytes, timestamp: int | None = None, *, partition: int = 0, mark: str = ""
    ) -> bool:
        """Queue a record; return False if there is no room for it."""

    def flush(self, deadline: Deadline) -> bool:
        """Wait for what is queued; return True when nothing is."""


class ConnectOffsetRecorder:
    """The offsets of one flow in the topic. Any thread may call it."""

    def __init__(self, settings: ConnectOffsetSettings, writer: Callable[[], Writer]) -> None:
        """Take the topic; the writer is made when the first offset comes."""
        self._settings = settings
        self._connector = Connector(settings.connector, settings.cluster)
        self._make_writer = writer
        self._writer: Writer | None = None

    def committed(self, offsets: Offsets) -> None:
        """Write these offsets, each the next record to copy, as the last record that was copied; returns at once."""
        self._writer = self._writer or self._make_writer()
        for place, offset in offsets.items():
            if offset > 0:
                key = key_of(self._connector, place)
                partition = (murmur2(key) & _POSITIVE) % self._settings.partitions
                self._writer.send(key, value_of(offset - 1), partition=partition, mark=MARK)

    def start(self) -> None:
        """Do nothing: the first commit starts the writer."""

    def stop(self) -> None:
        """Do nothing: the last commits come later."""

    def finish(self, deadline: Deadline) -> None:
        """Wait until what was committed is written."""
        if self._writer is not None:
            self._writer.flush(deadline)
