"""The public API for message handlers and rebalance listeners; nothing else of legacy_mm is meant for their authors.

A handler is a class with `handle(record)`, or a script with such a function::

    from legacy_mm.handlers.api import MessageHandler, Record, TargetRecord

    class Rename(MessageHandler):
        def __init__(self, prefix: str) -> None:      # --message.handler.args, one string; without it: no argument
            self._prefix = prefix

        def handle(self, record: Record) -> list[TargetRecord]:
            return [record.to(self._prefix + record.topic)]

`handle` answers the records to send, in their order: none drops the record on purpose, several fan it out. A source
offset is committed only when all of them are acknowledged. An exception, or None instead of a list, ends the mirror
with 255 (or, with `--handler.on.error quarantine`, sets the record aside). There is one handler for each copy job, made
where the records are, and again after each rebalance; it is called by one thread and never closed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, cast

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.kernels import record_kernels as kernels

Headers = tuple[tuple[str, bytes | None], ...]
"""In their order; names may repeat, a value may be null."""

NO_TIMESTAMP, CREATE_TIME, LOG_APPEND_TIME = 0, 1, 2
"""Kinds of timestamps: none (before 0.10), the producer's, the source broker's."""


class Record(NamedTuple):
    """A record of the source. Immutable."""

    topic: str
    partition: int
    offset: int
    timestamp_type: int
    """CREATE_TIME, LOG_APPEND_TIME or NO_TIMESTAMP."""
    timestamp: int
    """Milliseconds since 1970."""
    key: bytes | None
    value: bytes | None
    headers: Headers

    def to(self, topic: str) -> TargetRecord:
        """Return the same record for this target topic; its key decides the partition, as without a handler.

        For other changes: `record.to("t")._replace(partition=record.partition, value=b"")`.
        """
        return cast("TargetRecord", kernels.target_of(self, topic, TargetRecord))


class TargetRecord(NamedTuple):
    """A record to send to the target. Immutable."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    partition: int | None = None
    """None: the key decides."""
    timestamp: int | None = None
    """Milliseconds since 1970; None: the time of sending."""


class MessageHandler(ABC):
    """Looks at each record between source and target. Its constructor takes the args as one string, when given."""

    @abstractmethod
    def handle(self, record: Record) -> Sequence[TargetRecord]:
        """Return the records to send for this one."""


class RebalanceListener(ABC):
    """Told about partitions that come and go; one object for all streams, called by one thread at a time.

    An exception ends the mirror with 255.
    """

    @abstractmethod
    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        """Handle newly assigned partitions; none of their records is copied before this returns."""

    @abstractmethod
    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        """Handle revoked partitions: copied records are acknowledged, and their commit is in flight."""
