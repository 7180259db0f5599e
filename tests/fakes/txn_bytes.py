"""Brokers that are asked in the bytes of Kafka's protocol, for transactions; another implementation reads and writes
their side of it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

from kafka.protocol.metadata import FindCoordinatorRequest, FindCoordinatorResponse
from kafka.protocol.producer.produce import ProduceRequest, ProduceResponse
from kafka.protocol.producer.transaction import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from kafka.record.default_records import DefaultRecordBatch

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode as E
from tests.fakes.transactions import Brokers

TRANSACTION_KEY = 1
MAX_TIMEOUT_MS = 900_000


class Release(NamedTuple):
    """A broker's newest version of each request."""

    init: int
    add: int
    end: int
    produce: int
    find: int


RELEASES = {
    "2.5": Release(3, 1, 1, 8, 3),
    "2.7": Release(4, 2, 2, 8, 3),
    "2.8": Release(4, 3, 3, 9, 3),
    "3.6": Release(4, 4, 3, 10, 4),
    "3.9": Release(5, 5, 4, 11, 6),
    "4.3": Release(6, 5, 5, 13, 6),
}
FENCED_SINCE = Release(4, 2, 2, 0, 0)
"""Before, PRODUCER_FENCED is told as INVALID_PRODUCER_EPOCH."""
VERSION_2 = Release(0, 0, 5, 12, 0)
"""From here on a request is of transaction version 2."""


def respond(brokers: Brokers, api_key: int, version: int, body: bytes) -> tuple[Brokers, bytes]:
    """Do what the bytes ask for, and return the answer's bytes."""
    brokers, answer = _WORK[api_key](brokers, version, body)
    return brokers, bytes(answer.encode(version=version))


def _told(error: E, version: int, fenced_since: int) -> E:
    return E.INVALID_PRODUCER_EPOCH if error is E.PRODUCER_FENCED and version < fenced_since else error


def _init(brokers: Brokers, version: int, body: bytes) -> tuple[Brokers, Any]:
    asked = InitProducerIdRequest.decode(body, version=version)
    if not 0 < asked.transaction_timeout_ms <= MAX_TIMEOUT_MS:
        return brokers, InitProducerIdResponse(error_code=E.INVALID_TRANSACTION_TIMEOUT)
    has_expected = version >= 3 and asked.producer_id != -1
    expected = (asked.producer_id, asked.producer_epoch) if has_expected else None
    brokers, error, producer = brokers.init_producer_id(asked.transactional_id, expected)
    number, epoch = producer or (-1, -1)
    told = _told(error, version, FENCED_SINCE.init)
    return brokers, InitProducerIdResponse(error_code=told, producer_id=number, producer_epoch=epoch)


def _add(brokers: Brokers, version: int, body: bytes) -> tuple[Brokers, Any]:
    assert version <= 3, "later versions are for brokers: they need ClusterAction"
    asked = AddPartitionsToTxnRequest.decode(body, version=version)
    topics = [(topic.name, list(topic.partitions)) for topic in asked.v3_and_below_topics]
    wanted = [TopicPartition(name, number) for name, numbers in topics for number in numbers]
    if brokers.missing.isdisjoint(wanted):
        producer = (asked.v3_and_below_producer_id, asked.v3_and_below_producer_epoch)
        brokers, error = brokers.add_partitions(asked.v3_and_below_transactional_id, producer, wanted)
        codes = dict.fromkeys(wanted, _told(error, version, FENCED_SINCE.add))
    else:
        codes = dict.fromkeys(wanted, E.OPERATION_NOT_ATTEMPTED)
        codes |= dict.fromkeys(brokers.missing, E.UNKNOWN_TOPIC_OR_PARTITION)
    kind = AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult
    row = kind.AddPartitionsToTxnPartitionResult
    results = [
        kind(
            name=name,
            results_by_partition=[
                row(partition_index=number, partition_error_code=codes[TopicPartition(name, number)])
                for number in numbers
            ],
        )
        for name, numbers in topics
    ]
    return brokers, AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)


def _end(brokers: Brokers, version: int, body: bytes) -> tuple[Brokers, Any]:
    asked = EndTxnRequest.decode(body, version=version)
    producer = (asked.producer_id, asked.producer_epoch)
    if version >= VERSION_2.end:
        assert asked.committed
        brokers, error, following = brokers.commit_2(asked.transactional_id, producer)
        number, epoch = following or (-1, -1)
        return brokers, EndTxnResponse(error_code=error, producer_id=number, producer_epoch=epoch)
    brokers, error = brokers.end_txn(asked.transactional_id, producer, asked.committed)
    return brokers, EndTxnResponse(error_code=_told(error, version, FENCED_SINCE.end))


def _produce(brokers: Brokers, version: int, body: bytes) -> tuple[Brokers, Any]:
    asked = ProduceRequest.decode(body, version=version)
    assert asked.transactional_id and asked.acks == -1
    ((topic, (part,)),) = [(each.name, list(each.partition_data)) for each in asked.topic_data]
    batch = DefaultRecordBatch(bytes(part.records))
    assert batch.is_transactional and batch.validate_crc()
    (record,) = list(batch)
    content: Hashable = record.value.decode()
    producer = (batch.producer_id, batch.producer_epoch)
    place, sequence = TopicPartition(topic, part.index), batch.base_sequence
    if version >= VERSION_2.produce:
        brokers, error, offset = brokers.append_2(asked.transactional_id, place, producer, sequence, content)
    else:
        brokers, error, offset = brokers.append(place, producer, sequence, content)
    kind = ProduceResponse.TopicProduceResponse
    row = kind.PartitionProduceResponse(
        index=part.index,
        error_code=error,
        base_offset=offset,
        log_append_time_ms=-1,
        log_start_offset=0,
        record_errors=[],
        error_message=None,
    )
    return brokers, ProduceResponse(responses=[kind(name=topic, partition_responses=[row])])


def _find(brokers: Brokers, version: int, body: bytes) -> tuple[Brokers, Any]:
    asked = FindCoordinatorRequest.decode(body, version=version)
    assert asked.key_type == TRANSACTION_KEY
    if version < 4:
        return brokers, FindCoordinatorResponse(error_code=0, error_message=None, node_id=1, host="b1", port=9092)
    rows = [
        FindCoordinatorResponse.Coordinator(key=key, node_id=1, host="b1", port=9092, error_code=0, error_message=None)
        for key in asked.coordinator_keys
    ]
    return brokers, FindCoordinatorResponse(coordinators=rows)


_WORK = {
    InitProducerIdRequest.API_KEY: _init,
    AddPartitionsToTxnRequest.API_KEY: _add,
    EndTxnRequest.API_KEY: _end,
    ProduceRequest.API_KEY: _produce,
    FindCoordinatorRequest.API_KEY: _find,
}
