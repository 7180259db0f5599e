"""Section 4 of the contract, as a table."""

from __future__ import annotations

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode as E
from legacy_mm.transactions.txn_errors import Reaction, reaction_to
from legacy_mm.transactions.txn_requests import AddPartitionsToTxn, Append, EndTxn, InitProducerId, ProducerIdAndEpoch

PRODUCER, PARTITION = ProducerIdAndEpoch(4, 2), TopicPartition("t", 0)
INIT = InitProducerId("x", None)
RENEWAL = InitProducerId("x", PRODUCER)
ADD = AddPartitionsToTxn("x", PRODUCER, frozenset({PARTITION}))
APPEND = Append("x", PRODUCER, PARTITION, "batch")
END = EndTxn("x", PRODUCER)
ALL = (INIT, ADD, APPEND, END)
TABLE = [
    (E.NONE, ALL, Reaction.GO_ON),
    (E.CONCURRENT_TRANSACTIONS, ALL, Reaction.AGAIN),
    (E.COORDINATOR_LOAD_IN_PROGRESS, ALL, Reaction.FIND_COORDINATOR),
    (E.COORDINATOR_NOT_AVAILABLE, (INIT, ADD, END), Reaction.FIND_COORDINATOR),
    (E.NOT_COORDINATOR, (INIT, ADD, END), Reaction.FIND_COORDINATOR),
    (E.INVALID_PRODUCER_EPOCH, ALL, Reaction.FENCED),
    (E.PRODUCER_FENCED, ALL, Reaction.FENCED),
    (E.INVALID_PRODUCER_ID_MAPPING, ALL, Reaction.FENCED),
    (E.INVALID_TXN_STATE, (ADD, APPEND, END), Reaction.FENCE),
    (E.TRANSACTION_ABORTABLE, ALL, Reaction.FENCE),
    (E.UNKNOWN_PRODUCER_ID, (APPEND,), Reaction.FENCE),
    (E.OUT_OF_ORDER_SEQUENCE_NUMBER, (APPEND,), Reaction.FENCE),
    (E.DUPLICATE_SEQUENCE_NUMBER, (APPEND,), Reaction.GO_ON),
    (E.NOT_ENOUGH_REPLICAS, (APPEND,), Reaction.AGAIN),
    (E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, (APPEND,), Reaction.AGAIN),
    (E.REQUEST_TIMED_OUT, (APPEND,), Reaction.AGAIN),
    (E.NOT_LEADER_OR_FOLLOWER, (APPEND,), Reaction.AGAIN),
    (E.OPERATION_NOT_ATTEMPTED, (ADD,), Reaction.UNWRITABLE),
    (E.UNKNOWN_TOPIC_OR_PARTITION, (ADD, APPEND), Reaction.UNWRITABLE),
    (E.TOPIC_AUTHORIZATION_FAILED, (ADD, APPEND), Reaction.UNWRITABLE),
    (E.MESSAGE_TOO_LARGE, (APPEND,), Reaction.REFUSED),
    (E.INVALID_RECORD, (APPEND,), Reaction.REFUSED),
    (E.INVALID_TRANSACTION_TIMEOUT, (INIT,), Reaction.END),
    (E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ALL, Reaction.END),
    (E.UNSUPPORTED_VERSION, (INIT, ADD), Reaction.END),
    (E.UNSUPPORTED_VERSION, (APPEND, END, RENEWAL), Reaction.FENCE),
    (E.UNSUPPORTED_FOR_MESSAGE_FORMAT, (APPEND,), Reaction.END),
    (E.UNKNOWN_SERVER_ERROR, ALL, Reaction.FENCE),
    (E.TRANSACTION_COORDINATOR_FENCED, ALL, Reaction.FENCE),
]
ROWS = [(error, request, wanted) for error, requests, wanted in TABLE for request in requests]


@pytest.mark.parametrize(("error", "request_", "wanted"), ROWS)
def test_an_error_asks_for_this(error: E, request_, wanted: Reaction) -> None:
    assert reaction_to(request_, error) is wanted


def test_an_unknown_error_gives_the_transaction_up() -> None:
    assert {reaction_to(request, 999) for request in ALL} == {Reaction.FENCE}
