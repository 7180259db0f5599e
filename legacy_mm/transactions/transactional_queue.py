"""The batches of a transaction's owner for one target partition. No socket, no thread, as its base.

They are sent only while the session says that the partition is part of the transaction, and once they are flushed.
What the log holds is never asked: brokers remember an owner while its transaction is open, and afterwards from the
marker on.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.produce.partition_queue import PartitionQueue, ProducerBatch, Question
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.transactions.txn_requests import ProducerIdAndEpoch, TransactionVersion

_NOT_ADDED = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
"""AddPartitionsToTxn tells it, too, so the owner hears of it in either version."""


class TransactionalQueue(PartitionQueue):
    """The way of one owner to one target partition."""

    def __init__(
        self,
        partition: TopicPartition,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        in_flight: int,
        version: TransactionVersion = TransactionVersion.ONE,
    ) -> None:
        """Create a queue; `in_flight` limits the batches in flight."""
        super().__init__(partition, producer, in_flight)
        self.transactional_id = transactional_id
        self.adds_partitions = version.adds_partitions
        if version.adds_partitions:
            self.not_retried = _NOT_ADDED
        self.added = False
        """True while the partition is part of the open transaction."""
        self.doubtful = False
        """True once a request of the open transaction got no answer: a copy of it may still arrive."""
        self.on_settled: Callable[[], None] | None = None
        """Called, under the appender's lock, when the target has all of it."""
        self._flushed_at = -inf
        """The time up to which batches may be sent; later ones linger."""

    @property
    def is_settled(self) -> bool:
        """Return True if the target has all of it. Only under the appender's lock."""
        return not (self.pending or self.under_way or self.unanswered or self.held)

    def can_send(self) -> bool:
        """Return True if the next batch may be sent now."""
        return self.added and super().can_send() and self.pending[0].since <= self._flushed_at

    def flush(self) -> None:
        """Let all that was appended be sent, in this transaction."""
        self._flushed_at = self._clock()

    def acknowledged(self, entry: ProducerBatch, base_offset: int = -1) -> list[ProducerBatch]:
        """Acknowledge the entry, as the base does."""
        known = super().acknowledged(entry, base_offset)
        if self.on_settled is not None and self.is_settled:
            self.on_settled()
        return known

    def failed(self, entry: ProducerBatch, *, denied: bool) -> None:
        """Mark the entry as refused or of unknown outcome; the second makes the transaction doubtful."""
        self.doubtful = self.doubtful or not denied
        super().failed(entry, denied=denied)

    def question(self) -> Question | None:
        """Return None: the log is not asked."""
        return None

    def disputes(self, entry: ProducerBatch) -> bool:
        """Return False: the log cannot tell what belongs to this transaction."""
        return False

    def _is_remembered(self, dated: float) -> bool:
        """Return True: a broker does not forget the owner of an open transaction, however old its records are."""
        return True

    def transaction_over(self) -> None:
        """Send nothing until the partition is part of the next transaction."""
        self.added = self.doubtful = False
        self.on_settled = None

    def renewed(self, producer: ProducerIdAndEpoch) -> None:
        """Continue under another epoch, whose sequence numbers begin at 0; all that was sent before is settled."""
        assert self.is_settled, "a new epoch before the end of the transaction"
        self._use(producer)
