"""The records of the offsets topic, there and back."""

from __future__ import annotations

import pytest

from legacy_mm.base.kafka_clients import MembershipSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.features.connect_offsets import stored_positions as records
from legacy_mm.features.connect_offsets.feature import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.stored_positions import MARK, SourceLog, StoredPosition

SETTINGS = ConnectOffsetSettings("stored", 25, 1, "MirrorSourceConnector", "A", MembershipSettings("A-mm2"))
PLACE = TopicPartition("t\u00e9st", 3)


@pytest.mark.parametrize("position", [0, 1, 1 << 40])
@pytest.mark.parametrize("log", [SourceLog("", ""), SourceLog("cluster", ""), SourceLog("cluster", "id")])
@pytest.mark.parametrize("metadata", ["", "exactly-once:positions"])
def test_what_is_written_is_read(position: int, log: SourceLog, metadata: str) -> None:
    headers = ((MARK.encode(), records.mark(log, metadata)),)
    record = LogRecord(9, 1_000, False, records.key(SETTINGS, PLACE), records.value(position), headers)
    assert records.position(record) == StoredPosition(position, 1_000, log, metadata)
    assert records.of_flow(SETTINGS, record.key or b"") == PLACE


@pytest.mark.parametrize(
    "key", [b"", b"[]", b'["other",{"cluster":"A","partition":3,"topic":"t"}]', b'["MirrorSourceConnector",{}]']
)
def test_keys_of_others_are_none_of_the_flow(key: bytes) -> None:
    assert records.of_flow(SETTINGS, key) is None


@pytest.mark.parametrize("mark", [None, b"", b"[]", b'{"cluster":7}'])
def test_an_odd_mark_is_ours_and_says_nothing(mark: bytes | None) -> None:
    record = LogRecord(0, 5, False, b"k", b'{"offset":6}', ((MARK.encode(), mark),))
    assert records.position(record) == StoredPosition(7, 5, SourceLog("", ""), "")
