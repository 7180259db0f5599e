"""The records of Kafka Connect's offsets topic: MirrorMaker 2's format, and a mark in those that this program writes.

MirrorMaker 2 reads no headers there, so it goes on at a marked record as at its own. The mark says which log the
offset is of. Rule: only this module knows the mark.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.features.connect_offsets.feature import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.offset_records import Connector, copied_of, key_of, place_of, value_of

MARK = "legacy_mm"
"""The name of the header."""


class SourceLog(NamedTuple):
    """The log that an offset is of; empty where the brokers give no ids (before 0.10.1, and before 2.8)."""

    cluster: str
    topic_id: str


class StoredPosition(NamedTuple):
    """The last word of the topic about a partition."""

    next: int
    """The next record to copy."""
    written_ms: int
    log: SourceLog | None
    """None: MirrorMaker 2 has written it."""
    metadata: str
    """Text of the writer's mode beside the offset."""


def key(settings: ConnectOffsetSettings, partition: TopicPartition) -> bytes:
    """Return the key under which a partition's position is stored, byte for byte as MirrorMaker 2 writes it."""
    return key_of(Connector(settings.connector, settings.cluster), partition)


def of_flow(settings: ConnectOffsetSettings, key: bytes) -> TopicPartition | None:
    """Return the partition of a key; None for another flow's."""
    place = place_of(key)
    return place[1] if place is not None and place[0] == Connector(settings.connector, settings.cluster) else None


def value(position: int) -> bytes:
    """Return the value of a position: the offset of the last record that was copied."""
    return value_of(position - 1)


def mark(log: SourceLog, metadata: str) -> bytes:
    """Return the value of the mark."""
    fields = {"cluster": log.cluster, "topic_id": log.topic_id, "metadata": metadata}
    return json.dumps({name: text for name, text in fields.items() if text}, separators=(",", ":")).encode()


def position(record: LogRecord | None) -> StoredPosition | None:
    """Return what a record says; None where it says nothing, as one that takes the offset back."""
    if record is None or (copied := copied_of(record.value)) is None:
        return None
    for name, text in record.headers:
        if name == MARK.encode():
            fields = _fields(text)
            log = SourceLog(fields.get("cluster", ""), fields.get("topic_id", ""))
            return StoredPosition(copied + 1, record.timestamp, log, fields.get("metadata", ""))
    return StoredPosition(copied + 1, record.timestamp, None, "") if copied >= 0 else None


def _fields(text: bytes | None) -> dict[str, str]:
    """Return what a mark says; an empty one is that of a release before 0.9."""
    try:
        fields = json.loads(text or b"{}")
    except ValueError:
        return {}
    return {name: each for name, each in fields.items() if isinstance(each, str)} if isinstance(fields, dict) else {}
