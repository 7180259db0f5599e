"""The Fetch request and its response, versions 0 to 11: the bytes around the record sets, which stay where they are."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.message_reader import MessageReader
from legacy_mm.protocol.message_writer import OLDER

API_KEY = 1
LOWEST, HIGHEST = 0, 11
"""4 is the first whose records may be in format 2; from 12 on the encoding is another."""
CLIENT_RESTS_SINCE = 8
"""Before it a broker that throttles has rested by itself when it answers."""

_CONSUMER = -1
_THROTTLE_SINCE, _MAX_BYTES_SINCE, _ISOLATION_SINCE = 1, 3, 4
_LOG_START_SINCE, _SESSION_SINCE, _EPOCH_SINCE, _RACK_SINCE = 5, 7, 9, 11
_HEAD = struct.Struct(">iii")
_BYTE, _INT, _LONG, _TWO_INTS = struct.Struct(">b"), struct.Struct(">i"), struct.Struct(">q"), struct.Struct(">ii")
_STATE = struct.Struct(">ihq")
"""Partition, error, high watermark."""


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """The settings in every Fetch request of one reader. Sizes are bytes."""

    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    partition_bytes: int
    committed_only: bool
    rack: str


class Wanted(NamedTuple):
    """One partition of a request; `leader_epoch` -1: not known."""

    partition: TopicPartition
    offset: int
    leader_epoch: int
    least_bytes: int = 0
    """The bytes that it must be allowed, for its next message to come whole."""


class Session(NamedTuple):
    """The session part of a request to a broker that remembers earlier ones: see `clients/fetch/fetch_session.py`."""

    id: int
    epoch: int
    wanted: Sequence[Wanted]
    """Partitions that are new, or wanted from elsewhere."""
    forgotten: Sequence[TopicPartition]


class FetchedPartition(NamedTuple):
    """One partition of a response; offsets that a version does not tell are -1.

    Where there are no transactions yet, the last stable offset is the high watermark.
    """

    partition: TopicPartition
    error: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    aborted: tuple[tuple[int, int], ...]
    """(producer id, first offset) of transactions that were aborted."""
    preferred_replica: int
    """The broker to read from instead, or -1."""
    records: memoryview


class FetchResponse(NamedTuple):
    """A whole response."""

    throttle_ms: int
    error: int
    session_id: int
    """0: the broker keeps none."""
    partitions: list[FetchedPartition]


def encode(version: int, options: FetchOptions, session: Session) -> bytes:
    """Encode the body of a request; partitions are asked for in the order given, as far as topics allow.

    Where a version sets no limit for all of them together, each may bring its share.
    """
    most = options.partition_bytes
    out = bytearray(_HEAD.pack(_CONSUMER, options.max_wait_ms, options.min_bytes))
    if version >= _MAX_BYTES_SINCE:
        out += _INT.pack(options.max_bytes)
    else:
        most = min(most, options.max_bytes // max(len(session.wanted), 1))
    if version >= _ISOLATION_SINCE:
        out += _BYTE.pack(options.committed_only)
    if version >= _SESSION_SINCE:
        out += _TWO_INTS.pack(session.id, session.epoch)
    topics: dict[str, list[Wanted]] = {}
    for want in session.wanted:
        topics.setdefault(want.partition.topic, []).append(want)
    out += _INT.pack(len(topics))
    for topic, wants in topics.items():
        out += OLDER.string(topic) + _INT.pack(len(wants))
        for want in wants:
            out += _INT.pack(want.partition.partition)
            if version >= _EPOCH_SINCE:
                out += _INT.pack(want.leader_epoch)
            out += _LONG.pack(want.offset)
            if version >= _LOG_START_SINCE:
                out += _LONG.pack(-1)
            out += _INT.pack(max(most, want.least_bytes))
    if version >= _SESSION_SINCE:
        out += _forgotten(session.forgotten)
    if version >= _RACK_SINCE:
        out += OLDER.string(options.rack)
    return bytes(out)


def _forgotten(partitions: Iterable[TopicPartition]) -> bytes:
    topics: dict[str, list[bytes]] = {}
    for topic, number in partitions:
        topics.setdefault(topic, []).append(_INT.pack(number))
    parts = (OLDER.string(topic) + _INT.pack(len(numbers)) + b"".join(numbers) for topic, numbers in topics.items())
    return _INT.pack(len(topics)) + b"".join(parts)


def decode(version: int, body: memoryview) -> FetchResponse:
    """Decode the response in these bytes; raise CorruptRecords."""
    reader = MessageReader(body)
    throttle = reader.int32() if version >= _THROTTLE_SINCE else 0
    error = session_id = 0
    if version >= _SESSION_SINCE:
        error, session_id = reader.int16(), reader.int32()
    partitions = [_partition(version, reader, topic) for topic in reader.names() for _ in range(reader.count())]
    return FetchResponse(throttle, error, session_id, partitions)


def _partition(version: int, reader: MessageReader, topic: str) -> FetchedPartition:
    number, error, high = reader.fields(_STATE)
    stable, start = high, -1
    aborted: tuple[tuple[int, int], ...] = ()
    if version >= _ISOLATION_SINCE:
        stable = reader.int64()
        start = reader.int64() if version >= _LOG_START_SINCE else -1
        aborted = tuple((reader.int64(), reader.int64()) for _ in range(reader.count()))
    preferred = reader.int32() if version >= _RACK_SINCE else -1
    records = reader.data()
    return FetchedPartition(TopicPartition(topic, number), error, high, stable, start, aborted, preferred, records)
