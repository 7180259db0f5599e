"""Fetch and Produce against another implementation's classes, and against hostile bytes."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse

from legacy_mm.errors import CorruptRecords
from legacy_mm.model import TopicPartition
from legacy_mm.protocol import fetch_messages, produce_messages
from legacy_mm.protocol.fetch_messages import FetchOptions, Session, Wanted

OPTIONS = FetchOptions(500, 1, 1 << 20, 1 << 18, committed_only=True, rack="r1")
WANTED = [
    Wanted(TopicPartition("a", 0), 7, 3),
    Wanted(TopicPartition("b", 2), 8, -1),
    Wanted(TopicPartition("a", 1), 9, 4),
]
FORGOTTEN = [TopicPartition("c", 1), TopicPartition("a", 5), TopicPartition("c", 2)]
SESSION = Session(17, 4, WANTED, FORGOTTEN)
FETCH_VERSIONS = range(fetch_messages.LOWEST, fetch_messages.HIGHEST + 1)
PRODUCE_VERSIONS = range(produce_messages.LOWEST, produce_messages.HIGHEST + 1)


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_a_fetch_request_says_what_was_meant(version: int) -> None:
    read = FetchRequest.decode(fetch_messages.encode(version, OPTIONS, SESSION), version=version)
    assert (read.replica_id, read.max_wait_ms, read.min_bytes, read.max_bytes) == (-1, 500, 1, 1 << 20)
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


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_a_fetch_response_is_read(version: int) -> None:
    read = fetch_messages.decode(version, memoryview(fetch_response(version)))
    (row,) = read.partitions
    assert (read.throttle_ms, read.error, read.session_id) == (12, 0, 17 if version >= 7 else 0)
    assert (row.partition, row.error, row.high_watermark, row.last_stable_offset) == (TopicPartition("b", 2), 0, 50, 40)
    assert row.log_start_offset == (5 if version >= 5 else -1)
    assert row.preferred_replica == (3 if version >= 11 else -1)
    assert row.aborted == ((9, 11),)
    assert bytes(row.records) == b"records"


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
def test_a_produce_request_says_what_was_meant(version: int) -> None:
    batches = [(TopicPartition("a", 0), b"one"), (TopicPartition("b", 1), b"two"), (TopicPartition("a", 2), b"three")]
    body = b"".join(bytes(segment) for segment in produce_messages.encode(-1, 30_000, batches))
    read = ProduceRequest.decode(body, version=version)
    assert (read.transactional_id, read.acks, read.timeout_ms) == (None, -1, 30_000)
    found = {(topic.name, row.index): bytes(row.records) for topic in read.topic_data for row in topic.partition_data}
    assert found == dict(batches)


def produce_response(version: int) -> bytes:
    data: Any = ProduceResponse.TopicProduceResponse
    kind = data.PartitionProduceResponse

    def refused(index: int, record: int, told: str | None) -> Any:
        return kind(
            index=index,
            error_code=87,
            base_offset=-1,
            log_append_time_ms=-1,
            log_start_offset=-1,
            record_errors=[kind.BatchIndexAndErrorMessage(batch_index=record, batch_index_error_message=told)],
            error_message="one or more records",
        )

    taken = kind(index=1, error_code=0, base_offset=77, log_append_time_ms=-1, log_start_offset=3)
    rows = [taken, refused(2, 4, "bad key"), refused(3, 0, None)]
    answer = ProduceResponse(responses=[data(name="t", partition_responses=rows)], throttle_time_ms=5, version=version)
    return bytes(answer.encode(version=version))


@pytest.mark.parametrize("version", PRODUCE_VERSIONS)
def test_a_produce_response_is_read(version: int) -> None:
    (taken, refused, other), throttle = produce_messages.decode(version, memoryview(produce_response(version)))
    assert throttle == 5
    assert (taken.partition, taken.error, taken.base_offset) == (TopicPartition("t", 1), 0, 77)
    assert (refused.partition, refused.error) == (TopicPartition("t", 2), 87)
    assert refused.reason == ("bad key" if version >= 8 else "")
    assert other.reason == ("one or more records" if version >= 8 else "")
    named = [{4: "bad key"}, {0: ""}] if version >= 8 else [{}, {}]
    assert [taken.blamed, refused.blamed, other.blamed] == [{}, *named]


@pytest.mark.parametrize("decode", [fetch_messages.decode, produce_messages.decode])
@given(version=st.integers(4, 8), noise=st.binary(max_size=60))
def test_rubbish_is_corrupt_or_read_but_never_more_than_it_is(decode: Any, version: int, noise: bytes) -> None:
    try:
        decode(version, memoryview(noise))
    except CorruptRecords:
        return


@pytest.mark.parametrize(
    ("decode", "whole"),
    [(fetch_messages.decode, fetch_response(8)), (produce_messages.decode, produce_response(8))],
    ids=["fetch", "produce"],
)
def test_a_response_that_is_cut_anywhere_is_corrupt(decode: Any, whole: bytes) -> None:
    for end in range(len(whole)):
        with pytest.raises(CorruptRecords):
            decode(8, memoryview(whole)[:end])


def test_a_count_that_lies_makes_no_long_loop() -> None:
    with pytest.raises(CorruptRecords, match="entries"):
        produce_messages.decode(8, memoryview(struct.pack(">i", 1 << 30)))
