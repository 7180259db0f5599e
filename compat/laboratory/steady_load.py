"""Writes records at a steady rate for a long time: the batches of a loaded topic, again and again. Rule: no client.

A batch is sent as the log has it, so that writing 50 MB a second takes a few hundredths of a core.
"""

from __future__ import annotations

import struct
import threading
import time
from typing import NamedTuple

from compat.laboratory.raw_request import ask

REQUEST_TIMEOUT = 30.0
_PRODUCE, _PRODUCE_VERSION, _FETCH, _FETCH_VERSION = 0, 3, 1, 4
_MOST_BYTES = 1_000_000
_BYTE, _SHORT, _INT, _LONG = (struct.Struct(f">{letter}") for letter in "bhiq")
_LENGTH_AT, _EPOCH_AT, _LAST_DELTA_AT = 8, 12, 23  # of a record batch; the checksum covers what is behind the epoch
_NO_EPOCH = -1


class Batch(NamedTuple):
    """A record batch that can be appended to any partition, and the number of its records."""

    bytes: bytes
    records: int


class SteadyLoad:
    """Appends the first batch of each partition of `template` to the same partition of `topic`, round by round."""

    def __init__(self, address: str, template: str, topic: str, partitions: int, records_per_second: float) -> None:
        """Take one broker's address as `host:port`; read the batches. OSError if it cannot be asked."""
        host, _, port = address.rpartition(":")
        self._broker = host, int(port)
        self.written = 0
        """Records that were acknowledged."""
        self.error: Exception | None = None
        batches = [self._read(template, number) for number in range(partitions)]
        self._records = sum(batch.records for batch in batches)
        self._interval = self._records / records_per_second
        self._request = _request(topic, batches)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def start(self) -> None:
        """Begin to write, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """End after the round that is being written; raise what ended it before, if anything did."""
        self._over.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _write(self) -> None:
        due = time.monotonic()
        try:
            while not self._over.wait(max(0.0, due - time.monotonic())):
                _require_success(ask(*self._broker, _PRODUCE, _PRODUCE_VERSION, self._request, REQUEST_TIMEOUT))
                self.written += self._records
                due += self._interval
        except (OSError, ValueError) as error:
            self.error = error

    def _read(self, topic: str, partition: int) -> Batch:
        """Return the first batch of a partition; OSError, or ValueError if it has none."""
        body = _INT.pack(-1) + _INT.pack(0) + _INT.pack(1) + _INT.pack(_MOST_BYTES) + _BYTE.pack(0)
        body += _array(_string(topic) + _array(_INT.pack(partition) + _LONG.pack(0) + _INT.pack(_MOST_BYTES)))
        answer = ask(*self._broker, _FETCH, _FETCH_VERSION, body, REQUEST_TIMEOUT)
        # Throttle time, one topic, one partition, its error, two offsets; no aborted transaction.
        at = 4 + 4 + len(_string(topic)) + 4 + 4 + 2 + 8 + 8 + 4
        (size,) = _INT.unpack_from(answer, at)
        records = answer[at + 4 : at + 4 + size]
        if len(records) <= _LAST_DELTA_AT + 4:
            raise ValueError(f"{topic}-{partition} holds no records")
        length = _LENGTH_AT + 4 + _INT.unpack_from(records, _LENGTH_AT)[0]
        (last,) = _INT.unpack_from(records, _LAST_DELTA_AT)
        head = _LONG.pack(0) + records[_LENGTH_AT:_EPOCH_AT] + _INT.pack(_NO_EPOCH)
        return Batch(head + records[_EPOCH_AT + 4 : length], last + 1)


def _request(topic: str, batches: list[Batch]) -> bytes:
    parts = [_INT.pack(number) + _INT.pack(len(batch.bytes)) + batch.bytes for number, batch in enumerate(batches)]
    return _SHORT.pack(-1) + _SHORT.pack(-1) + _INT.pack(30_000) + _array(_string(topic) + _array(*parts))


def _require_success(answer: bytes) -> None:
    """Read the errors of a Produce answer of one topic; ValueError names the first."""
    (name,) = _SHORT.unpack_from(answer, 4)
    at = 4 + 2 + name
    (count,) = _INT.unpack_from(answer, at)
    for number in range(count):
        (error,) = _SHORT.unpack_from(answer, at + 4 + number * 22 + 4)
        if error:
            raise ValueError(f"the broker refuses a batch with error {error}")


def _string(text: str) -> bytes:
    return _SHORT.pack(len(text.encode())) + text.encode()


def _array(*items: bytes) -> bytes:
    return _INT.pack(len(items)) + b"".join(items)
