"""The counts of a flow, and the frozen snapshot that JMX and Prometheus are made of.

Each stream has a `StreamMetrics`, which is told what the stream does and what its clients report. As with the legacy
tool a stream is one consumer (here: membership and copying client together), and the target sees one producer (here:
the producers of all streams together).
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import JOB, Measured, Progress, Statistics, TransactionTotals
from legacy_mm.metrics.lag import Behind, FlowLag
from legacy_mm.metrics.meters import Meters, Source
from legacy_mm.metrics.window import NOTHING_YET, WindowReading

Labels = tuple[tuple[str, str], ...]
Fact = str | int


class Scope(NamedTuple):
    """The owner of a measure: a level (`mirror`, `consumer`, `consumer_topic` ...) and the labels that say which."""

    level: str
    labels: Labels = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that is known at one moment."""

    flow: str
    readings: Mapping[Scope, Mapping[str, WindowReading]]
    facts: Mapping[str, Fact]
    """Facts of the whole run: versions, the time of the start."""


def sent_records(snapshots: Iterable[Snapshot]) -> dict[str, float]:
    """Return the topics at the target that records were sent to, and how many."""
    return {
        dict(scope.labels)["topic"]: readings["sent_records"].value
        for snapshot in snapshots
        for scope, readings in snapshot.readings.items()
        if scope.level == "producer_topic" and "sent_records" in readings and readings["sent_records"].value
    }


@dataclass(frozen=True, slots=True)
class MirrorNames:
    """MirrorMaker 2's names for the two clusters of a flow and the copy of a topic."""

    source: str
    target: str
    remote: Callable[[str], str]

    def labels(self, topic: str, partition: int, **others: str) -> Labels:
        """Return the labels of a partition at the target."""
        aliases = (("source", self.source), ("target", self.target))
        return (*aliases, *others.items(), ("topic", topic), ("partition", str(partition)))


class Registry:
    """All measures of one flow. Any thread may call it and the `StreamMetrics` it gives out."""

    def __init__(
        self,
        flow: str,
        producer_id: str,
        facts: Mapping[str, Fact],
        clock: Callable[[], float] = monotonic,
        mirror_names: MirrorNames | None = None,
    ) -> None:
        """Prepare the counts; with `mirror_names` the metrics of MirrorMaker 2 are there, too."""
        self.lock = threading.Lock()
        self.clock = clock
        self.mirror_names = mirror_names
        self.scopes: defaultdict[Scope, Meters] = defaultdict(Meters)
        self.lag = FlowLag()
        self.outside: set[str] = set()
        self.unwritable_by_stream: dict[int, Mapping[str, str]] = {}
        self.flow = flow
        self.worker: Scope | None = None
        """The members of the streams, where they are Kafka Connect's; else each is a part of its stream's consumer."""
        self._producer = Scope("producer", (("client_id", producer_id),))
        self._admins: dict[str, Callable[[], Statistics | None]] = {}
        self._facts = dict(facts)

    def stream(self, index: int, consumer_id: str) -> StreamMetrics:
        """Return the metrics of one stream; its clients can be seen at once, though nothing is counted yet."""
        with self.lock:
            made = StreamMetrics(self, index, consumer_id, self._producer)
            made.begin()
            return made

    def in_workers_group(self, client_id: str, connectors: int) -> None:
        """Count the members of the streams apart: they are in the group of Kafka Connect's workers at the target."""
        with self.lock:
            self.worker = Scope("member", (("client_id", client_id),))
            self.scopes[self.worker].gauges["connectors"].observe("", connectors, self.clock())

    def admin(self, client_id: str, statistics: Callable[[], Statistics | None]) -> None:
        """Count what this admin client tells whenever it is asked; one that is made anew goes on with the counts."""
        with self.lock:
            for meters in self.scopes.values():
                meters.forget(client_id)
            self._admins[client_id] = statistics

    def gap(self, offsets: int) -> None:
        """Count offsets of the source that could not be copied."""
        with self.lock:
            now, mirror = self.clock(), self.scopes[Scope("mirror")]
            mirror.counters["gaps"].add(1, now)
            mirror.counters["gap_offsets"].add(offsets, now)

    def skipped(self, offsets: int) -> None:
        """Count offsets before the end of a log at which copying began."""
        with self.lock:
            self.scopes[Scope("mirror")].counters["skipped_offsets"].add(offsets, self.clock())

    def flow_runs(self, *, up: bool, connectors: Sequence[str] = ()) -> None:
        """Note that the flow and its connectors run, or that the flow has failed, which counts."""
        with self.lock:
            now, flow = self.clock(), self.scopes[Scope("flow")]
            was_up = flow.gauges["up"].read(now).value == 1
            flow.gauges["up"].observe("", float(up), now)
            flow.counters["failures"].add(0 if up else 1, now)
            for connector in connectors:
                meters = self.scopes[Scope("connector", (("connector", connector),))]
                for name, value in (("tasks", 1.0), ("running", float(up)), ("failed", float(not up))):
                    meters.gauges[name].observe("", value, now)
            worker, number = self.scopes[Scope("worker")], len(connectors)
            worker.gauges["connectors"].observe("", number, now)
            worker.counters["starts"].add(0 if was_up else number, now)
            worker.counters["started"].add(number if up else 0, now)
            worker.counters["start_failures"].add(0 if up or was_up else number, now)

    def duty(self, name: str, changes: int, failures: int) -> None:
        """Count a run of a duty: its changes and its failures."""
        with self.lock:
            now, duty = self.clock(), self.scopes[Scope("duty", (("duty", name),))]
            duty.counters["changes"].add(changes, now)
            duty.counters["failures"].add(failures, now)

    def heartbeat(self, seconds: float) -> None:
        """Note that the target has a heartbeat that is so old; infinity: there will be heartbeats."""
        with self.lock:
            self.scopes[Scope("heartbeats")].ages["last_heartbeat"].observe(seconds, self.clock())

    def without_assignment(self) -> frozenset[str]:
        """Return the client ids of the streams that are no members of their group."""
        with self.lock:
            return frozenset(self.outside)

    def unwritable(self) -> dict[str, str]:
        """Return target topics that records wait for, and why they cannot be written."""
        with self.lock:
            return {topic: why for found in self.unwritable_by_stream.values() for topic, why in found.items()}

    def snapshot(self, only: Container[str] | None = None) -> Snapshot:
        """Return everything as it is now, or only the measures of these names, which takes less time."""
        with self.lock:
            now = self.clock()
            for client_id, statistics in self._admins.items():
                client = Scope("admin", (("client_id", client_id),))
                self.scopes[client]  # its beans are there before its numbers
                for row in () if (report := statistics()) is None else report.measured:
                    self.scopes[_scope(client, row)].observe(client_id, row, now)
            readings = {scope: meters.read(now, only) for scope, meters in self.scopes.items()}
            for scope, found in self._lags(now):
                wanted = [name for name in found if only is None or name in only]
                readings.setdefault(scope, {}).update((name, NOTHING_YET.with_value(found[name])) for name in wanted)
        return Snapshot(self.flow, readings, self._facts)

    def _lags(self, now: float) -> Iterator[tuple[Scope, dict[str, float]]]:
        """Yield how long the flow is behind, and each of its partitions."""
        behind = self.lag.partitions(now)
        for partition, each in behind.items():
            values = _lag_values(each) | {"lag_records": float(self.lag.records(partition))}
            if rewound := self.lag.rewound(partition, now):
                values["rewound"] = float(rewound)
            yield Scope("partition", _partition_labels((), partition)), values
        if behind:
            worst = max(behind.values(), key=lambda each: each.seconds)
            worst = worst._replace(is_longer=any(each.is_longer for each in behind.values()))
            until = self.lag.caught_up_seconds(now, worst)
            yield Scope("mirror"), _lag_values(worst) | ({} if until is None else {"caught_up_seconds": until})


class StreamMetrics:
    """The counts of one stream, from its own thread and from that of its copy job's channel."""

    def __init__(self, registry: Registry, index: int, consumer_id: str, producer: Scope) -> None:
        consumer = Scope("consumer", (("client_id", consumer_id),))
        self._outside, self._consumer_id = registry.outside, consumer_id
        self._unwritable, self._index = registry.unwritable_by_stream, index
        self._lag = registry.lag
        self._outside.add(consumer_id)
        self._scopes, self._lock, self._clock = registry.scopes, registry.lock, registry.clock
        self._names = registry.mirror_names
        self._mirrored: dict[TopicPartition, Scope] = {}
        self._clients = {"consumer": consumer, "member": registry.worker or consumer, "producer": producer}
        self._sources = {client: f"{client}-{index}" for client in (*self._clients, JOB)}
        self._further_sources: set[Source] = set()
        self._owned: frozenset[TopicPartition] = frozenset()
        self._commits: deque[float] = deque()
        self._mirror = self._scopes[Scope("mirror")]
        self._consumer, self._producer = self._scopes[consumer], self._scopes[producer]
        self._in_group = [self._scopes[each] for each in {consumer, self._clients["member"]}]

    def begin(self) -> None:
        """Begin at 0, for a stream that is recreated; its registry holds the lock."""
        for meters in self._scopes.values():
            meters.forget(self._sources["member"])

    def assigned(self, owned: frozenset[TopicPartition]) -> None:
        """Note that a rebalance is complete: the stream owns these partitions."""
        with self._lock:
            now = self._clock()
            for meters in self._in_group:
                meters.counters["rebalances"].add(1, now)
                meters.ages["rebalance"].observe(0.0, now)
            self._outside.discard(self._consumer_id)
        self.owns(owned)

    def left_group(self) -> None:
        """Note that the stream is no member any more."""
        with self._lock:
            self._outside.add(self._consumer_id)

    def owns(self, owned: frozenset[TopicPartition]) -> None:
        """Note that of all partitions only these are left."""
        with self._lock:
            self._owned = owned
            now = self._clock()
            self._consumer.gauges["assigned"].observe(self._sources["member"], len(owned), now)
            self._lag.owns(self._index, owned, now)
            left = {_partition_labels(self._clients["consumer"].labels, partition) for partition in owned}
            for scope in [scope for scope in self._scopes if self._is_partition(scope) and scope.labels not in left]:
                del self._scopes[scope]
            for partition in self._mirrored.keys() - owned:
                self._scopes.pop(self._mirrored.pop(partition), None)

    def copy_ended(self) -> None:
        """Note that the clients of the copy job are gone; the next ones count from 0."""
        with self._lock:
            for source in (*map(self._sources.__getitem__, ("consumer", "producer", JOB)), *self._further_sources):
                for meters in self._scopes.values():
                    meters.forget(source)
            self._further_sources.clear()
            self._lag.copy_ended(self._index)
            self._unwritable.pop(self._index, None)

    def progress(self, frame: Progress) -> None:
        """Note totals of the copy job."""
        source = self._sources[JOB]
        with self._lock:
            now = self._clock()
            self._mirror.counters["records"].observe(source, frame.records, now)
            self._mirror.counters["dropped"].observe(source, sum(frame.dropped.values()), now)
            self._mirror.counters["filtered"].observe(source, frame.filtered, now)
            self._mirror.counters["quarantined"].observe(source, frame.quarantined, now)
            self._producer.counters["errors"].observe(source, sum(frame.dropped.values()), now)
            for topic, dropped in frame.dropped.items():
                scope = Scope("producer_topic", (*self._clients["producer"].labels, ("topic", topic)))
                self._scopes[scope].counters["errors"].observe(source, dropped, now)
            self._producer.gauges["waiting"].observe(source, frame.blocked, now)
            self._mirror.gauges["unwritable"].observe(source, len(frame.unwritable), now)
            self._unwritable[self._index] = frame.unwritable
            if frame.transactions is not None:
                self._note_transactions(source, frame.transactions, now)

    def _note_transactions(self, source: Source, totals: TransactionTotals, now: float) -> None:
        meters = self._scopes[Scope("transactions", self._clients["consumer"].labels)]
        counts = asdict(totals)
        meters.gauges["open_seconds"].observe(source, counts.pop("open_seconds"), now)
        for name, value in counts.items():
            meters.counters[name].observe(source, value, now)

    def statistics(self, frame: Statistics) -> None:
        """Note numbers of one client, or of the copying itself."""
        if frame.client == JOB:
            self._copied(frame)
            return
        source, client = self._sources[frame.client], self._clients[frame.client]
        with self._lock:
            if frame.number:
                source = f"{source}-{frame.number}"
                self._further_sources.add(source)
            now = self._clock()
            for row in frame.measured:
                if row.level != "partition":
                    self._scopes[_scope(client, row)].observe(source, row, now)
                elif (partition := _partition(row.name)) in self._owned:
                    self._scopes[_partition_scope(client.labels, partition)].observe(source, row, now)
                    self._extremes(row, now)
            if frame.client == "consumer":
                self._lag.note(self._index, frame.positions, now)

    def _copied(self, frame: Statistics) -> None:
        """Note what MirrorMaker 2 shows of each partition, and the age of its first uncopied record."""
        source = self._sources[JOB]
        with self._lock:
            now = self._clock()
            for row in frame.measured:
                partition = _partition(row.name)
                if self._names is None or partition not in self._owned:
                    continue
                if (scope := self._mirrored.get(partition)) is None:
                    labels = self._names.labels(self._names.remote(partition.topic), partition.partition)
                    scope = self._mirrored[partition] = Scope("mirror_partition", labels)
                meters = self._scopes[scope]
                meters.observe(source, row, now)
                if "uncopied_seconds" not in row.gauges:
                    meters.gauges["uncopied_seconds"].forget(source)
                    if self._has_no_lag(partition, now):
                        meters.gauges["uncopied_seconds"].observe(source, 0.0, now)

    def _has_no_lag(self, partition: TopicPartition, now: float) -> bool:
        """Tell whether the consumer's last report shows no lag."""
        found = self._scopes.get(_partition_scope(self._clients["consumer"].labels, partition))
        return found is not None and found.gauges["lag"].read(now).value == 0

    def commit_sent(self) -> None:
        """Count offsets that were sent to the group."""
        self._commits.append(self._clock())

    def commit_settled(self) -> None:
        """Note the outcome of the oldest commit under way."""
        if not self._commits:
            return
        with self._lock:
            now = self._clock()
            milliseconds = (now - self._commits.popleft()) * 1000
            self._consumer.counters["commits"].add(1, now)
            self._consumer.spreads["commit_ms"].observe(milliseconds, 1, milliseconds, milliseconds, now)

    def _extremes(self, row: Measured, now: float) -> None:
        """Note the lag of a partition; the extremes of all partitions are the consumer's own."""
        for name, value in row.gauges.items():
            self._consumer.spreads[name].observe(value, 1, value, value, now)

    def _is_partition(self, scope: Scope) -> bool:
        return scope.level == "consumer_partition" and scope.labels[:1] == self._clients["consumer"].labels


def _lag_values(behind: Behind) -> dict[str, float]:
    return {"lag_seconds": behind.seconds, **({"lag_is_longer": 1.0} if behind.is_longer else {})}


def _scope(client: Scope, row: Measured) -> Scope:
    if row.level == "client":
        return client
    label = ("node_id", f"node-{row.name}") if row.level == "node" else (row.level, row.name)
    return Scope(f"{client.level}_{row.level}", (*client.labels, label))


def _partition_scope(consumer: Labels, partition: TopicPartition) -> Scope:
    return Scope("consumer_partition", _partition_labels(consumer, partition))


def _partition_labels(consumer: Labels, partition: TopicPartition) -> Labels:
    return (*consumer, ("topic", partition.topic), ("partition", str(partition.partition)))


def _partition(name: str) -> TopicPartition:
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))
