"""The version of transactions that an owner speaks, from a claim until its next one: Kafka's `transaction.version`."""

from __future__ import annotations

from enum import IntEnum


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
