"""The Produce request and its response, versions 0 to 8 and 12: a frame around record batches, which are not copied."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.compression import Bytes
from legacy_mm.protocol.message_reader import FlexibleReader, MessageReader
from legacy_mm.protocol.message_writer import FLEXIBLE, OLDER
from legacy_mm.protocol.record_batch import MAGIC

API_KEY = 0
LOWEST, HIGHEST = 0, 8
"""From 9 on the encoding is another."""
ADDING = 12
"""It adds its partitions to the transaction. Later ones name topics by their ids."""
CLIENT_RESTS_SINCE, ZSTD_SINCE = 6, 7
"""Before the first a broker that throttles has rested by itself when it answers."""

_FLEXIBLE_SINCE = 9
_THROTTLE_SINCE, _TIME_SINCE, _BATCHES_SINCE, _START_SINCE, _RECORD_ERRORS_SINCE = 1, 2, 3, 5, 8
_HEAD = struct.Struct(">hi")
_INT = struct.Struct(">i")
_OUTCOME = struct.Struct(">ihq")
"""Partition, error, base offset."""


class Appended(NamedTuple):
    """The result for one partition's batch; `base_offset` -1: unknown. `reason`: the broker's words."""

    partition: TopicPartition
    error: int
    base_offset: int
    reason: str
    blamed: Mapping[int, str]
    """Why it was refused, by the place of a record in the batch; empty: the broker names none."""


def format_of(version: int) -> int:
    """Return the message format that a version of the request carries."""
    return MAGIC if version >= _BATCHES_SINCE else int(version >= _TIME_SINCE)


def versions(*, adding: bool) -> tuple[int, int]:
    """Return the lowest and the highest version to use; `adding`: partitions are added to the transaction."""
    return (ADDING, ADDING) if adding else (LOWEST, HIGHEST)


def is_flexible(version: int) -> bool:
    """Return True if the request, and its header, is in the encoding with tagged fields."""
    return version >= _FLEXIBLE_SINCE


def encode(
    version: int,
    acks: int,
    timeout_ms: int,
    batches: Sequence[tuple[TopicPartition, Bytes]],
    transactional_id: str | None = None,
) -> list[Bytes]:
    """Encode the segments of a request's body: one batch, or message set, for a partition."""
    topics: dict[str, list[tuple[int, Bytes]]] = {}
    for partition, batch in batches:
        topics.setdefault(partition.topic, []).append((partition.partition, batch))
    write = FLEXIBLE if is_flexible(version) else OLDER
    head = write.string(transactional_id) if version >= _BATCHES_SINCE else b""
    head += _HEAD.pack(acks, timeout_ms) + write.count(len(topics))
    segments: list[Bytes] = []
    for topic, parts in topics.items():
        head += write.string(topic) + write.count(len(parts))
        for number, batch in parts:
            segments += (head + _INT.pack(number) + write.count(len(batch)), batch)
            head = write.end
        head += write.end
    head += write.end
    return [*segments, head] if head else segments


def decode(version: int, body: memoryview) -> tuple[list[Appended], int]:
    """Decode the result of each batch, and the milliseconds to send nothing; raise CorruptRecords."""
    reader = FlexibleReader(body) if is_flexible(version) else MessageReader(body)
    reader.end_structure()  # the header
    found: list[Appended] = []
    for topic in reader.names():
        found += [_appended(version, reader, topic) for _ in range(reader.count())]
        reader.end_structure()
    return found, reader.int32() if version >= _THROTTLE_SINCE else 0


def _appended(version: int, reader: MessageReader, topic: str) -> Appended:
    number, error, base_offset = reader.fields(_OUTCOME)
    if version >= _TIME_SINCE:
        reader.int64()
    if version >= _START_SINCE:
        reader.int64()
    blamed: dict[int, str] = {}
    reason = ""
    if version >= _RECORD_ERRORS_SINCE:
        blamed = dict(_blamed(reader) for _ in range(reader.count()))
        reason = next(filter(None, (*blamed.values(), reader.text())), "")
    reader.end_structure()
    return Appended(TopicPartition(topic, number), error, base_offset, reason, blamed)


def _blamed(reader: MessageReader) -> tuple[int, str]:
    row = reader.int32(), reader.text() or ""
    reader.end_structure()
    return row
