"""Measure one run of one tool: throughput, latency and start-up. Rule: the tool runs alone.

A run: (1) make the target topic, (2) start the tool, (3) look at it from outside, (4) stop it, (5) remove the topics.
Looking is cheap: one ListOffsets request and a few files of /proc ten times a second, PSS twice a second.
"""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from compat.laboratory.bench_profiles import (
    LEGACY_HEAP,
    MM2,
    MM2_ONCE,
    OURS_ONCE,
    OURS_SCRAPED,
    Order,
    Profile,
    start_tool,
)
from compat.laboratory.bench_report import Sample, host_seconds, latency, steady
from compat.laboratory.bench_scrape import scraped
from compat.laboratory.cluster import PROXIED, Cluster
from compat.laboratory.ports import Ports
from compat.laboratory.topic_ends import REQUEST_TIMEOUT, TopicEnds
from legacy_mm.audit.cluster_access import create_topic, delete_topic, list_topics
from legacy_mm.audit.load import text_values
from legacy_mm.audit.process_tree import ProcessSize
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import HostError

LOOK_INTERVAL, FIRST_LOOK_INTERVAL, MEMORY_INTERVAL = 0.1, 0.03, 0.5
FIRST_RECORD_TIMEOUT = 120.0
STOP_TIMEOUT = 45.0  # our own stop deadline is 30 s
LATENCY_RATE = 500
LATENCY_WARM_UP = 5
LATE_TIMEOUT = 30.0
STAMP = struct.Struct(">Id")  # number of the record, wall clock
# Deleted topics leave the disk soon; the default is a minute. The key of the same name of a topic does not count.
BROKER = {"log.segment.delete.delay.ms": "1000"}
steady_cluster = partial(Cluster, jvm=("-XX:+UseG1GC",))
"""A cluster whose brokers become as fast as Java makes them, instead of starting quickly."""
INTERNAL_TOPICS = ("mm2-", "legacy-mm-positions.")
_TICKS = os.sysconf("SC_CLK_TCK")
_JAVA_FRAME = "\tat "


@dataclass(frozen=True, slots=True)
class Site:
    """The place of all runs: both clusters, and the settings that are the same everywhere."""

    source: Cluster
    target: Cluster
    folder: Path
    legacy_heap: str = LEGACY_HEAP
    limit_seconds: float = 60.0
    handler_jar: Path | None = None
    ours: tuple[str, ...] = ()
    ports: Ports = field(default_factory=Ports)

    def order(self, tool: str, profile: Profile, streams: int, topic: str) -> Order:
        """Return the order for one run; a profile with a round trip goes through the proxy."""
        return Order(
            folder=self.folder / f"{tool}-{profile.name}-{streams}",
            source=self.source.bootstrap,
            target=self.target.bootstrap_of(PROXIED) if profile.round_trip_ms else self.target.bootstrap,
            topic=topic,
            streams=streams,
            producer=profile.producer_settings,
            legacy_heap=self.legacy_heap,
            handler_jar=self.handler_jar,
            ours=self.ours,
            admin_port=self.ports.reserve() if tool == OURS_SCRAPED else 0,
        )

    def broker_pids(self) -> list[int]:
        """Return the process ids of both clusters."""
        return [broker.pid for cluster in (self.source, self.target) for broker in cluster.brokers]


def measure_throughput(
    site: Site,
    tool: str,
    profile: Profile,
    streams: int,
    records: int,
    started: Callable[[int], None] = lambda pid: None,
) -> dict[str, float | None]:
    """Run once over a loaded source topic; return its steady window, start-up, peak memory and most tasks."""
    order = site.order(tool, profile, streams, profile.topic)
    with _run(site, tool, order, profile.partitions) as (process, begin):
        started(process.pid)
        ends = TopicEnds(site.target.bootstrap, order.arrives_in(tool), profile.partitions)
        samples, peak, tasks = _watch(process, ends, begin=begin, records=records, site=site)
    # The first sample is the one before the first record.
    first = samples[1]
    return {
        **steady(samples, profile.record_bytes),
        "start_up_s": first.at,
        "start_up_cpu_s": first.cpu,
        "peak_mb": peak / 1e6,
        "peak_tasks": float(tasks),
        "copied_share": samples[-1].records / records,
    }


def measure_sizes(site: Site, tool: str, profile: Profile, streams: int, records: int) -> list[ProcessSize]:
    """Copy a loaded source topic; return what each process takes right after the last record."""
    order = site.order(tool, profile, streams, profile.topic)
    with _run(site, tool, order, profile.partitions) as (process, begin):
        ends = TopicEnds(site.target.bootstrap, order.arrives_in(tool), profile.partitions)
        _watch(process, ends, begin=begin, records=records, site=site)
        return process.tree.sizes()


def measure_start_up(site: Site, tool: str, profile: Profile) -> float:
    """Return the seconds from the call to the first record on the target."""
    with _run(site, tool, site.order(tool, profile, 1, profile.topic), profile.partitions) as (process, begin):
        _await_first(process, TopicEnds(site.target.bootstrap, profile.topic, profile.partitions), begin)
        return time.monotonic() - begin


def measure_latency(site: Site, tool: str, profile: Profile, streams: int, seconds: int) -> dict[str, float | None]:
    """Send 500 records/s for some seconds after a warm-up; measure from the producer's call to a target consumer."""
    with _latency_source(site, profile) as source:
        order = site.order(tool, profile, streams, source.topic)
        with _run(site, tool, order, profile.partitions) as (process, begin):
            _await_first(process, TopicEnds(site.target.bootstrap, source.topic, profile.partitions), begin)
            return _paced(source, site.target.bootstrap, profile, seconds)


def measure_hop(site: Site, profile: Profile, seconds: int) -> dict[str, float | None]:
    """Measure the same without a copy, to a consumer at the source: no tool can have the records earlier than that."""
    with _latency_source(site, profile) as source:
        return _paced(source, site.source.bootstrap, profile, seconds)


@contextlib.contextmanager
def _latency_source(site: Site, profile: Profile) -> Iterator[_PacedSource]:
    """Create a new topic at the source with record number 0."""
    topic = f"{profile.topic}-latency"
    create_topic(site.source.bootstrap, topic, profile.partitions)
    try:
        source = _PacedSource(site.source.bootstrap, topic, profile)
        source.write(0)
        yield source
    finally:
        _remove(site.source.bootstrap, topic)


def _paced(source: _PacedSource, bootstrap: str, profile: Profile, seconds: int) -> dict[str, float | None]:
    """Write for some seconds, and see when the records arrive in the topic of this cluster."""
    warm_up = LATENCY_RATE * LATENCY_WARM_UP
    total = warm_up + LATENCY_RATE * seconds
    thread = threading.Thread(target=source.write_paced, args=(1, total), daemon=True)
    thread.start()
    found = _arrivals(bootstrap, source.topic, profile.partitions, total)
    thread.join()
    measured = [arrived for number, arrived in found.items() if number > warm_up]
    return {**latency(measured), "latency_missing": float(total - warm_up - len(measured))}


@contextlib.contextmanager
def _run(site: Site, tool: str, order: Order, partitions: int) -> Iterator[tuple[ToolProcess, float]]:
    """Start a tool; give the process and the moment of its call, then stop it and delete its topics."""
    create_topic(site.target.bootstrap, order.arrives_in(tool), partitions)
    try:
        begin = time.monotonic()
        with start_tool(tool, order) as process, scraped(order.admin_port):
            yield process, begin
            if process.running():
                process.signal(signal.SIGTERM)
                with contextlib.suppress(TimeoutError):  # then it is killed
                    process.wait(STOP_TIMEOUT)
    finally:
        _remove(site.target.bootstrap, order.arrives_in(tool))
        if tool in (MM2, MM2_ONCE, OURS_ONCE):  # MirrorMaker 2 would continue from the offsets in these topics
            for cluster in (site.source, site.target):
                for name in list_topics(cluster.bootstrap):
                    if name.startswith(INTERNAL_TOPICS):
                        _remove(cluster.bootstrap, name)
        with contextlib.suppress(TimeoutError):  # a slow disk spoils no run that is over
            wait_until(lambda: not _deleted_logs(site), REQUEST_TIMEOUT, "deleted logs to leave the disk")


def _remove(bootstrap: str, topic: str) -> None:
    if topic in list_topics(bootstrap):
        delete_topic(bootstrap, topic)


def _deleted_logs(site: Site) -> list[Path]:
    return [
        path for cluster in (site.source, site.target) for path in cluster.folder.glob("broker-*/logs/*bench-*-delete")
    ]


def _await_first(process: ToolProcess, ends: TopicEnds, begin: float) -> int:
    while not (count := ends.count()):
        _check(process)
        if time.monotonic() - begin > FIRST_RECORD_TIMEOUT:
            raise HostError(f"no record within {FIRST_RECORD_TIMEOUT:g} s; {process.name} printed: {_tail(process)}")
        time.sleep(FIRST_LOOK_INTERVAL)
    return count


def _watch(
    process: ToolProcess, ends: TopicEnds, *, begin: float, records: int, site: Site
) -> tuple[list[Sample], int, int]:
    """Return samples from the first record until all are copied or the time is over, the peak of PSS and of tasks."""
    pids = site.broker_pids()

    def inspect(count: int) -> Sample:
        cpu = process.tree.cpu_seconds()
        brokers = sum(map(_cpu_seconds, pids))
        busy, stolen = host_seconds(Path("/proc/stat").read_text(encoding="ascii"), _TICKS)
        other = busy - cpu - brokers - _cpu_seconds(os.getpid())
        return Sample(time.monotonic() - begin, count, cpu, brokers, other, stolen)

    count = _await_first(process, ends, begin)
    first = inspect(count)
    samples = [replace(first, records=0), first]
    peak, tasks, peak_at = process.tree.memory_bytes(), process.tree.tasks(), first.at
    while samples[-1].records < records and samples[-1].at - first.at < site.limit_seconds:
        _check(process)
        time.sleep(LOOK_INTERVAL)
        samples.append(inspect(ends.count()))
        if samples[-1].at - peak_at >= MEMORY_INTERVAL:
            peak, tasks = max(peak, process.tree.memory_bytes()), max(tasks, process.tree.tasks())
            peak_at = samples[-1].at
    return samples, max(peak, process.tree.memory_bytes()), max(tasks, process.tree.tasks())


def _check(process: ToolProcess) -> None:
    if not process.running():
        raise HostError(f"{process.name} ended with {process.wait(1)}; it printed: {_tail(process)}")


def _tail(process: ToolProcess) -> str:
    lines = [line for line in process.output().splitlines() if not line.startswith(_JAVA_FRAME)]
    return " | ".join(lines[-5:]) or "nothing"


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


class _PacedSource:
    """Writes stamped records at a fixed rate."""

    def __init__(self, bootstrap: str, topic: str, profile: Profile) -> None:
        self.topic = topic
        self._padding = text_values(profile.size)
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "linger.ms": 0,
                "compression.type": profile.codec,
                "partitioner": "murmur2_random",
                "log_level": 0,
            }
        )

    def write(self, number: int) -> None:
        padding = self._padding[number % len(self._padding)][STAMP.size :]
        key = b"key-%08d" % number
        self._producer.produce(self.topic, STAMP.pack(number, time.time()) + padding, key)
        self._producer.poll(0)

    def write_paced(self, first: int, last: int) -> None:
        """Write records `first` to `last`, each at its own point in time, so that a late one delays no other."""
        begin = time.monotonic()
        for number in range(first, last + 1):
            due = begin + (number - first) / LATENCY_RATE
            time.sleep(max(0.0, due - time.monotonic()))
            self.write(number)
        self._producer.flush(REQUEST_TIMEOUT)


def _arrivals(bootstrap: str, topic: str, partitions: int, last: int) -> dict[int, float]:
    """Return milliseconds from stamp to arrival by number, until `last` records after number 0 have come."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench-never-joined", "log_level": 0})
    found: dict[int, float] = {}
    try:
        consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        end = time.monotonic() + last / LATENCY_RATE + LATE_TIMEOUT
        while len(found) < last and time.monotonic() < end:
            message = consumer.poll(0.2)
            if message is None or message.error():
                continue
            arrived = time.time()
            value = message.value()
            assert isinstance(value, bytes)
            number, stamp = STAMP.unpack_from(value)
            if number:
                found.setdefault(number, (arrived - stamp) * 1000)
    finally:
        consumer.close()
    return found
