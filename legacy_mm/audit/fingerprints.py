"""The Spark tasks of `verify`: a slice of a partition becomes columns of fingerprints."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from legacy_mm.audit.connections import connection_of
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.clients.topics.topic_reader import read_range

_HOUR_MS = 3_600_000
_SIZE = struct.Struct(">i")
_TIME = struct.Struct(">q")


def columns(part: Mapping[str, Any], secret: str) -> Iterator[dict[str, list[Any]]]:
    """Yield side, topic, partition, offset, hour and fingerprint of every record; `secret` opens the connection."""
    connection = connection_of(secret, part["side"])
    place = part["topic"], part["partition"], part["begin"], part["end"]
    for records in read_range(connection, *place, committed=part["committed"]):
        count = len(records)
        yield {
            "side": [part["side"]] * count,
            "topic": [part["name"]] * count,
            "partition": [part["partition"]] * count,
            "offset": [record.offset for record in records],
            "hour": [record.timestamp // _HOUR_MS for record in records],
            "fingerprint": [_fingerprint(record, part["without_header"], timed=part["timed"]) for record in records],
        }


def _fingerprint(record: LogRecord, without_header: str, *, timed: bool) -> int:
    """Return 64 bits of a hash over key, value, headers and, if both sides keep it, the timestamp."""
    digest, left_out = hashlib.blake2b(digest_size=8), without_header.encode()
    for content in (record.key, record.value):
        _add(digest, content)
    for name, content in record.headers:
        if name != left_out:
            _add(digest, name)
            _add(digest, content)
    if timed:
        digest.update(_TIME.pack(record.timestamp))
    (number,) = _TIME.unpack(digest.digest())
    return int(number)


def _add(digest: Any, content: bytes | None) -> None:
    digest.update(_SIZE.pack(-1 if content is None else len(content)))
    digest.update(content or b"")
