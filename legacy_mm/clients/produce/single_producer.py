"""Single records to the target, for commands that send a few and want to know of each what became of it.

With a record the target refuses its batch, so here each record has a batch of its own.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

from legacy_mm.base.clock import Deadline, epoch_ms
from legacy_mm.base.errors import HostError, SendFailure
from legacy_mm.base.kafka_clients import ProducerSettings
from legacy_mm.base.model import Outgoing, TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce import append_options
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.records import partition_of
from legacy_mm.protocol.single_record import SingleRecord

_QUESTION_TIMEOUT = 4.0
_LOOK_INTERVAL = 0.05
_FOR_GOOD = (ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.INVALID_TOPIC_EXCEPTION)
"""Answers about a topic that no later try mends."""


class RefusedRecord(NamedTuple):
    """A record that the target will not have."""

    topic: str
    reason: str


class NativeProducer:
    """Sends records to one cluster. For one thread; connects at the first record."""

    def __init__(
        self, settings: ProducerSettings, batch_of: Callable[[SingleRecord], RecordBatch], silence_timeout: float
    ) -> None:
        """Take the settings of a producer; `batch_of` makes the batch of a record.

        After `silence_timeout` seconds without an acknowledgement sending has failed.
        """
        self._hashes_keys = settings.produce.hashes_keys
        self._batch_of = batch_of
        self._silence_timeout = silence_timeout
        self._options = append_options.options_from(settings)
        self._cluster = Cluster(settings.connection, _QUESTION_TIMEOUT)
        self._last_trouble = ""
        self._appender = BatchAppender(self._cluster, self._options, Traffic("producer", self._note))
        self._turns = count()

    def send(self, records: Sequence[Outgoing]) -> list[RefusedRecord]:
        """Send these in their order; return those that the target refuses when all others are acknowledged.

        Raise ProducerIdRefused where the target grants no producer id; SendFailure for what is no record, or where
        another try needs a new producer; HostError when nothing is acknowledged any more.
        """
        self._silence = Deadline.after(self._silence_timeout)
        self._ask(self._appender.start)
        self._cluster.metadata.keep_fresh(self._note)
        refused: list[RefusedRecord] = []
        waiting = deque(records)
        while waiting or not self._appender.is_empty():
            while waiting and self._appender.has_room():
                refused += self._append(waiting.popleft())
            self._appender.wait_empty(_LOOK_INTERVAL)
            refused += self._came_back()
            self._raise_if_silent()
        return refused

    def close(self) -> None:
        """Close the connections."""
        self._appender.purge()
        self._cluster.close()

    def _append(self, record: Outgoing) -> list[RefusedRecord]:
        topic, key, value, headers, partition, timestamp = record
        try:
            batch = self._batch_of(SingleRecord(epoch_ms() if timestamp is None else timestamp, key, value, headers))
        except (TypeError, ValueError, OverflowError, struct.error) as error:
            raise SendFailure(f"a record cannot be sent: {error}") from error
        partitions = self._partitions(topic, 1 if partition is None else partition + 1)
        if isinstance(partitions, RefusedRecord):
            return [partitions]
        if len(batch.buffer) > self._options.request_bytes:
            return [RefusedRecord(topic, error_text.meaning(ErrorCode.MESSAGE_TOO_LARGE))]
        self._appender.append(TopicPartition(topic, self._number(key, partition, partitions)), batch, topic)
        return []

    def _number(self, key: bytes | None, partition: int | None, partitions: int) -> int:
        if partition is not None:
            return partition
        if key is not None and self._hashes_keys:
            return partition_of(key, partitions)
        return next(self._turns) % partitions

    def _partitions(self, topic: str, least: int) -> int | RefusedRecord:
        """Return the number of partitions of a topic, which is created where brokers do that; wait for it."""
        self._cluster.metadata.watch([topic], create=True)
        while (partitions := self._cluster.metadata.partitions(topic)) < least:
            problem = self._cluster.metadata.problem(topic)
            if problem in _FOR_GOOD:
                return RefusedRecord(topic, error_text.meaning(problem))
            self._note(error_text.text(problem) if problem else f"{topic} has {partitions} partitions")
            self._cluster.metadata.stale()
            self._cluster.metadata.wait_for_refresh(_LOOK_INTERVAL)
            self._appender.poll()
            self._raise_if_silent()
        return partitions

    def _came_back(self) -> list[RefusedRecord]:
        """Return what the target has refused since the last call."""
        if self._appender.take_acknowledged():
            self._silence = Deadline.after(self._silence_timeout)
        self._appender.poll()
        return [each for refused in self._appender.take_refused() for each in self._deal_with(refused)]

    def _deal_with(self, refused: ProducerBatch) -> list[RefusedRecord]:
        if error_codes.needs_new_producer(refused.refusal):
            if not refused.queue.may_start_anew():
                raise SendFailure(f"sending to {refused.opaque} failed: {refused.why}")
            self._ask(lambda: self._appender.start_anew(refused))
            return []
        self._ask(lambda: self._appender.drop(refused))
        return [RefusedRecord(refused.opaque, refused.why)]

    def _ask(self, question: Callable[[], None]) -> None:
        """Ask until the cluster answers; raise HostError when the time is over."""
        while True:
            try:
                return question()
            except (ConnectionLost, ClusterUnreachable) as error:
                self._note(str(error))
                self._raise_if_silent()
            self._cluster.metadata.wait_for_refresh(_LOOK_INTERVAL)

    def _note(self, text: str) -> None:
        """Keep the last thing that was met on the way."""
        self._last_trouble = text

    def _raise_if_silent(self) -> None:
        if self._silence.expired():
            why = f": {self._last_trouble}" if self._last_trouble else ""
            raise HostError(f"the target has acknowledged nothing for {self._silence_timeout:g} s{why}")
