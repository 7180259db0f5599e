"""Produce against another implementation's classes, and against hostile bytes."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol import produce_messages

VERSIONS = (*range(produce_messages.LOWEST, produce_messages.HIGHEST + 1), produce_messages.ADDING)
LEAST_OF_A_PARTITION = 14
"""Bytes of a number, an error and an offset."""
NO_TAGS = b"\0"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_produce_request_says_what_was_meant(version: int) -> None:
    batches = [(TopicPartition("a", 0), b"one"), (TopicPartition("b", 1), b"two"), (TopicPartition("a", 2), b"three")]
    body = b"".join(bytes(segment) for segment in produce_messages.encode(version, -1, 30_000, batches))
    read = ProduceRequest.decode(body, version=version)
    assert (read.acks, read.timeout_ms) == (-1, 30_000)
    found = {(topic.name, row.index): bytes(row.records) for topic in read.topic_data for row in topic.partition_data}
    assert found == dict(batches)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_of_a_transaction_names_its_id(version: int) -> None:
    batches = [(TopicPartition("a", 0), b"one")]
    body = b"".join(map(bytes, produce_messages.encode(version, -1, 30_000, batches, "mirror.g.f.7")))
    assert ProduceRequest.decode(body, version=version).transactional_id == ("mirror.g.f.7" if version >= 3 else None)


def test_the_format_of_what_a_request_carries() -> None:
    assert [produce_messages.format_of(version) for version in VERSIONS] == [0, 0, 1, 2, 2, 2, 2, 2, 2, 2]


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
    header = NO_TAGS if produce_messages.is_flexible(version) else b""
    return header + bytes(answer.encode(version=version))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_produce_response_is_read(version: int) -> None:
    (taken, refused, other), throttle = produce_messages.decode(version, memoryview(produce_response(version)))
    assert throttle == (5 if version >= 1 else 0)
    assert (taken.partition, taken.error, taken.base_offset) == (TopicPartition("t", 1), 0, 77)
    assert (refused.partition, refused.error) == (TopicPartition("t", 2), 87)
    assert refused.reason == ("bad key" if version >= 8 else "")
    assert other.reason == ("one or more records" if version >= 8 else "")
    named = [{4: "bad key"}, {0: ""}] if version >= 8 else [{}, {}]
    assert [taken.blamed, refused.blamed, other.blamed] == [{}, *named]


@given(version=st.sampled_from(VERSIONS), noise=st.binary(max_size=60))
def test_rubbish_is_corrupt_or_read_but_never_more_than_it_is(version: int, noise: bytes) -> None:
    try:
        found, _ = produce_messages.decode(version, memoryview(noise))
    except CorruptRecords:
        return
    assert LEAST_OF_A_PARTITION * len(found) <= len(noise)
    assert sum(len(each.reason) for each in found) <= len(noise)


@pytest.mark.parametrize("version", [produce_messages.HIGHEST, produce_messages.ADDING])
def test_a_response_that_is_cut_anywhere_is_corrupt(version: int) -> None:
    """But for the last tagged fields, which nobody reads."""
    whole = produce_response(version)
    for end in range(len(whole) - produce_messages.is_flexible(version)):
        with pytest.raises(CorruptRecords):
            produce_messages.decode(version, memoryview(whole)[:end])


def test_a_count_that_lies_makes_no_long_loop() -> None:
    with pytest.raises(CorruptRecords, match="entries"):
        produce_messages.decode(8, memoryview(struct.pack(">i", 1 << 30)))
