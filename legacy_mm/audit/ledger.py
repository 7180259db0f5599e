"""The ledger: every record that a source acknowledged, and the file that keeps it. Rule: a line is written after the
acknowledgement, never before.

The file is JSON lines. The first names run and topic; `{"reserved": n}` says which numbers were given out, used or
not; a record is `[sequence, partition, offset, checksum, timestamp, [[header, hex], ...]]`. A record carries its
identity at the beginning of its value, so it is known again wherever it arrives. In memory it costs 27 bytes.
"""

from __future__ import annotations

import json
import uuid
import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

from legacy_mm.audit.record_comparison import ObservedHeaders
from legacy_mm.base.errors import HostError

VERSION = 1
_MARK = b"ledger"
_NOT_ACKNOWLEDGED = -1


class LedgerEntry(NamedTuple):
    """A record as the source acknowledged it."""

    sequence: int
    partition: int
    offset: int
    checksum: int
    """CRC-32 of key and value."""
    timestamp: int
    headers: ObservedHeaders


class Ledger:
    """The records that one run wrote to one topic.

    With a path, each entry goes to that file too; an existing file is continued.
    """

    def __init__(self, topic: str, path: Path | None = None) -> None:
        self.topic = topic
        self.run = uuid.uuid4().hex[:12]
        self.acknowledged = 0
        self._partitions, self._offsets = array("i"), array("q")
        self._checksums, self._timestamps = array("I"), array("q")
        self._kinds, self._headers = array("H"), dict[ObservedHeaders, int]()
        self._file = None
        if path is not None:
            if path.exists():
                self._read(path)
                if self.topic != topic:
                    raise HostError(f"{path} is the ledger of topic {self.topic}, not of {topic}")
            self._file = path.open("a", encoding="utf-8")
            if not self._offsets:
                self._write({"ledger": VERSION, "run": self.run, "topic": topic})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Load the ledger in a file, to be checked; raises HostError for anything else."""
        ledger = cls("")
        ledger._read(path)
        return ledger

    @property
    def next_sequence(self) -> int:
        """The sequence number that no record has yet."""
        return len(self._partitions)

    def identity(self, sequence: int) -> bytes:
        """Return the beginning of the value of a record."""
        return b"%s %s %d " % (_MARK, self.run.encode(), sequence)

    def sequence_of(self, value: bytes | None) -> int | None:
        """Return the number of a record of this run, None for any other."""
        words = (value or b"").split(b" ", 3)
        if len(words) == 4 and words[0] == _MARK and words[1] == self.run.encode() and words[2].isdigit():
            return int(words[2])
        return None

    def reserve(self, count: int) -> range:
        """Reserve numbers for records that will be sent."""
        numbers = range(self.next_sequence, self.next_sequence + count)
        self._grow(numbers.stop)
        if self._file is not None:
            self._write({"reserved": numbers.stop})
        return numbers

    def note(self, entry: LedgerEntry) -> None:
        """Note a record that the source has acknowledged."""
        self._keep(entry)
        if self._file is not None:
            headers = [[name, None if content is None else content.hex()] for name, content in entry.headers]
            self._write([*entry[:-1], headers])

    def entry(self, sequence: int) -> LedgerEntry | None:
        """Return the record with this number, None if it was not acknowledged."""
        if not 0 <= sequence < len(self._partitions) or self._partitions[sequence] == _NOT_ACKNOWLEDGED:
            return None
        return LedgerEntry(
            sequence,
            self._partitions[sequence],
            self._offsets[sequence],
            self._checksums[sequence],
            self._timestamps[sequence],
            list(self._headers)[self._kinds[sequence]],
        )

    def places(self) -> Iterator[tuple[int, int, int]]:
        """Yield (sequence, partition, offset) of every acknowledged record."""
        for sequence, partition in enumerate(self._partitions):
            if partition != _NOT_ACKNOWLEDGED:
                yield sequence, partition, self._offsets[sequence]

    def close(self) -> None:
        """Write the entries that are still held back."""
        if self._file is not None:
            self._file.close()

    def _keep(self, entry: LedgerEntry) -> None:
        at = entry.sequence
        self._grow(at + 1)
        self.acknowledged += self._partitions[at] == _NOT_ACKNOWLEDGED
        self._partitions[at], self._offsets[at] = entry.partition, entry.offset
        self._checksums[at], self._timestamps[at] = entry.checksum, entry.timestamp
        self._kinds[at] = self._headers.setdefault(entry.headers, len(self._headers))

    def _grow(self, size: int) -> None:
        missing = size - len(self._partitions)
        if missing > 0:
            self._partitions.extend([_NOT_ACKNOWLEDGED] * missing)
            for column in (self._offsets, self._checksums, self._timestamps, self._kinds):
                column.frombytes(bytes(column.itemsize * missing))

    def _write(self, line: object) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def _read(self, path: Path) -> None:
        try:
            with path.open(encoding="utf-8") as lines:
                head = json.loads(next(lines, "{}"))
                if head.get("ledger") != VERSION:
                    raise HostError(f"{path} is not a ledger of version {VERSION}")
                self.run, self.topic = head["run"], head["topic"]
                for line in lines:
                    row = json.loads(line)
                    if isinstance(row, dict):
                        self._grow(row["reserved"])
                        continue
                    sequence, partition, offset, crc, timestamp, headers = row
                    encoded = tuple((name, _bytes(content)) for name, content in headers)
                    self._keep(LedgerEntry(sequence, partition, offset, crc, timestamp, encoded))
        except OSError as error:
            raise HostError(f"{path} cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise HostError(f"{path} cannot be read as a ledger: {error}") from None


def checksum(key: bytes | None, value: bytes | None) -> int:
    """Compute the CRC-32 of key and value, in which null is not empty."""
    return zlib.crc32(_marked(value), zlib.crc32(_marked(key)))


def _marked(content: bytes | None) -> bytes:
    return b"-" if content is None else b"+" + content


def _bytes(content: str | None) -> bytes | None:
    return None if content is None else bytes.fromhex(content)
