"""The reaction to each error of a transaction's requests."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from legacy_mm.protocol.error_codes import COORDINATOR_MOVED, OF_THE_RECORD, RETRIABLE
from legacy_mm.protocol.error_codes import ErrorCode as E
from legacy_mm.transactions.txn_requests import AddPartitionsToTxn, Append, InitProducerId, TxnRequest


class Reaction(Enum):
    """The next thing to do."""

    GO_ON = "the request is done"
    AGAIN = "send the same request again, after a pause"
    FIND_COORDINATOR = "find the coordinator, then send the same request again"
    REFUSED = "the records are not appended: their lane decides, within the transaction"
    UNWRITABLE = "partitions cannot be added to a transaction: hold them, and fence"
    FENCE = "give the transaction up: throw away what was read, and claim again"
    FENCED = "somebody else is the owner, or the coordinator gave the transaction up: as FENCE"
    END = "no later try can succeed"


_ALWAYS: Mapping[int, Reaction] = {
    E.NONE: Reaction.GO_ON,
    E.CONCURRENT_TRANSACTIONS: Reaction.AGAIN,
    **dict.fromkeys(COORDINATOR_MOVED, Reaction.FIND_COORDINATOR),
    E.INVALID_PRODUCER_EPOCH: Reaction.FENCED,
    E.PRODUCER_FENCED: Reaction.FENCED,
    E.INVALID_PRODUCER_ID_MAPPING: Reaction.FENCED,
    E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Reaction.END,
    E.UNSUPPORTED_FOR_MESSAGE_FORMAT: Reaction.END,
}
_NOT_ADDED = (E.UNKNOWN_TOPIC_OR_PARTITION, E.TOPIC_AUTHORIZATION_FAILED)
_OF: Mapping[type[TxnRequest], Mapping[int, Reaction]] = {
    # Of Append and EndTxn UNSUPPORTED_VERSION means that an older broker has come: the next claim finds what it speaks.
    InitProducerId: dict.fromkeys((E.INVALID_TRANSACTION_TIMEOUT, E.UNSUPPORTED_VERSION), Reaction.END),
    AddPartitionsToTxn: {
        **dict.fromkeys((E.OPERATION_NOT_ATTEMPTED, *_NOT_ADDED), Reaction.UNWRITABLE),
        E.UNSUPPORTED_VERSION: Reaction.END,
    },
    # The outcome of a batch may stay open after such an error. Sent again it has the same sequence number.
    Append: {
        **dict.fromkeys(RETRIABLE, Reaction.AGAIN),
        **dict.fromkeys(OF_THE_RECORD, Reaction.REFUSED),
        **dict.fromkeys(_NOT_ADDED, Reaction.UNWRITABLE),
        E.DUPLICATE_SEQUENCE_NUMBER: Reaction.GO_ON,
    },
}


def reaction_to(request: TxnRequest, error: int) -> Reaction:
    """Return what an answer asks for; an error without a row gives the transaction up, which is always safe.

    So does a broker that cannot renew an epoch: those before 2.5 only know claims.
    """
    if error == E.UNSUPPORTED_VERSION and isinstance(request, InitProducerId) and request.expected is not None:
        return Reaction.FENCE
    return _ALWAYS.get(error) or _OF.get(type(request), {}).get(error) or Reaction.FENCE
