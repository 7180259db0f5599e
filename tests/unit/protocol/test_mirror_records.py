"""Heartbeats, checkpoints and offset syncs, byte by byte as MirrorMaker 2's own classes wrote them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.mirror_records import Checkpoint, Heartbeat, OffsetSync

# kind, fields, key, value: from runs of 3.9.1 and 4.1.0
VECTORS = json.loads((Path(__file__).parent / "golden" / "mirror_records.json").read_text())
KINDS: dict[str, Any] = {"heartbeat": Heartbeat, "checkpoint": Checkpoint, "offset_sync": OffsetSync}


@pytest.mark.parametrize(("kind", "fields", "key", "value"), VECTORS)
def test_the_bytes_are_mirror_maker_2_s(kind: str, fields: list[Any], key: str, value: str) -> None:
    record = KINDS[kind](*fields)
    assert record.encode() == (bytes.fromhex(key), bytes.fromhex(value))
    assert KINDS[kind].decode(bytes.fromhex(key), bytes.fromhex(value)) == record


@pytest.mark.parametrize(("kind", "fields", "key", "value"), VECTORS)
def test_torn_or_absent_bytes_are_corrupt(kind: str, fields: list[Any], key: str, value: str) -> None:
    whole = bytes.fromhex(key), bytes.fromhex(value)
    for torn in [(whole[0][:end], whole[1]) for end in range(len(whole[0]))]:
        with pytest.raises(CorruptRecords):
            KINDS[kind].decode(*torn)
    for torn in [(whole[0], whole[1][:end]) for end in range(len(whole[1]))]:
        with pytest.raises(CorruptRecords):
            KINDS[kind].decode(*torn)
    for absent in ((None, whole[1]), (whole[0], None)):
        with pytest.raises(CorruptRecords):
            KINDS[kind].decode(*absent)


def test_later_versions_and_further_bytes_are_read_as_mirror_maker_2_does() -> None:
    key, value = Heartbeat("a", "b", 5).encode()
    assert Heartbeat.decode(key + b"more", b"\0\x01" + value[2:] + b"more") == Heartbeat("a", "b", 5)


def test_strings_have_their_limits() -> None:
    assert Heartbeat.decode(*Heartbeat("a" * 32_767, "b", 5).encode()).source == "a" * 32_767
    with pytest.raises(CorruptRecords, match="32768 bytes"):
        Heartbeat("a" * 32_768, "b", 5).encode()
    with pytest.raises(CorruptRecords, match="-1 bytes"):
        Heartbeat.decode(b"\xff\xff", b"")
    with pytest.raises(CorruptRecords, match="torn"):
        Heartbeat.decode(b"\0\x01\xff\0\x01a", b"")


@pytest.mark.parametrize(
    "record",
    [
        Heartbeat("source-1", "target-2", 1_234_567_890),
        Checkpoint("group-1", "topic-2", 3, 4, 5, "metadata-6"),
        OffsetSync("topic-1", 2, 3, 4),
    ],
)
def test_records_of_apache_s_own_tests_come_back(record: Heartbeat | Checkpoint | OffsetSync) -> None:
    """HeartbeatTest:28, CheckpointTest:29 and OffsetSyncTest:29."""
    assert type(record).decode(*record.encode()) == record
