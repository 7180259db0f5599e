"""A way through the model in words, a line for each step."""

from __future__ import annotations

from collections.abc import Iterable

from legacy_mm.protocol import error_codes
from legacy_mm.transactions.txn_requests import AddPartitionsToTxn, Append, InitProducerId, TxnRequest
from tests.unit.transactions.steps import Label
from tests.unit.transactions.world import COMMITS


def story(trace: Iterable[Label]) -> str:
    """The steps, numbered."""
    return "\n".join(f"{number:3}. {line(*label)}" for number, label in enumerate(trace, start=1))


def line(what: str, *details) -> str:
    """One step."""
    match what, *details:
        case "answered", message, error, *passing:
            told = error_codes.name(error) + "".join(f" ({each})" for each in passing)
            return f"owner {message.owner}: {_request(message.request, message.sequence)} -> {told}"
        case "late", message, error:
            return f"late: {_request(message.request, message.sequence)} -> {error_codes.name(error)}"
        case "copied", message:
            return f"the network keeps a copy of {_request(message.request, message.sequence)}"
        case "unanswered", message:
            return f"owner {message.owner}: the connection breaks with {_request(message.request, message.sequence)}"
        case "read", number, read:
            return f"owner {number} reads the positions {_positions(read.positions) or 'of nobody'}"
        case (("piece" | "pieces until"), number, piece):
            return (
                f"owner {number} takes {what.removeprefix('piece').removeprefix('s ')} {piece.partition} to {piece.end}"
            )
        case "marker", transactional_id, partition, status:
            return f"the marker of {transactional_id} ({status}) is in {partition}"
        case (("time-out" | "expired"), transactional_id):
            return f"the coordinator: {what} of {transactional_id}"
        case "level", level:
            return f"the cluster: transaction.version is {level:d} from now on"
        case _, number:
            return f"owner {number}: {what}"
    raise AssertionError(what)


def _request(request: TxnRequest, sequence: int) -> str:
    match request:
        case InitProducerId(_, expected):
            return f"InitProducerId, expects epoch {expected.epoch}" if expected else "InitProducerId"
        case AddPartitionsToTxn(_, producer, partitions):
            return f"AddPartitionsToTxn {' '.join(map(str, sorted(partitions)))}, epoch {producer.epoch}"
        case Append(_, producer, partition, batch):
            return f"Produce to {partition}: {batch}, epoch {producer.epoch}, sequence {sequence}"
        case _:
            kind = "commit" if COMMITS[type(request)] else "abort"
            return f"EndTxn({kind}), epoch {request.producer.epoch}"


def _positions(positions) -> str:
    return " ".join(f"{partition}={offset}" for partition, offset in positions)
