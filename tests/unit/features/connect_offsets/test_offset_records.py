"""What MirrorMaker 2's workers keep in Connect's offsets topic; the bytes are those of Kafka's own jars."""

from __future__ import annotations

from legacy_mm.base.model import TopicPartition
from legacy_mm.features.connect_offsets.offset_records import Connector, next_offsets

KEY = b'["MirrorSourceConnector",{"cluster":"A","partition":3,"topic":"test-topic"}]'
PLACE, CONNECTOR = TopicPartition("test-topic", 3), Connector("MirrorSourceConnector", "A")


def test_the_next_record_is_the_one_behind_the_last_that_was_copied() -> None:
    entries = [(KEY, b'{"offset":41}'), (KEY.replace(b"3", b"0"), b'{"offset":0}'), (KEY, b'{"offset":42}')]
    assert next_offsets(entries) == {CONNECTOR: {PLACE: 43, TopicPartition("test-topic", 0): 1}}


def test_an_offset_that_was_taken_back_is_none() -> None:
    assert next_offsets([(KEY, b'{"offset":42}'), (KEY, None)]) == {}


def test_connectors_and_clusters_are_kept_apart() -> None:
    other = KEY.replace(b'"A"', b'"B"')
    found = next_offsets([(KEY, b'{"offset":1}'), (other, b'{"offset":2}')])
    assert found == {CONNECTOR: {PLACE: 2}, Connector("MirrorSourceConnector", "B"): {PLACE: 3}}


def test_what_others_keep_is_passed_over() -> None:
    keys = (
        b'["MirrorHeartbeatConnector",{"sourceClusterAlias":"A","targetClusterAlias":"B"}]',
        b'["MirrorCheckpointConnector",{"partition":3,"topic":"A.t","group":"grp"}]',
        b'["file-source",{"filename":"/etc/passwd"}]',
        b"\x00\xff not JSON",
        b'"text"',
        None,
    )
    assert next_offsets([(key, b'{"offset":0}') for key in keys]) == {}
    assert next_offsets([(KEY, value) for value in (b'{"offset":"x"}', b'{"offset":-1}', b"42", b"")]) == {}
