"""MirrorMaker 2's topic of offsets at the target of one flow: who reads it, who writes it.

Imported only if MirrorMaker 2's file asks for the flow (invariant E).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from legacy_mm.clients.native.groups import GroupAdmin
from legacy_mm.clients.native.internal_topic import InternalTopicWriter
from legacy_mm.clients.native.topic_reader import read_topic
from legacy_mm.clock import Deadline
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.features.connect_offsets.connect_offset_settings import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.connect_start import MARK, ConnectStart, Stored
from legacy_mm.features.connect_offsets.recorder import ConnectOffsetRecorder
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.logs import events


def recorder(settings: Settings, asked: ConnectOffsetSettings) -> ConnectOffsetRecorder:
    """Return the writer of what the flow commits."""
    outcomes = partial(_report, asked.topic)
    return ConnectOffsetRecorder(
        asked, lambda: InternalTopicWriter(settings.target_admin_connection, asked.topic, outcomes)
    )


def connect_start(settings: Settings, asked: ConnectOffsetSettings) -> ConnectStart:
    """Return the look that the flow takes before its first member joins the group."""
    source = settings.source
    return ConnectStart(
        asked,
        source.group_id,
        GroupAdmin("source", source.connection),
        partial(_records, settings.target_admin_connection, asked.topic),
        source.api_timeout,
    )


def _records(target: ConnectionSettings, topic: str, deadline: Deadline) -> Iterator[Stored]:
    """Read the topic, each partition in its order: a key is always in the same one; nothing of a missing topic."""
    for _, record in read_topic(target, topic, deadline):
        yield Stored(record.key, record.value, MARK.encode() in [name for name, _ in record.headers])


def _report(topic: str, _: bytes, reason: str | None) -> None:
    if reason is not None:
        events.emit(events.OFFSETS_LOST, reason=f"topic {topic}: {reason}")
