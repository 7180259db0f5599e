"""The requests of a transaction, and the answers, as messages of Kafka's protocol, for transaction version 1.

Produce has its own module: `protocol/produce_messages.py`.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin import DescribeTransactionsRequest
from kafka.protocol.producer.transaction import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest

from legacy_mm.clients.native import error_text
from legacy_mm.exactly_once.bundle_events import Answered
from legacy_mm.exactly_once.txn_requests import AddPartitionsToTxn, EndTxn, InitProducerId, ProducerIdAndEpoch
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode

CoordinatorRequest = InitProducerId | AddPartitionsToTxn | EndTxn

_NO_PRODUCER = ProducerIdAndEpoch(-1, -1)
_INIT, _ADD, _END = 5, 3, 4
"""The newest versions. Later AddPartitionsToTxn are for brokers only, and EndTxn 5 is transaction version 2, whether or
not the cluster has it.
"""
_EXPECTED_SINCE = 3
"""InitProducerId without its expected epoch would fence whoever is the owner."""
_SHOWN = 5


def message(request: CoordinatorRequest, timeout_ms: int) -> Any:
    """Return the message for a request; `timeout_ms` is the time that a transaction may take."""
    match request:
        case InitProducerId(transactional_id, expected):
            known = expected or _NO_PRODUCER
            return InitProducerIdRequest(
                transactional_id=transactional_id,
                transaction_timeout_ms=timeout_ms,
                producer_id=known.producer_id,
                producer_epoch=known.epoch,
                min_version=_EXPECTED_SINCE if expected else 0,
                max_version=_INIT,
            )
        case AddPartitionsToTxn(transactional_id, producer, partitions):
            return AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=transactional_id,
                v3_and_below_producer_id=producer.producer_id,
                v3_and_below_producer_epoch=producer.epoch,
                v3_and_below_topics=_by_topic(partitions),
                max_version=_ADD,
            )
        case EndTxn(transactional_id, producer):
            return EndTxnRequest(
                transactional_id=transactional_id,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                committed=True,
                max_version=_END,
            )


def _by_topic(partitions: frozenset[TopicPartition]) -> list[Any]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    row = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
    return [row(name=name, partitions=numbers) for name, numbers in topics.items()]


def answered(request: CoordinatorRequest, answer: Any) -> Answered:
    """Return what a broker's answer says."""
    if isinstance(request, AddPartitionsToTxn):
        return _added(request, answer)
    if isinstance(request, InitProducerId) and not answer.error_code:
        return Answered(request, 0, ProducerIdAndEpoch(answer.producer_id, answer.producer_epoch))
    return Answered(request, answer.error_code)


def _added(request: AddPartitionsToTxn, answer: Any) -> Answered:
    """Return the first error that is about a partition; the others were not attempted because of it."""
    errors = {
        TopicPartition(topic.name, row.partition_index): row.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for row in topic.results_by_partition
        if row.partition_error_code
    }
    blamed = {each: code for each, code in errors.items() if code != ErrorCode.OPERATION_NOT_ATTEMPTED} or errors
    return Answered(request, next(iter(blamed.values()), 0), refused=frozenset(blamed))


def describe(transactional_id: str) -> Any:
    """Return the question for the state of a transaction. Its coordinator answers, since 3.0."""
    return DescribeTransactionsRequest(transactional_ids=[transactional_id])


def described(answer: Any) -> str:
    """Return the state that a coordinator tells, and its partitions: of one that is to end, those without a marker."""
    (row,) = answer.transaction_states
    if row.error_code:
        return error_text.text(row.error_code)
    partitions = [f"{topic.topic}-{number}" for topic in row.topics for number in topic.partitions]
    if not partitions:
        return str(row.transaction_state)
    more = f" and {len(partitions) - _SHOWN} more" if len(partitions) > _SHOWN else ""
    return f"{row.transaction_state}, with {', '.join(partitions[:_SHOWN])}{more}"
