"""What brokers know of transactions, as values: coordinator and logs, after TransactionCoordinator, TransactionMetadata
and ProducerAppendInfo: of Kafka 3.9 for clients of transaction version 1, of the trunk of 2025 for those of version 2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode as E
from legacy_mm.transactions.txn_requests import TransactionVersion

ProducerEpoch = tuple[int, int]
NOTHING: frozenset[TopicPartition] = frozenset()
ONE, TWO = TransactionVersion
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
    next_id: int = -1
    """Prepared, and the epochs are used up: the producer id from then on."""

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
        if left:
            return self._replace(partitions=left)
        ended = self._replace(partitions=left, status=PREPARED[self.status])
        if self.next_id < 0:
            return ended
        return ended._replace(producer_id=self.next_id, epoch=0, last_producer_id=self.producer_id, next_id=-1)

    @property
    def following(self) -> ProducerEpoch:
        """Who may go on after a transaction of version 2."""
        return self.producer if self.next_id < 0 else (self.next_id, 0)


def init_producer_id(
    metadata: TxnMetadata | None, expected: ProducerEpoch | None, new_id: int, last_epoch: int = LAST_EPOCH
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
    if kept.epoch >= last_epoch - 1 and (expected is None or expected[1] == kept.epoch):
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


def commit_2(
    metadata: TxnMetadata | None, producer: ProducerEpoch, new_id: int, last_epoch: int
) -> tuple[TxnMetadata | None, E, ProducerEpoch | None]:
    """Answer EndTxn(commit) of transaction version 2, with who goes on after it.

    Its epoch tells a request that is repeated from the end of the next transaction.
    """
    used_up = metadata is not None and metadata.epoch == 0 and producer == (metadata.last_producer_id, last_epoch - 1)
    if metadata is None or not (metadata.producer_id == producer[0] or used_up):
        return metadata, E.INVALID_PRODUCER_ID_MAPPING, None
    is_current, is_repeated = metadata.epoch == producer[1], used_up or metadata.epoch == producer[1] + 1
    if metadata.status in PREPARED:
        is_valid = is_repeated
    else:
        is_valid = is_current or (is_repeated and metadata.status in PREPARED.values())
    if not is_valid:
        return metadata, E.PRODUCER_FENCED, None
    if metadata.status is Status.ONGOING:
        next_id = new_id if metadata.epoch >= last_epoch - 1 else -1
        ended = TxnMetadata(*producer, -1, -1, Status.PREPARE_COMMIT, metadata.partitions, next_id)
        ended = ended._replace(epoch=metadata.epoch + 1, last_epoch=metadata.epoch)
        return ended, E.NONE, ended.following
    if metadata.status is Status.PREPARE_COMMIT:
        return metadata, E.CONCURRENT_TRANSACTIONS, None
    if metadata.status is Status.COMPLETE_COMMIT and is_repeated:
        return metadata, E.NONE, metadata.producer
    return metadata, E.INVALID_TXN_STATE, None


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
    level: TransactionVersion = ONE
    """The finalized `transaction.version`."""
    last_epoch: int = LAST_EPOCH

    def entry(self, transactional_id: str) -> TxnMetadata | None:
        return dict(self.entries).get(transactional_id)

    def log(self, partition: TopicPartition) -> Log:
        return dict(self.logs).get(partition, ())

    def with_entry(self, transactional_id: str, entry: TxnMetadata | None) -> Brokers:
        """The cluster with another entry; None: it is forgotten."""
        entries = {**dict(self.entries), transactional_id: entry}
        used = max(entry.producer_id, entry.next_id) if entry else -1
        kept = tuple(sorted((key, each) for key, each in entries.items() if each))
        return self._replace(entries=kept, new_id=max(self.new_id, used + 1))

    def with_log(self, partition: TopicPartition, log: Log) -> Brokers:
        return self._replace(logs=tuple(sorted({**dict(self.logs), partition: log}.items(), key=_partition)))

    def init_producer_id(
        self, transactional_id: str, expected: ProducerEpoch | None
    ) -> tuple[Brokers, E, ProducerEpoch | None]:
        before = self.entry(transactional_id)
        entry, error, producer = init_producer_id(before, expected, self.new_id, self.last_epoch)
        return self.with_entry(transactional_id, entry), error, producer

    def add_partitions(
        self, transactional_id: str, producer: ProducerEpoch, partitions: Iterable[TopicPartition]
    ) -> tuple[Brokers, E]:
        entry, error = add_partitions(self.entry(transactional_id), producer, partitions)
        return self.with_entry(transactional_id, entry), error

    def end_txn(self, transactional_id: str, producer: ProducerEpoch, committed: bool) -> tuple[Brokers, E]:
        entry, error = end_txn(self.entry(transactional_id), producer, committed)
        return self.with_entry(transactional_id, entry), error

    def commit_2(self, transactional_id: str, producer: ProducerEpoch) -> tuple[Brokers, E, ProducerEpoch | None]:
        entry, error, following = commit_2(self.entry(transactional_id), producer, self.new_id, self.last_epoch)
        return self.with_entry(transactional_id, entry), error, following

    def append(
        self, partition: TopicPartition, producer: ProducerEpoch, sequence: int, batch: Hashable
    ) -> tuple[Brokers, E, int]:
        ongoing = (each for _, each in self.entries if each.status is Status.ONGOING and partition in each.partitions)
        known = not self.verify or any(each.producer == producer for each in ongoing)
        return self._append(partition, producer, sequence, batch, known)

    def append_2(
        self, transactional_id: str, partition: TopicPartition, producer: ProducerEpoch, sequence: int, batch: Hashable
    ) -> tuple[Brokers, E, int]:
        """Append a batch in transaction version 2."""
        brokers, error = self.admit(transactional_id, partition, producer)
        return (brokers, error, -1) if error else brokers._append(partition, producer, sequence, batch, True)

    def admit(self, transactional_id: str, partition: TopicPartition, producer: ProducerEpoch) -> tuple[Brokers, E]:
        """Let the leader add its partition to the transaction, unless it knows that this is done."""
        state = producer_state(self.log(partition), producer[0])
        if state.is_open and state.epoch == producer[1]:
            return self, E.NONE
        brokers, error = self.add_partitions(transactional_id, producer, {partition})
        return brokers, E.INVALID_PRODUCER_EPOCH if error is E.PRODUCER_FENCED else error

    def _append(
        self, partition: TopicPartition, producer: ProducerEpoch, sequence: int, batch: Hashable, known: bool
    ) -> tuple[Brokers, E, int]:
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
