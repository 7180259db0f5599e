"""Record sets from the source: one thread and one connection for each broker that is read from.

A thread asks for the next bytes before the ones it has are worked on, so the wire is never idle while there is a
backlog; what is little it works on itself, if no thread is busy (`fetch_buffer.py`). It never resets an offset: one
that is not in the log is reported as a gap, and the partition waits until `resume`. A partition is in at most one
request at any time, so each record set is handed out once and in order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Iterable, Mapping

from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import LegacyMMError, StreamFailure
from legacy_mm.base.model import Offsets, TopicPartition, is_logical
from legacy_mm.base.reports import Gap, Started
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.fetch_buffer import Admits, CompletedFetch, FetchBuffer, Work
from legacy_mm.clients.fetch.fetch_reader import FetchAnswer, FetchReader
from legacy_mm.clients.fetch.position_validator import PositionValidator, TopicIds
from legacy_mm.clients.fetch.stable_offsets import StableOffsets
from legacy_mm.clients.fetch.start_offsets import log_ends, start_offsets
from legacy_mm.clients.fetch.subscription_state import RETRY_BACKOFF, SubscriptionState
from legacy_mm.clients.net import error_text
from legacy_mm.clients.net.buffer_pool import BufferPool
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, ConnectionLost
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.protocol import error_codes
from legacy_mm.protocol.fetch_messages import FetchedPartition, FetchOptions, Wanted
from legacy_mm.protocol.record_set import bytes_missing, whole_batches

_LOOK_INTERVAL = 0.1
_ATTEND_INTERVAL = 0.5
_SILENT = "has no leader, or its leader does not answer"
NOWHERE = -1
"""An offset that no answer is for."""
_PARTED, _RECREATED = "its leader is another one", "its topic is another one"
_EPOCH_UNKNOWN = "its leader does not know the leader epoch of what was copied"


class Fetcher:
    """Reads the partitions of one copy job."""

    def __init__(
        self, cluster: Cluster, options: FetchOptions, backlog: int, traffic: Traffic, pool: BufferPool | None = None
    ) -> None:
        """Create a fetcher; `backlog` is the number of bytes that may wait before it stops asking for more.

        `pool` is the memory that it shares with others.
        """
        self.cluster = cluster
        self.options = options
        self.traffic = traffic
        self._changed = threading.Condition()
        self._arrivals = FetchBuffer(self._changed)
        self._room = (pool or BufferPool()).share(backlog, lambda: self._arrivals.waiting_bytes)
        self._subscriptions = SubscriptionState()
        self._logs = PositionValidator(cluster)
        self._stable = StableOffsets()
        self._started: deque[tuple[Started, TopicIds]] = deque()
        self._readers: dict[int, FetchReader] = {}
        self._closed = False
        self._attend_at = 0.0
        traffic.gauges = lambda: {"requests_in_flight": sum(reader.asking for reader in list(self._readers.values()))}
        traffic.metadata_age = cluster.metadata.age
        traffic.connections = cluster.network.connections

    def start(self, offsets: Offsets) -> Started:
        """Begin to read; the actual start offsets, logical ones resolved.

        Those of partitions without a leader come later, from `take_started`.
        """
        self.cluster.metadata.watch({partition.topic for partition in offsets})
        logical = {partition: offset for partition, offset in offsets.items() if is_logical(offset)}
        found, ids = start_offsets(self.cluster, logical, patient=True)
        leaderless = {partition: offset for partition, offset in logical.items() if partition not in found.offsets}
        actual = {partition: offset for partition, offset in offsets.items() if partition not in logical}
        actual |= found.offsets
        self._logs.belong(found.offsets, ids)
        self.resume(actual)
        if leaderless:
            threading.Thread(target=self._find_starts, args=(leaderless,), name="starts", daemon=True).start()
        return Started(actual, found.lows)

    def find(self, logical: Offsets) -> Started:
        """Return the offsets that logical ones stand for; read nothing.

        Raise ClusterUnreachable where the leader of one of them does not answer in time.
        """
        found, ids = start_offsets(self.cluster, logical, patient=True)
        for partition in logical:
            if partition not in found.offsets:
                raise ClusterUnreachable(f"{partition} {self.cluster.metadata.why_leaderless(partition, _SILENT)}")
        self._logs.belong(found.offsets, ids)
        return found

    def epoch_read(self, partition: TopicPartition) -> int:
        """Return the leader epoch of the last batch that was read, or that `resume` was given; -1: unknown."""
        return self._logs.epoch(partition)

    def wake(self) -> None:
        """Let `take` return, from any thread."""
        with self._changed:
            self._arrivals.wake()

    def take_started(self) -> Started | None:
        """Return the start offsets of partitions that got their first leader."""
        if not self._started:
            return None
        started, ids = self._started.popleft()
        self.resume(started.offsets, ids)
        return started

    def _find_starts(self, leaderless: Offsets) -> None:
        """Find start offsets in a thread of its own: an unreachable broker blocks for many seconds while others are
        read.
        """
        try:
            while leaderless and not self._closed:
                led = {
                    partition: offset
                    for partition, offset in leaderless.items()
                    if self.cluster.metadata.leader(partition)
                }
                found, ids = start_offsets(self.cluster, led, patient=False)
                leaderless = {
                    partition: offset for partition, offset in leaderless.items() if partition not in found.offsets
                }
                if found.offsets:
                    self._started.append((found, ids))
                    self.wake()
                else:
                    first = next(iter(leaderless))
                    self.traffic.on_trouble(f"{first} {self.cluster.metadata.why_leaderless(first, _SILENT)}")
                    self.cluster.metadata.stale()
                self.rest(_ATTEND_INTERVAL)
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self.failed(error)

    def resume(
        self, offsets: Offsets, ids: TopicIds | None = None, epochs: Mapping[TopicPartition, int] | None = None
    ) -> None:
        """Begin here, or go on here with partitions that reported a gap; what was read of them before is dropped.

        `ids`: of the topics that the offsets belong to. A topic with another id is a recreated one, from now on.
        `epochs`: the leader epochs that were stored with the offsets. A log that parts from them is a gap.
        """
        for partition, offset in offsets.items():
            self.traffic.passed(partition, offset)
        with self._changed:
            self._arrivals.forget(offsets.keys())
            self._logs.belong(offsets, ids or {})
            self._subscriptions.resume(offsets)
            self._logs.forget(offsets)
            self._logs.stored(epochs or {})
            self._attend_at = 0.0  # their brokers may have no reader yet
            self._changed.notify_all()

    def take(self, timeout: float, work: Work | None = None, admits: Admits | None = None) -> CompletedFetch | None:
        """Return the next record set; see `FetchBuffer.take`."""
        self._attend()
        return self._arrivals.take(timeout, work, admits)

    def is_settled(self) -> bool:
        """Return True while brokers are asked for all partitions; whatever ends that lets `take` return."""
        with self._changed:
            return self._subscriptions.is_settled()

    def take_gaps(self) -> list[Gap]:
        """Return gaps found since the last call; a gap comes only after all earlier records were taken."""
        if not self._subscriptions.has_gaps():
            return []
        with self._changed:
            busy = self._arrivals.partitions()
            return self._subscriptions.take_gaps(busy)

    def parted_at(self, partition: TopicPartition) -> int:
        """Return where the log of a partition that reported a gap parts from what was read; -1: it does not, or that
        is unknown.
        """
        with self._changed:
            return self._subscriptions.parted_at(partition)

    def awaited(self, offsets: Offsets) -> Offsets:
        """Return those whose partitions reported a gap and stand still; others have gone on elsewhere since."""
        with self._changed:
            return self._subscriptions.awaited(offsets)

    def hold(self, partition: TopicPartition, offset: int) -> None:
        """Forget what was read of it from this offset on, and read no more of it until `release`.

        NOWHERE: until `resume` says from where on.
        """
        with self._changed:
            self._subscriptions.hold(partition, offset)
            self._arrivals.forget({partition})

    def release(self, partition: TopicPartition) -> None:
        """Read on where `hold` has stopped."""
        with self._changed:
            self._subscriptions.release(partition)
            self._changed.notify_all()

    def close(self) -> None:
        """Read no more; from any thread."""
        with self._changed:
            self._closed = True
            self._room.close()
            self._changed.notify_all()
            readers = list(self._readers.values())
        for reader in readers:
            reader.close()

    # --- the threads that read

    def _read(self, reader: FetchReader) -> None:
        """Read from a broker until closed, or until an error that no later try can repair."""
        try:
            while not self._closed:
                if asked := self.wait_for_work(reader.node, _LOOK_INTERVAL):
                    self.serve(reader, asked)
            reader.close()  # a connection that was made meanwhile
        except Exception as error:  # noqa: BLE001 - the engine raises it
            self.failed(error)

    def serve(self, reader: FetchReader, asked: list[Wanted]) -> None:
        """Ask a broker for these partitions, and take over what it answers."""
        try:
            version = reader.begin()
            wanted = self.without_gaps(asked)
            answer = reader.fetch(version, wanted) if wanted else FetchAnswer()
            self.answered(asked, answer.partitions)
            if answer.rest:
                self.rest(answer.rest)
        except (ConnectionLost, ClusterUnreachable) as error:
            if reader.lost() and not self._closed:
                self.traffic.on_trouble(str(error))
                self.cluster.metadata.stale()
            self.unanswered(asked)
        finally:
            reader.end()

    def wait_for_work(self, node: int, timeout: float) -> list[Wanted]:
        """Mark and return the partitions to ask this broker for; empty when there are none or no room for more."""
        with self._changed:
            wanted = self._wanted(node)
            if not wanted:
                self._changed.wait(timeout)
                wanted = self._wanted(node)
            self._subscriptions.ask(wanted)
            return wanted

    def rest(self, seconds: float) -> None:
        """Wait, unless reading is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed, seconds)

    def without_gaps(self, asked: list[Wanted]) -> list[Wanted]:
        """Return the partitions that may be read on; a recreated topic is a gap, and so is a new leader's diverging
        log.
        """
        if again := {want.partition: want.offset for want in self._logs.recreated(asked)}:
            for partition, offset in again.items():
                self._report_recreated(partition, offset, *log_ends(self.cluster, partition))
            asked = [want for want in asked if want.partition not in again]
        doubts = self._logs.doubts(asked)
        for want, parts_at in doubts:
            if parts_at is None:
                self.cluster.metadata.stale()
                self._subscriptions.pause(want.partition)
                self.wake()
            else:
                ends = log_ends(self.cluster, want.partition)
                reason = _PARTED if parts_at >= 0 else _EPOCH_UNKNOWN
                self._report_gap(Gap(*want.partition, want.offset, *ends, reason, parts_at))
        doubted = {want.partition for want, _ in doubts}
        return [want for want in asked if want.partition not in doubted]

    def answered(self, asked: Iterable[Wanted], partitions: Collection[FetchedPartition]) -> None:
        """Take over what a broker answered; partitions that brought records are asked for last the next time.

        What ends the reading of one of them is raised when the others are taken over.
        """
        self._logs.ask_for_ids(partitions)
        positions = {want.partition: want.offset for want in asked}
        found: list[tuple[CompletedFetch, int] | None] = []
        troubles: list[LegacyMMError] = []
        for answer in partitions:
            try:
                found.append(self._sort_out(answer, positions[answer.partition]))
            except StreamFailure as error:
                troubles.append(error)
        arrived: list[CompletedFetch] = []
        with self._changed:
            self._subscriptions.answered(positions)
            for fetched, next_offset in filter(None, found):
                if self._subscriptions.go_on(fetched, next_offset) and fetched.record_set.batches:
                    arrived.append(fetched)
                    self._logs.note(fetched.partition, fetched.record_set.leader_epoch)
            work = self._arrivals.add(arrived)
        if work is not None:
            self._arrivals.do(work, arrived)
        if troubles:
            raise troubles[0]

    def unanswered(self, asked: Iterable[Wanted]) -> None:
        """Release the partitions of a failed request, to be asked for again after a pause."""
        with self._changed:
            for want in asked:
                self._subscriptions.unanswered(want.partition)
            self._arrivals.wake()

    def failed(self, error: BaseException) -> None:
        """Record that reading cannot continue."""
        self._arrivals.failed(error)

    # --- the rest

    def _wanted(self, node: int) -> list[Wanted]:
        if self._closed or not self._room.has_room():
            return []
        return self._subscriptions.wanted(node, self.cluster.metadata.leaders())

    def _attend(self) -> None:
        """Ensure that every broker that leads one of our partitions has a reader."""
        now = monotonic()
        if now < self._attend_at:
            return
        self._attend_at = now + _ATTEND_INTERVAL
        self.cluster.metadata.poll()
        self._stable.poll(now)
        with self._changed:
            nodes = {reads_from for _, reads_from in self._subscriptions.places(self.cluster.metadata.leaders(), now)}
            if None in nodes:
                self.cluster.metadata.stale()
                self._attend_at = now + RETRY_BACKOFF
            for node in nodes - self._readers.keys():
                if node is not None:
                    reader = self._readers[node] = FetchReader(node, self.cluster, self.options, self.traffic)
                    threading.Thread(target=self._read, args=(reader,), name=f"fetch-{node}", daemon=True).start()
            for node, reader in self._readers.items():
                if self._wanted(node):
                    reader.interrupt()

    def _sort_out(self, answer: FetchedPartition, position: int) -> tuple[CompletedFetch, int] | None:
        """Return the batches of one partition and the next position; None, after handling the reason, when there are
        none.
        """
        partition = answer.partition
        if answer.preferred_replica >= 0:
            self._subscriptions.read_from(partition, answer.preferred_replica)
            self.wake()
            return None
        if answer.error:
            self._deal_with(answer.error, partition, position)
            return None
        end = answer.high_watermark
        if self.options.committed_only:
            end = answer.last_stable_offset
            self._stable.note(partition, end, answer.high_watermark)
        self.traffic.note_log(partition, answer.log_start_offset, end)
        record_set = whole_batches(answer)
        self._subscriptions.ask_for_bytes(partition, 0 if record_set.batches else bytes_missing(answer.records))
        fetched = CompletedFetch(partition, position, record_set, answer.aborted, len(answer.records))
        return fetched, max(record_set.next_offset, position)

    def _deal_with(self, error: int, partition: TopicPartition, wanted: int) -> None:
        if error_codes.is_out_of_range(error):
            low, high = log_ends(self.cluster, partition)
            if low <= wanted <= high:  # a follower that lags, or a moment in between
                self._subscriptions.retry(partition)
                self.wake()
            elif self._logs.is_recreated(partition, wanted):
                self._report_recreated(partition, wanted, low, high)
            else:
                self._report_gap(Gap(*partition, wanted, low, high, error_text.text(error)))
        elif error_codes.may_be_read_later(error):
            if error_codes.is_unknown(error):
                self.traffic.on_trouble(f"reading {partition} failed and is tried again: {error_text.text(error)}")
            self._subscriptions.retry(partition)
            self.cluster.metadata.stale()
            self.wake()
        else:
            why = error_text.refused_topic(partition.topic, error, "Read", "source")
            raise StreamFailure(f"reading {partition} failed: {why}")

    def _report_recreated(self, partition: TopicPartition, wanted: int, low: int, high: int) -> None:
        self._report_gap(Gap(*partition, wanted, low, high, _RECREATED, recreated=True))

    def _report_gap(self, gap: Gap) -> None:
        with self._changed:
            self._subscriptions.report(gap)
            self._arrivals.wake()
