"""The requests of a transaction, and the answers, as messages of Kafka's protocol.

Produce has its own module: `protocol/produce_messages.py`.
"""

from __future__ import annotations

from typing import Any

from kafka.protocol.admin import DescribeTransactionsRequest
from kafka.protocol.producer.transaction import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.admin.admin import NativeAdmin
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.protocol import produce_messages
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.transactions.bundle_events import Answered
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    EndTxn,
    InitProducerId,
    ProducerIdAndEpoch,
    TransactionVersion,
    version_for,
)

CoordinatorRequest = InitProducerId | AddPartitionsToTxn | EndTxn

_NO_PRODUCER = ProducerIdAndEpoch(-1, -1)
_INIT, _ADD = 5, 3
"""The newest versions. Later AddPartitionsToTxn are for brokers only."""
_ENDS_EPOCHS = 5
_END = {TransactionVersion.ONE: (None, _ENDS_EPOCHS - 1), TransactionVersion.TWO: (_ENDS_EPOCHS, _ENDS_EPOCHS)}
"""The oldest and the newest version. EndTxn 5 is transaction version 2, whether or not the cluster has it."""
_FEATURE = "transaction.version"
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
        case EndTxn(transactional_id, producer, version):
            oldest, newest = _END[version]
            return EndTxnRequest(
                transactional_id=transactional_id,
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                committed=True,
                min_version=oldest,
                max_version=newest,
            )


def _by_topic(partitions: frozenset[TopicPartition]) -> list[Any]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    row = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
    return [row(name=name, partitions=numbers) for name, numbers in topics.items()]


def version_at(coordinator: Connection) -> TransactionVersion:
    """Return the version of transactions that a coordinator's cluster speaks now; it is asked.

    A level is finalized only when all brokers can do it, and the coordinator is one that shows it.
    """
    version = version_for(coordinator.level_now(_FEATURE))
    needed = (produce_messages.API_KEY, produce_messages.ADDING), (EndTxnRequest.API_KEY, _ENDS_EPOCHS)
    return version if all(coordinator.has(*each) for each in needed) else TransactionVersion.ONE


def cluster_version(admin: NativeAdmin, deadline: Deadline) -> TransactionVersion:
    """Return the version of transactions that a claim would find now. Raise HostError."""
    return admin.ask_a_broker("asking for the transaction version", version_at, deadline)


def answered(
    request: CoordinatorRequest, answer: Any, version: TransactionVersion = TransactionVersion.ONE
) -> Answered:
    """Return what a broker's answer says; `version`: what its cluster speaks, for a claim."""
    match request:
        case AddPartitionsToTxn():
            return _added(request, answer)
        case InitProducerId() if not answer.error_code:
            return Answered(request, 0, _producer(answer), version=version)
        case EndTxn(_, _, TransactionVersion.TWO) if not answer.error_code:
            return Answered(request, 0, _producer(answer))
    return Answered(request, answer.error_code)


def _producer(answer: Any) -> ProducerIdAndEpoch:
    return ProducerIdAndEpoch(answer.producer_id, answer.producer_epoch)


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
