"""Writes the few records that MirrorMaker 2 keeps for itself: heartbeats, offset syncs, checkpoints, offsets.

All records of a key go to one partition and stay in order, so a compacted topic keeps the newest of each key. Most
topics have but one partition. What comes while a batch is under way waits, and goes as one batch.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.base.clock import Deadline, epoch_ms, monotonic
from legacy_mm.base.errors import ConfigurationError, HostError, LegacyMMError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.clients.produce.append_options import AppendOptions
from legacy_mm.clients.produce.appender import BatchAppender
from legacy_mm.clients.produce.broker_sender import IDLE_TIMEOUT
from legacy_mm.clients.produce.partition_queue import ProducerBatch
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.protocol.single_record import SingleRecord, batch_of

_PARTITION = 0
_WAITING_AT_MOST = 10_000
_BATCH_RECORDS = 1_000
_QUESTION_TIMEOUT = 4.0
_LOOK_INTERVAL = 0.05
_ALWAYS = (1 << 31) - 1
OnResult = Callable[[bytes, str | None], None]
"""Told the key of each record and why it could not be written, or None; runs in `send`, `waiting` and `flush`."""


class _Result(NamedTuple):
    key: bytes
    reason: str | None


class _Trouble:
    """The last thing that was met on the way; knows nothing of the writer, which may go while sockets live."""

    def __init__(self) -> None:
        self.text = ""

    def note(self, text: str) -> None:
        """Keep it; empty: all is well."""
        self.text = text


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A record that is not written yet, and until when it is tried."""

    partition: int
    record: SingleRecord
    due: float

    def result(self, reason: str | None) -> _Result:
        return _Result(self.record.key or b"", reason)


class InternalTopicWriter:
    """One topic of one cluster. Any thread may call it; it connects by itself and never waits but in `flush`."""

    def __init__(
        self,
        settings: ConnectionSettings,
        topic: str,
        on_result: OnResult,
        *,
        give_up_seconds: float = 30.0,
    ) -> None:
        """Create the writer; `settings` are any client's of the cluster. After `give_up_seconds` a record has
        failed. Raise HostError for settings of no client.
        """
        self._topic = topic
        self._on_result = on_result
        self._give_up_seconds = give_up_seconds
        self._trouble = _Trouble()
        self._settings = settings
        self._open_client()
        self._changed = threading.Condition()
        self._waiting: deque[_Waiting] = deque()
        self._under_way = 0
        self._results: deque[_Result] = deque()
        self._thread: threading.Thread | None = None
        self._closed = False

    def send(
        self,
        key: bytes,
        value: bytes | None,
        timestamp: int | None = None,
        *,
        partition: int = _PARTITION,
        headers: tuple[tuple[str, bytes | None], ...] = (),
    ) -> bool:
        """Queue a record; False when so many wait that there is no room for it. `timestamp`: else the present time."""
        record = SingleRecord(timestamp or epoch_ms(), key, value, headers)
        with self._changed:
            has_room = not self._closed and self._count() < _WAITING_AT_MOST
            if has_room:
                self._waiting.append(_Waiting(partition, record, monotonic() + self._give_up_seconds))
                self._changed.notify_all()
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name=f"write-{self._topic}", daemon=True)
                    self._thread.start()
        self._tell()
        return has_room

    def waiting(self) -> int:
        """Return the number of records that are neither written nor given up."""
        self._tell()
        return self._count()

    def flush(self, deadline: Deadline) -> bool:
        """Wait for them; True when there are none."""
        with self._changed:
            done = self._changed.wait_for(lambda: not self._count(), max(0.0, deadline.remaining()))
        self._tell()
        return done

    def close(self) -> None:
        """Discard waiting records without a report."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._results.clear()
            self._changed.notify_all()
        self._disconnect()

    def _count(self) -> int:
        return len(self._waiting) + self._under_way

    def _tell(self) -> None:
        while True:
            try:
                result = self._results.popleft()
            except IndexError:
                return
            self._on_result(*result)

    def _open_client(self) -> None:
        """Create what connects; its sockets are closed by `close`, or with the last reference to this writer."""
        try:
            timeout = min(_QUESTION_TIMEOUT, self._give_up_seconds / 2)  # so that the reason is known by then
            cluster = self._cluster = Cluster(self._settings.named(f"legacy_mm-{self._topic}"), timeout)
        except ConfigurationError as error:
            raise HostError(f"a client for topic {self._topic} cannot be made: {error}") from error
        options = _options(self._settings, self._give_up_seconds)
        self._appender = BatchAppender(cluster, options, Traffic("producer", self._trouble.note))
        self._disconnect = weakref.finalize(self, _close, self._appender, cluster)

    # --- the thread that writes

    def _run(self) -> None:
        """Write until idle or closed."""
        while batch := self._take():
            results = [*self._write(batch)]
            with self._changed:
                self._under_way = 0
                if not self._closed:
                    self._results += results
                self._changed.notify_all()

    def _take(self) -> Sequence[_Waiting]:
        """Wait for records; empty when the thread ends."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed, IDLE_TIMEOUT)
            if self._closed or not self._waiting:
                self._thread = None
                return ()
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _BATCH_RECORDS))]
            self._under_way = len(batch)
            return batch

    def _write(self, batch: Sequence[_Waiting]) -> list[_Result]:
        """Write these records; return what came of each, in their order."""
        now = monotonic()
        results = {id(each): each.result(self._trouble.text or "timed out") for each in batch if each.due <= now}
        groups: dict[int, list[_Waiting]] = {}
        for each in batch:
            if id(each) not in results:
                groups.setdefault(each.partition, []).append(each)
        try:
            self._cluster.metadata.keep_fresh(self._trouble.note)  # no question waits for an unreachable cluster
            self._cluster.metadata.watch({self._topic})
            for partition, group in groups.items():
                written = batch_of([each.record for each in group], Codec.NONE)
                self._appender.append(TopicPartition(self._topic, partition), written, group)
            while len(results) < len(batch) and not self._closed:
                self._appender.wait_empty(_LOOK_INTERVAL)
                results |= self._came_back()
        except LegacyMMError as error:  # such as a login that is refused: the next batch begins anew
            self._trouble.note(str(error))
            self._disconnect()
            self._open_client()
        return [results.get(id(each)) or each.result(self._trouble.text or "closed") for each in batch]

    def _came_back(self) -> dict[int, _Result]:
        """Return what came of the records that the target has acknowledged or refused since the last call."""
        results: dict[int, _Result] = {}
        for group, _ in self._appender.take_acknowledged():
            self._trouble.note("")
            results |= {id(each): each.result(None) for each in group}
        self._appender.poll()
        for refused in self._appender.take_refused():
            reason = self._reason(refused)
            results |= {id(each): each.result(reason) for each in refused.opaque}
            self._appender.drop(refused)
        return results

    def _reason(self, refused: ProducerBatch) -> str:
        """Return why a batch was refused; that it took too long says less than what was met on the way."""
        if refused.refusal == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
            return error_text.refused_topic(self._topic, refused.refusal, "Write")
        if refused.refusal != ErrorCode.REQUEST_TIMED_OUT:
            return refused.reason or error_text.text(refused.refusal)
        problem = self._cluster.metadata.problem(self._topic)
        if problem:
            return error_text.refused_topic(self._topic, problem, "Write")
        queue = refused.queue
        return self._trouble.text or (queue.trouble.reason if queue.trouble else error_text.text(refused.refusal))


def _close(appender: BatchAppender, cluster: Cluster) -> None:
    appender.purge()
    cluster.close()


def _options(settings: ConnectionSettings, give_up_seconds: float) -> AppendOptions:
    return AppendOptions(
        acks=-1,
        idempotent=False,
        in_flight=1,
        requests=1,
        request_bytes=1 << 20,
        batch_bytes=0,
        buffer_bytes=32 << 20,
        request_timeout=30.0,
        delivery_timeout=give_up_seconds,
        retry_pause=settings.retry_backoff,
        retries=_ALWAYS,
        damaged=_ALWAYS,
    )
