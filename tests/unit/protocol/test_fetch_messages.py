"""Fetch against another implementation's classes, and against hostile bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol import fetch_messages
from legacy_mm.protocol.fetch_messages import FetchOptions, Session, Wanted

OPTIONS = FetchOptions(500, 1, 1 << 20, 1 << 18, committed_only=True, rack="r1")
WANTED = [
    Wanted(TopicPartition("a", 0), 7, 3),
    Wanted(TopicPartition("b", 2), 8, -1),
    Wanted(TopicPartition("a", 1), 9, 4),
]
FORGOTTEN = [TopicPartition("c", 1), TopicPartition("a", 5), TopicPartition("c", 2)]
SESSION = Session(17, 4, WANTED, FORGOTTEN)
VERSIONS = range(fetch_messages.LOWEST, fetch_messages.HIGHEST + 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fetch_request_says_what_was_meant(version: int) -> None:
    read = FetchRequest.decode(fetch_messages.encode(version, OPTIONS, SESSION), version=version)
    assert (read.replica_id, read.max_wait_ms, read.min_bytes) == (-1, 500, 1)
    if version >= 3:
        assert read.max_bytes == 1 << 20
    if version >= 4:
        assert read.isolation_level == 1
    if version >= 11:
        assert read.rack_id == "r1"
    if version >= 7:
        assert (read.session_id, read.session_epoch) == (17, 4)
        assert [(topic.topic, topic.partitions) for topic in read.forgotten_topics_data] == [("c", [1, 2]), ("a", [5])]
    found = {
        (topic.topic, row.partition): (row.fetch_offset, row.current_leader_epoch if version >= 9 else None)
        for topic in read.topics
        for row in topic.partitions
    }
    told = {want.partition: (want.offset, want.leader_epoch if version >= 9 else None) for want in WANTED}
    assert found == told


def test_a_partition_may_bring_as_much_as_its_next_message_needs() -> None:
    wanted = [WANTED[0], WANTED[1]._replace(least_bytes=1 << 19), WANTED[2]._replace(least_bytes=1)]
    read = FetchRequest.decode(fetch_messages.encode(2, OPTIONS, SESSION._replace(wanted=wanted)), version=2)
    most = {(topic.topic, row.partition): row.partition_max_bytes for topic in read.topics for row in topic.partitions}
    assert most == {("a", 0): 1 << 18, ("b", 2): 1 << 19, ("a", 1): 1 << 18}


@pytest.mark.parametrize(("version", "most"), [(2, (1 << 20) // 10), (3, 1 << 18)])
def test_many_partitions_share_what_an_answer_may_have(version: int, most: int) -> None:
    """Brokers before 0.10.1 have no limit for all of them."""
    wanted = [Wanted(TopicPartition("a", number), 7, 3) for number in range(10)]
    body = fetch_messages.encode(version, OPTIONS, SESSION._replace(wanted=wanted))
    (topic,) = FetchRequest.decode(body, version=version).topics
    assert {row.partition_max_bytes for row in topic.partitions} == {most}


def fetch_response(version: int) -> bytes:
    data: Any = FetchResponse.FetchableTopicResponse
    row = data.PartitionData(
        partition_index=2,
        error_code=0,
        high_watermark=50,
        last_stable_offset=40,
        log_start_offset=5,
        aborted_transactions=[data.PartitionData.AbortedTransaction(producer_id=9, first_offset=11)],
        preferred_read_replica=3,
        records=b"records",
    )
    answer = FetchResponse(
        throttle_time_ms=12, error_code=0, session_id=17, responses=[data(topic="b", partitions=[row])], version=version
    )
    return bytes(answer.encode(version=version))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_fetch_response_is_read(version: int) -> None:
    read = fetch_messages.decode(version, memoryview(fetch_response(version)))
    (row,) = read.partitions
    assert (read.throttle_ms, read.error) == (12 if version >= 1 else 0, 0)
    assert read.session_id == (17 if version >= 7 else 0)
    assert (row.partition, row.error, row.high_watermark) == (TopicPartition("b", 2), 0, 50)
    assert row.last_stable_offset == (40 if version >= 4 else 50)
    assert row.log_start_offset == (5 if version >= 5 else -1)
    assert row.preferred_replica == (3 if version >= 11 else -1)
    assert row.aborted == (((9, 11),) if version >= 4 else ())
    assert bytes(row.records) == b"records"


@given(version=st.integers(fetch_messages.LOWEST, fetch_messages.HIGHEST), noise=st.binary(max_size=60))
def test_rubbish_is_corrupt_or_read_but_never_more_than_it_is(version: int, noise: bytes) -> None:
    try:
        read = fetch_messages.decode(version, memoryview(noise))
    except CorruptRecords:
        return
    assert sum(len(row.records) for row in read.partitions) <= len(noise)


def test_a_response_that_is_cut_anywhere_is_corrupt() -> None:
    whole = fetch_response(8)
    for end in range(len(whole)):
        with pytest.raises(CorruptRecords):
            fetch_messages.decode(8, memoryview(whole)[:end])
