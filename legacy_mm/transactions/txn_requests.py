"""The requests of a transaction as values, with the names of Kafka's protocol, and the version of transactions.

There is no request to abort. An abort with EndTxn keeps the epoch in transaction version 1, and a late batch would then
become part of the next transaction. A new owner's InitProducerId aborts, with a new epoch.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition

Positions = tuple[tuple[TopicPartition, int], ...]
"""Source partition and its next offset; sorted."""


class TransactionVersion(IntEnum):
    """The share of the work that brokers do by themselves."""

    ONE = 1
    """Every broker speaks it. An epoch lasts until InitProducerId, and AddPartitionsToTxn names each partition."""
    TWO = 2
    """KIP-890. EndTxn begins a new epoch and returns it, and Produce adds its partition by itself."""

    @property
    def adds_partitions(self) -> bool:
        """Return True if a batch needs no AddPartitionsToTxn before it."""
        return self is TransactionVersion.TWO


def version_for(level: int) -> TransactionVersion:
    """Return the version for a cluster's finalized level of the feature; 0 where it has none."""
    return TransactionVersion.TWO if level >= TransactionVersion.TWO else TransactionVersion.ONE


class ProducerIdAndEpoch(NamedTuple):
    """The identity that InitProducerId gives, and EndTxn of transaction version 2. A later epoch of the same
    transactional id fences the earlier ones.
    """

    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True)
class InitProducerId:
    """Become the owner of a transactional id. The coordinator first ends the transaction of the owner before."""

    transactional_id: str
    expected: ProducerIdAndEpoch | None
    """Ours, to get the next epoch after a commit. None: whoever is the owner is fenced."""


@dataclass(frozen=True, slots=True)
class AddPartitionsToTxn:
    """Tell the coordinator which partitions get a marker at the end of the transaction. Version 1 alone has it."""

    transactional_id: str
    producer: ProducerIdAndEpoch
    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class Append:
    """Produce one batch. The lane of the partition numbers it, from 0 for each new producer, and keeps the order."""

    transactional_id: str
    producer: ProducerIdAndEpoch
    partition: TopicPartition
    batch: Hashable
    """Opaque here, unless it is one of the two below. It is unlike all others of the same producer and partition."""
    version: TransactionVersion = TransactionVersion.ONE


@dataclass(frozen=True, slots=True)
class EndTxn:
    """Commit."""

    transactional_id: str
    producer: ProducerIdAndEpoch
    version: TransactionVersion = TransactionVersion.ONE


TxnRequest = InitProducerId | AddPartitionsToTxn | Append | EndTxn


@dataclass(frozen=True, slots=True)
class ClaimBatch:
    """The record that a new owner writes before it reads: all that was committed before is before it in the log."""


@dataclass(frozen=True, slots=True)
class PositionsBatch:
    """The records that move positions, in the transaction of the records that they cover."""

    positions: Positions


def moved(positions: Positions, partition: TopicPartition, offset: int) -> Positions:
    """Return the positions with another one for `partition`."""
    return tuple(sorted({**dict(positions), partition: offset}.items()))
