"""What brokers know of transactions, as values: coordinator and logs, after TransactionCoordinator, TransactionMetadata
and ProducerAppendInfo of Kafka 3.9, for clients of transaction version 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from legacy_mm.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode as E

ProducerEpoch = tuple[int, int]
NOTHING: frozenset[TopicPartition] = frozenset()
LAST_EPOCH = 32_767


class Status(StrEnum):
    """The state of a transactional id, in Kafka's words."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"


PREPARED = {Status.PREPARE_COMMIT: Status.COMPLETE_COMMIT, Status.PREPARE_ABORT: Status.COMPLETE_ABORT}


class TxnMetadata(NamedTuple):
    """What the coordinator keeps of a transactional id."""

    producer_id: int
    epoch: int = -1
    last_epoch: int = -1
    last_producer_id: int = -1
    """With `last_epoch`: what a repeated InitProducerId may still expect."""
    status: Status = Status.EMPTY
    partitions: frozenset[TopicPartition] = NOTHING
    """Prepared: those whose marker is not written."""

    @property
    def producer(self) -> ProducerEpoch:
        return self.producer_id, self.epoch

    def fenced(self) -> TxnMetadata:
        """Abort with the next epoch, and forget the last one."""
        assert self.status is Status.ONGOING
        return self._replace(epoch=self.epoch + 1, last_epoch=-1, status=Status.PREPARE_ABORT)

    def marked(self, partition: TopicPartition) -> TxnMetadata:
        """A marker is in the log of this partition."""
        left = self.partitions - {partition}
        return self._replace(partitions=left, status=self.status if left else PREPARED[self.status])


def init_producer_id(
    metadata: TxnMetadata | None, expected: ProducerEpoch | None, new_id: int
) -> tuple[TxnMetadata, E, ProducerEpoch | None]:
    """Answer InitProducerId. `new_id` is taken for a new entry, and where the epochs are used up."""
    kept = metadata or TxnMetadata(new_id)
    known = (kept.producer_id, kept.last_producer_id)
    if expected and kept.epoch != -1 and expected[0] not in known:
        return kept, E.PRODUCER_FENCED, None
    if kept.status in PREPARED:
        return kept, E.CONCURRENT_TRANSACTIONS, None
    if kept.status is Status.ONGOING:
        return kept.fenced(), E.CONCURRENT_TRANSACTIONS, None
    if kept.epoch >= LAST_EPOCH - 1 and (expected is None or expected[1] == kept.epoch):
        made = TxnMetadata(new_id, 0, *((kept.epoch, kept.producer_id) if expected else ()))
    elif expected is None:
        made = TxnMetadata(kept.producer_id, kept.epoch + 1)
    elif kept.epoch in (-1, expected[1]):
        made = TxnMetadata(kept.producer_id, kept.epoch + 1, kept.epoch)
    elif kept.last_epoch == expected[1]:
        made = kept  # the answer was lost
    else:
        return kept, E.PRODUCER_FENCED, None
    return made, E.NONE, made.producer


def _unknown(metadata: TxnMetadata | None, producer: ProducerEpoch) -> E:
    if metadata is None or metadata.producer_id != producer[0]:
        return E.INVALID_PRODUCER_ID_MAPPING
    return E.PRODUCER_FENCED if metadata.epoch != producer[1] else E.NONE


def add_partitions(
    metadata: TxnMetadata | None, producer: ProducerEpoch, partitions: Iterable[TopicPartition]
) -> tuple[TxnMetadata | None, E]:
    """Answer AddPartitionsToTxn."""
    if metadata is None or (error := _unknown(metadata, producer)):
        return metadata, _unknown(metadata, producer)
    if metadata.status in PREPARED:
        return metadata, E.CONCURRENT_TRANSACTIONS
    before = metadata.partitions if metadata.status is Status.ONGOING else NOTHING
    return metadata._replace(status=Status.ONGOING, partitions=before | frozenset(partitions)), error


def end_txn(metadata: TxnMetadata | None, producer: ProducerEpoch, committed: bool) -> tuple[TxnMetadata | None, E]:
    """Answer EndTxn."""
    if metadata is None or _unknown(metadata, producer):
        return metadata, _unknown(metadata, producer)
    if metadata.status is Status.ONGOING:
        return metadata._replace(status=Status.PREPARE_COMMIT if committed else Status.PREPARE_ABORT), E.NONE
    wanted = (
        (Status.PREPARE_COMMIT, Status.COMPLETE_COMMIT) if committed else (Status.PREPARE_ABORT, Status.COMPLETE_ABORT)
    )
    if metadata.status not in wanted:
        return metadata, E.INVALID_TXN_STATE
    return metadata, E.CONCURRENT_TRANSACTIONS if metadata.status in PREPARED else E.NONE


class Entry(NamedTuple):
    """A batch of one record, or a marker, whose batch is True for commit and False for abort."""

    producer_id: int
    epoch: int
    sequence: int
    batch: Hashable

    @property
    def is_marker(self) -> bool:
        return self.sequence < 0


Log = tuple[Entry, ...]


class ProducerState(NamedTuple):
    """What a leader knows of a producer id."""

    epoch: int = -1
    last_sequence: int = -1
    is_open: bool = False


@lru_cache(1 << 16)
def producer_state(log: Log, producer_id: int) -> ProducerState:
    """Read it from the log, as a leader does that starts."""
    state = ProducerState()
    for entry in log:
        if entry.producer_id == producer_id:
            last = state.last_sequence if entry.is_marker else entry.sequence
            if entry.is_marker and entry.epoch != state.epoch:
                last = -1
            state = ProducerState(entry.epoch, last, not entry.is_marker)
    return state


def append(log: Log, producer: ProducerEpoch, sequence: int, batch: Hashable, is_verified: bool) -> tuple[Log, E, int]:
    """Append a transactional batch; `is_verified`: the coordinator says that it belongs to a transaction."""
    state = producer_state(log, producer[0])
    if producer[1] < state.epoch:
        return log, E.INVALID_PRODUCER_EPOCH, -1
    if producer[1] == state.epoch and sequence <= state.last_sequence:
        return log, E.NONE, next(at for at, entry in enumerate(log) if entry[:3] == (*producer, sequence))
    if not (is_verified or state.is_open):
        return log, E.INVALID_TXN_STATE, -1
    following = state.last_sequence + 1 if producer[1] == state.epoch else 0
    if state.epoch != -1 and sequence != following:
        return log, E.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
    return (*log, Entry(*producer, sequence, batch)), E.NONE, len(log)


def append_marker(log: Log, metadata: TxnMetadata) -> Log:
    """Append the marker of a prepared transaction."""
    return (*log, Entry(*metadata.producer, -1, metadata.status is Status.PREPARE_COMMIT))


class View(NamedTuple):
    """A log as a read_committed reader sees it."""

    batches: tuple[Hashable, ...]
    last_stable_offset: int


@lru_cache(1 << 16)
def read_committed(log: Log) -> View:
    """Return what is committed before the last stable offset."""
    visible, open_offsets = _ended(log)
    stable = min(open_offsets, default=len(log))
    return View(tuple(log[at].batch for at in visible if at < stable), stable)


@lru_cache(1 << 16)
def committed(log: Log) -> tuple[Hashable, ...]:
    """Return what is committed, also behind a transaction that is open."""
    return tuple(log[at].batch for at in _ended(log)[0])


def _ended(log: Log) -> tuple[list[int], list[int]]:
    """Return the offsets of what is committed, and of what is open. A marker ends all that is open of its producer."""
    is_open: dict[int, list[int]] = {}
    visible: list[int] = []
    for at, entry in enumerate(log):
        if not entry.is_marker:
            is_open.setdefault(entry.producer_id, []).append(at)
        elif (ended := is_open.pop(entry.producer_id, None)) and entry.batch:
            visible += ended
    return sorted(visible), [at for offsets in is_open.values() for at in offsets]


class Brokers(NamedTuple):
    """A cluster: the entries of all coordinators, and all logs. Each answer comes with the cluster after it."""

    entries: tuple[tuple[str, TxnMetadata], ...] = ()
    logs: tuple[tuple[TopicPartition, Log], ...] = ()
    new_id: int = 0
    verify: bool = False
    """`transaction.partition.verification.enable`; brokers before 3.6 do not have it."""
    missing: frozenset[TopicPartition] = NOTHING
    """Partitions that are asked for, but are not there."""

    def entry(self, transactional_id: str) -> TxnMetadata | None:
        return dict(self.entries).get(transactional_id)

    def log(self, partition: TopicPartition) -> Log:
        return dict(self.logs).get(partition, ())

    def with_entry(self, transactional_id: str, entry: TxnMetadata | None) -> Brokers:
        """The cluster with another entry; None: it is forgotten."""
        entries = {**dict(self.entries), transactional_id: entry}
        return self._replace(entries=tuple(sorted((key, each) for key, each in entries.items() if each)))

    def with_log(self, partition: TopicPartition, log: Log) -> Brokers:
        return self._replace(logs=tuple(sorted({**dict(self.logs), partition: log}.items(), key=_partition)))

    def init_producer_id(
        self, transactional_id: str, expected: ProducerEpoch | None
    ) -> tuple[Brokers, E, ProducerEpoch | None]:
        entry, error, producer = init_producer_id(self.entry(transactional_id), expected, self.new_id)
        new_id = max(self.new_id, entry.producer_id + 1)
        return self.with_entry(transactional_id, entry)._replace(new_id=new_id), error, producer

    def add_partitions(
        self, transactional_id: str, producer: ProducerEpoch, partitions: Iterable[TopicPartition]
    ) -> tuple[Brokers, E]:
        entry, error = add_partitions(self.entry(transactional_id), producer, partitions)
        return self.with_entry(transactional_id, entry), error

    def end_txn(self, transactional_id: str, producer: ProducerEpoch, committed: bool) -> tuple[Brokers, E]:
        entry, error = end_txn(self.entry(transactional_id), producer, committed)
        return self.with_entry(transactional_id, entry), error

    def append(
        self, partition: TopicPartition, producer: ProducerEpoch, sequence: int, batch: Hashable
    ) -> tuple[Brokers, E, int]:
        ongoing = (each for _, each in self.entries if each.status is Status.ONGOING and partition in each.partitions)
        known = not self.verify or any(each.producer == producer for each in ongoing)
        log, error, offset = append(self.log(partition), producer, sequence, batch, known)
        return self.with_log(partition, log), error, offset

    def time_out(self, transactional_id: str) -> Brokers:
        """The coordinator gives a transaction up."""
        entry = self.entry(transactional_id)
        assert entry is not None
        return self.with_entry(transactional_id, entry.fenced())

    def write_marker(self, transactional_id: str, partition: TopicPartition) -> Brokers:
        """One of the markers of a prepared transaction."""
        entry = self.entry(transactional_id)
        assert entry is not None
        log = append_marker(self.log(partition), entry)
        return self.with_log(partition, log).with_entry(transactional_id, entry.marked(partition))

    def when_marked(self, partition: TopicPartition) -> Log:
        """The log as it will be when no marker is missing."""
        log = self.log(partition)
        for _, entry in self.entries:
            if entry.status in PREPARED and partition in entry.partitions:
                log = append_marker(log, entry)
        return log


def _partition(pair: tuple[TopicPartition, Log]) -> TopicPartition:
    return pair[0]
