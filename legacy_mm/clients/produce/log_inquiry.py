"""Asks the target's log what a broker may have forgotten: where it ends, and whether a lost batch is in it.

A thread of its own, which is there only once a queue has a `queue.Question`. The end comes from ListOffsets, for which
the right to write is enough. Whether a batch arrived is read from the log, from where it ended before up to where its
leader ends it now (OffsetForLeaderEpoch): what was appended may have to wait for the other replicas before it can be
read. Each round has connections of its own, so that what a broken one brought is before the question at the broker.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kafka.protocol.consumer import OffsetForLeaderEpochRequest

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.base.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection import Connection
from legacy_mm.clients.net.connection_errors import (
    ClusterUnreachable,
    ConnectionLost,
    RequestRefused,
    UnsupportedVersion,
)
from legacy_mm.clients.produce.partition_queue import ProducerBatch, Question
from legacy_mm.logs import events
from legacy_mm.protocol import error_codes
from legacy_mm.protocol import fetch_messages as messages
from legacy_mm.protocol.fetch_messages import FetchedPartition, FetchOptions, Session, Wanted
from legacy_mm.protocol.record_set import whole_batches

_OPTIONS = FetchOptions(
    max_wait_ms=50, min_bytes=1, max_bytes=8 << 20, partition_bytes=1 << 20, committed_only=False, rack=""
)
_NO_SESSION, _ONCE = 0, -1
_NOWHERE = -1
_EPOCH_SINCE = 3
"""The first version of OffsetForLeaderEpoch that clients may use."""
_QUIET = 10
"""The number of empty answers in a row that mark the end of a log; the leader may not know it (brokers before 2.3)."""


class LogAnswer(NamedTuple):
    """`end` -1: unknown. `base_offset` of the batch asked for, -1: it is absent, None: unknown."""

    end: int
    base_offset: int | None


class _NotNow(Exception):
    """Another leader, or none: ask again."""


class _Unknowable(Exception):
    """The log does not tell us; the text says why."""


class LogInquiry(threading.Thread):
    """The thread that asks."""

    def __init__(
        self,
        cluster: Cluster,
        lock: threading.RLock,
        retry_pause: float,
        answered: Callable[[Question, LogAnswer | None], None],
        ended: Callable[[BaseException], None],
    ) -> None:
        """Create the thread. `answered` is called with each answer, None where the question is asked again, under the
        `lock`; `ended` without it, with the error that ends the asking.
        """
        super().__init__(name="log-inquiry", daemon=True)
        self._cluster = cluster
        self._work = threading.Condition(lock)
        self._retry_pause = retry_pause
        self._answered = answered
        self._ended = ended
        self._questions: list[Question] = []
        self._closed = self._said = False

    def put(self, question: Question) -> None:
        """Ask this, too, unless sending is over; the first question starts the thread. Under the lock."""
        if self._closed:
            return
        if self.ident is None:
            self.start()
        self._questions.append(question)
        self._work.notify()

    def close(self) -> None:
        """Ask no more: sending is over. Under the lock."""
        self._closed = True
        self._work.notify()

    def run(self) -> None:
        """Ask until sending is over."""
        try:
            while questions := self._next():
                self._round(questions)
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self._ended(error)

    def _next(self) -> list[Question]:
        with self._work:
            while not self._questions and not self._closed:
                self._work.wait()
            questions, self._questions = self._questions, []
            return [] if self._closed else questions

    def _round(self, questions: Sequence[Question]) -> None:
        found = {question.partition: answer for question, answer in self._answers(questions)}
        with self._work:
            again = [question for question in questions if question.partition not in found]
            for question in questions:
                self._answered(question, found.get(question.partition))
            self._questions += again
            if again and not self._closed:
                self._cluster.metadata.stale()
                self._work.wait(self._retry_pause)

    def _answers(self, questions: Sequence[Question]) -> Iterator[tuple[Question, LogAnswer]]:
        ends = [question for question in questions if question.entry is None]
        yield from self._ends(ends)
        with _Reader(self._cluster) as reader:
            for question in questions:
                if question.entry is not None and (answer := self._search(reader, question, question.entry)):
                    yield question, answer

    def _ends(self, questions: Sequence[Question]) -> Iterator[tuple[Question, LogAnswer]]:
        try:
            partitions = [question.partition for question in questions]
            ends = self._cluster.offsets.of_led(partitions, LATEST, patient=False) if partitions else {}
        except (ConnectionLost, ClusterUnreachable):
            return
        except RequestRefused as error:
            self._say(partitions[0], error)
            ends = dict.fromkeys(partitions, _NOWHERE)
        for question in questions:
            if question.partition in ends:
                yield question, LogAnswer(ends[question.partition], None)

    def _search(self, reader: _Reader, question: Question, entry: ProducerBatch) -> LogAnswer | None:
        try:
            return LogAnswer(_NOWHERE, reader.find(question, entry))
        except (ConnectionLost, ClusterUnreachable, _NotNow):
            return None
        except (UnsupportedVersion, RequestRefused, CorruptRecords, _Unknowable) as error:
            self._say(question.partition, error)
            return LogAnswer(_NOWHERE, None)

    def _say(self, partition: TopicPartition, error: Exception) -> None:
        if not self._said:
            self._said = True
            events.emit(events.ANSWER_LOST, partition=partition, reason=error)


class _Reader:
    """Reads the ends of logs, over connections made for it."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._connections: dict[int, Connection] = {}
        self._away: set[int] = set()

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections.values():
            connection.close()

    def find(self, question: Question, entry: ProducerBatch) -> int:
        """Return the offset of the batch; -1 if it is absent. Raise _NotNow, _Unknowable, ConnectionLost and others."""
        leader = self._cluster.metadata.leader(question.partition)
        if leader is None:
            raise _NotNow
        connection = self._connections.get(leader.node) or self._connect(leader.node)
        epoch = self._cluster.metadata.leader_epoch(question.partition)
        end = self._log_end(connection, question, epoch)
        at, quiet = question.since, 0
        while (end is None or at < end) and quiet < _QUIET:
            answer = _fetch(connection, Wanted(question.partition, at, epoch))
            if error_codes.is_out_of_range(answer.error):
                if (start := self._log_start(question)) <= at:
                    return _NOWHERE
                at = start
                continue
            _check(answer.error)
            record_set = whole_batches(answer)
            if record_set.of_messages:
                raise _Unknowable("the log holds messages without a producer id")
            for header in (batch.header for batch in record_set):
                if header.producer == entry.batch.header.producer and header.records == entry.batch.header.records:
                    return header.base_offset
                at, quiet = header.next_offset, -1
            if quiet >= 0 and end is not None and answer.high_watermark <= at:
                raise _NotNow  # the rest has to reach the other replicas first
            quiet += 1
        return _NOWHERE

    def _log_start(self, question: Question) -> int:
        starts = self._cluster.offsets.of_led([question.partition], EARLIEST, patient=False)
        if question.partition not in starts:
            raise _NotNow
        return starts[question.partition]

    def _connect(self, node: int) -> Connection:
        if node in self._away:  # other questions to it wait for the next round
            raise _NotNow
        self._away.add(node)
        made = self._connections[node] = self._cluster.connect(node)
        self._away.remove(node)
        return made

    def _log_end(self, connection: Connection, question: Question, epoch: int) -> int | None:
        """Return the end of the leader's own log, including what cannot be read yet; None if it does not say."""
        if epoch < 0:
            return None
        topic, number = question.partition
        row = OffsetForLeaderEpochRequest.OffsetForLeaderTopic.OffsetForLeaderPartition(
            partition=number, current_leader_epoch=epoch, leader_epoch=epoch
        )
        rows = [OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=topic, partitions=[row])]
        try:
            answer = connection.call(OffsetForLeaderEpochRequest(replica_id=-1, topics=rows, min_version=_EPOCH_SINCE))
        except UnsupportedVersion:
            return None
        (answered,) = answer.topics[0].partitions
        _check(answered.error_code)
        return int(answered.end_offset) if answered.end_offset >= 0 else None


def _fetch(connection: Connection, wanted: Wanted) -> FetchedPartition:
    version = connection.version(messages.API_KEY, messages.LOWEST, messages.HIGHEST)
    request = messages.encode(version, _OPTIONS, Session(_NO_SESSION, _ONCE, [wanted], ()))
    connection.send(messages.API_KEY, version, [request])
    answer = messages.decode(version, connection.receive())
    _check(answer.error)
    return answer.partitions[0]


def _check(error: int) -> None:
    if not error:
        return
    if error_codes.is_retriable(error) or error_codes.is_unknown(error):
        raise _NotNow
    raise _Unknowable(error_text.text(error))
