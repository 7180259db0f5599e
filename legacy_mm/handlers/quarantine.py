"""The quarantine of records that a handler fails on or the target refuses: a topic, or a file that only its owner can
read; and the way back.

A quarantined record keeps key, value, timestamp and headers, and has four more headers with the reason and its origin.
In a file each line is one record: JSON, bytes as base64.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import NamedTuple, Protocol

from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.settings import QuarantineSettings
from legacy_mm.handlers import line_file
from legacy_mm.handlers.api import Headers, Record, TargetRecord

_PREFIX = "legacy_mm.quarantine."
_ERROR, _TOPIC, _PARTITION, _OFFSET = (f"{_PREFIX}{name}" for name in ("error", "topic", "partition", "offset"))


class Quarantine(Protocol):
    """Takes records in."""

    def put(self, record: Record, error: str) -> list[TargetRecord]:
        """Put the record aside and return the records to send for it; when they are acknowledged it is safe."""


class QuarantineTopic:
    """A topic at the target."""

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def put(self, record: Record, error: str) -> list[TargetRecord]:
        """Return the record for the quarantine topic."""
        return [record.to(self._topic)._replace(headers=(*record.headers, *_position(record, error)))]


class QuarantineFile:
    """A file, made with mode 0600 when the first record comes; each line is on the disk before the next record."""

    def __init__(self, path: str) -> None:
        self._path = path

    def put(self, record: Record, error: str) -> list[TargetRecord]:
        """Write it; there is nothing to send. Raises HostError when it cannot be kept."""
        line = json.dumps(
            {
                "timestamp_type": record.timestamp_type,
                "timestamp": record.timestamp,
                "key": _text(record.key),
                "value": _text(record.value),
                "headers": [(name, _text(value)) for name, value in (*record.headers, *_position(record, error))],
            }
        )
        try:
            line_file.append(Path(self._path), line.encode())
        except OSError as error:
            raise HostError(f"the quarantine {self._path} cannot be written: {error.strerror}") from error
        return []


def quarantine_of(settings: QuarantineSettings) -> Quarantine:
    """Return the first place for quarantined records."""
    return QuarantineFile(settings.file) if settings.topic is None else QuarantineTopic(settings.topic)


class FileContents(NamedTuple):
    """The readable content of a quarantine file."""

    records: list[Record]
    """The records as they were at the source."""
    torn: list[int]
    """The numbers of the lines that are no quarantined records."""


def read_file(path: Path) -> FileContents:
    """Read the whole file; raise ConfigurationError when it cannot be read, or no line of it is a quarantined
    record.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from None
    found = FileContents([], [])
    for number, line in enumerate(lines, 1):
        try:
            found.records.append(_record(line))
        except (ValueError, KeyError, TypeError, RecursionError, ConfigurationError):
            found.torn.append(number)
    if found.torn and not found.records:
        raise ConfigurationError(f"{path} holds no quarantined record")
    return found


def _record(line: bytes) -> Record:
    row = json.loads(line)
    headers = tuple((name, _bytes(value)) for name, value in row["headers"])
    return released(
        Record("", 0, 0, row["timestamp_type"], row["timestamp"], _bytes(row["key"]), _bytes(row["value"]), headers)
    )


def released(record: Record) -> Record:
    """Restore a quarantined record as it was at the source; raise ConfigurationError for any other."""
    found = {name: value or b"" for name, value in record.headers if name.startswith(_PREFIX)}
    try:
        return record._replace(
            topic=found[_TOPIC].decode(),
            partition=int(found[_PARTITION]),
            offset=int(found[_OFFSET]),
            headers=tuple(pair for pair in record.headers if not pair[0].startswith(_PREFIX)),
        )
    except (KeyError, ValueError):
        raise ConfigurationError(f"{record.topic}-{record.partition} at {record.offset}: not quarantined") from None


def _position(record: Record, error: str) -> Headers:
    return (
        (_ERROR, error.encode(errors="replace")),
        (_TOPIC, record.topic.encode()),
        (_PARTITION, b"%d" % record.partition),
        (_OFFSET, b"%d" % record.offset),
    )


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)
