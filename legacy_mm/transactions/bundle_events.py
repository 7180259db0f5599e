"""Events that a bundle's session is told, and actions that it wants done."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.txn_errors import Reaction
from legacy_mm.transactions.txn_requests import Positions, ProducerIdAndEpoch, TransactionVersion, TxnRequest


@dataclass(frozen=True, slots=True)
class Owned:
    """The group's generation holds the bundle: a heartbeat succeeded after AskOwnership."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request that was sent last with this value."""

    request: TxnRequest
    error: int = 0
    producer: ProducerIdAndEpoch | None = None
    """InitProducerId's, and the one after an EndTxn that begins a new epoch."""
    version: TransactionVersion = TransactionVersion.ONE
    """InitProducerId's: the target speaks it now."""
    offset: int = -1
    """Append's: where the batch begins in the log; -1 is unknown."""
    refused: frozenset[TopicPartition] = frozenset()
    """The target partitions that an error is about."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The connection broke, or the answer did not come in time: the request may still be on its way."""

    request: TxnRequest


@dataclass(frozen=True, slots=True)
class PositionsRead:
    """All committed positions up to the claim record."""

    positions: Positions
    adopted: Positions
    """The begin of partitions without a position."""


@dataclass(frozen=True, slots=True)
class PieceRead:
    """A part of a source partition, from its position on, and the batches that it became."""

    partition: TopicPartition
    begin: int
    end: int
    batches: tuple[tuple[TopicPartition, Hashable], ...]
    """Target partition and batch."""


@dataclass(frozen=True, slots=True)
class Jumped:
    """The source goes on here, before or behind what was read: offsets between are never copied, or once more."""

    partition: TopicPartition
    offset: int


class Timer(Enum):
    """Words of the engine's clock, or of the driver."""

    INTERVAL_OVER = "the transaction takes no more pieces"
    OVERDUE = "the transaction will not be settled before its time-out"
    STOP = "commit what is open, then end"


BundleEvent = Owned | Answered | Unanswered | PositionsRead | PieceRead | Jumped | Timer


class First(Enum):
    """Work before a request is sent."""

    NOTHING = "nothing"
    PAUSE = "wait a moment"
    FIND_COORDINATOR = "ask who is the coordinator of the transactional id"


@dataclass(frozen=True, slots=True)
class AskOwnership:
    """Ask the driver whether the group's generation holds the bundle."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; until it is answered, a later Send of the same value replaces it."""

    request: TxnRequest
    first: First = First.NOTHING


@dataclass(frozen=True, slots=True)
class ReadPositions:
    """Read the bundle's positions, read_committed, from the start until past this offset."""

    past: int


@dataclass(frozen=True, slots=True)
class FetchFrom:
    """Fetch the source from these positions on."""

    positions: Positions


@dataclass(frozen=True, slots=True)
class Report:
    """These positions are committed: offset pairs, progress, counters and the source's group may be told."""

    positions: Positions


@dataclass(frozen=True, slots=True)
class Discard:
    """Send nothing more of this owner, wait for no answer, throw away all that was read."""

    why: Reaction | Timer
    error: int = 0


@dataclass(frozen=True, slots=True)
class HoldPartitions:
    """The target refuses to add these partitions to a transaction."""

    partitions: frozenset[TopicPartition]
    error: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """The lane of this batch decides: halve it, keep it in the quarantine, or drop it."""

    request: TxnRequest
    error: int


@dataclass(frozen=True, slots=True)
class End:
    """The session is over."""

    error: int = 0
    """0: it was told to stop."""


CopyAction = AskOwnership | FetchFrom | Report | Discard | HoldPartitions
"""The actions that the owner of a bundle hands on to whoever copies, or changes positions."""
BundleAction = CopyAction | Send | ReadPositions | Refuse | End
