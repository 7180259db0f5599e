"""Counters of one client of the wire, reported in the form of librdkafka's statistics.

Every few seconds `statistics` gives totals since the start and measures since the last call. Names of measures are
those of `clients/librdkafka/statistics.py`. Any thread may count.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Literal

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import SAMPLE_INTERVAL, LogPosition, Measured, Statistics

TrafficKind = Literal["consumer", "producer", "member", "admin"]
_NAMES: Mapping[TrafficKind, tuple[str, str]] = {"consumer": ("fetches", "received"), "producer": ("produces", "sent")}
"""Client that carries records -> the names of its requests, and of its records."""


class Spread:
    """Sum, number, maximum and minimum of what was measured."""

    def __init__(self) -> None:
        self.sum = self.count = 0.0
        self.maximum, self.minimum = -inf, inf

    def add(self, value: float) -> None:
        """Note one value."""
        self.sum += value
        self.count += 1
        if value > self.maximum:
            self.maximum = value
        if value < self.minimum:
            self.minimum = value

    def add_many(self, total: float, count: float, maximum: float, minimum: float) -> None:
        """Note values that were added up elsewhere."""
        self.sum += total
        self.count += count
        self.maximum = max(self.maximum, maximum)
        self.minimum = min(self.minimum, minimum)

    def take(self) -> tuple[float, float, float, float] | None:
        """Return and clear the measures since the last call; None if there are none."""
        if not self.count:
            return None
        found = (self.sum, self.count, self.maximum, self.minimum)
        self.__init__()  # type: ignore[misc]
        return found


@dataclass(slots=True)
class _Exchanged:
    """Requests that were answered, with one broker."""

    requests: int = 0
    request_bytes: int = 0
    response_bytes: int = 0


@dataclass(slots=True)
class _Carried:
    """The traffic of one topic."""

    records: int = 0
    size: int = 0


class Traffic:
    """The counters of one client."""

    def __init__(self, client: TrafficKind, on_trouble: Callable[[str], None]) -> None:
        """Create the counters; `on_trouble` gets the reason why a connection broke."""
        self.on_trouble = on_trouble
        self.gauges: Callable[[], Mapping[str, float]] = dict
        """Asked for the client's values of now at each report."""
        self.counters: Callable[[], Mapping[str, int]] = dict
        """Asked for further totals at each report."""
        self.metadata_age: Callable[[], float | None] = lambda: None
        """Seconds since the cluster was last asked who leads what."""
        self.connections: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """The number of connections made to the brokers, and of those that are open."""
        self.first_missing: Callable[[], Offsets] = dict
        """Asked at each report for the first offset of each partition that is carried and not at the target yet."""
        self._client = client
        self._lock = threading.Lock()
        self._requests, self._records = _NAMES.get(client, ("", ""))
        self._nodes: defaultdict[int, _Exchanged] = defaultdict(_Exchanged)
        self._latencies: defaultdict[int, Spread] = defaultdict(Spread)
        self._spreads: defaultdict[str, Spread] = defaultdict(Spread)
        self._topics: defaultdict[str, _Carried] = defaultdict(_Carried)
        self._logs: dict[TopicPartition, tuple[int, int]] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._next = monotonic() + SAMPLE_INTERVAL

    def exchanged(self, node: int, sent: int, received: int, seconds: float, throttle_ms: int) -> None:
        """Count an answered request. Sizes are bytes."""
        with self._lock:
            exchanged = self._nodes[node]
            exchanged.requests += 1
            exchanged.request_bytes += sent
            exchanged.response_bytes += received
            self._latencies[node].add(seconds * 1000)
            self._spreads["latency_ms"].add(seconds * 1000)
            self._spreads["throttle_ms"].add(throttle_ms)

    def note_log(self, partition: TopicPartition, begin: int, end: int) -> None:
        """Note the begin and the end of the log of a partition."""
        with self._lock:
            self._logs[partition] = (begin, end)

    def log_begin(self, partition: TopicPartition) -> int:
        """Return the begin of a partition's log at its last read; -1 if it was not read."""
        with self._lock:
            return self._logs.get(partition, (-1, -1))[0]

    def carried(self, partition: TopicPartition, records: int, size: int, position: int = -1) -> None:
        """Count a copied batch; `position` is the next source offset to copy."""
        with self._lock:
            carried = self._topics[partition.topic]
            carried.records += records
            carried.size += size
            if position >= 0:
                self._positions[partition] = position
            else:
                self._spreads["batch_bytes"].add(size)
                self._spreads["batch_records"].add(records)

    def passed(self, partition: TopicPartition, position: int) -> None:
        """Note the position: everything before it is copied, excluded, or lost in a gap."""
        with self._lock:
            self._positions[partition] = position

    def waited(self, seconds: float) -> None:
        """Note the seconds a batch waited before it was sent."""
        with self._lock:
            self._spreads["queue_ms"].add(seconds * 1000)

    def statistics_when_due(self, *, last: bool = False) -> Statistics | None:
        """Return the statistics, every few seconds; None in between. The `last` ones are due at any time."""
        now = monotonic()
        if now < self._next and not last:
            return None
        self._next = now + SAMPLE_INTERVAL
        with self._lock:
            return Statistics(self._client, list(self._measured()), positions=list(self._log_positions()))

    def _log_positions(self) -> Iterator[LogPosition]:
        missing = self.first_missing()
        for partition, (_, end) in self._logs.items():
            position = self._positions[partition]
            if end >= 0:
                yield LogPosition(*partition, min(position, missing.get(partition, position)), end)

    def _measured(self) -> Iterator[Measured]:
        totals = _exchanged_counters(self._nodes.values()) | self._carried_counters(self._topics.values())
        totals |= {"exchanges": totals["requests"] + totals["responses"], **self.counters()}
        if self._requests:
            totals[self._requests] = totals["requests"]
        made, still_open = self.connections()
        totals |= {"connects": made, "disconnects": made - still_open}
        gauges: dict[str, float] = {"connections": still_open, **self.gauges()}
        spreads = {name: found for name, spread in self._spreads.items() if (found := spread.take())}
        age = self.metadata_age()
        yield Measured("client", "", totals, gauges, spreads, {} if age is None else {"metadata": age})
        for node, exchanged in self._nodes.items():
            latency = {"latency_ms": found} if (found := self._latencies[node].take()) else {}
            yield Measured("node", str(node), _exchanged_counters([exchanged]), {}, latency, {})
        for topic, carried in self._topics.items():
            yield Measured("topic", topic, self._carried_counters([carried]), {}, {}, {})
        for partition, (begin, end) in self._logs.items():
            position = self._positions[partition]
            gauges = {"lag": max(0, end - position)} if end >= 0 else {}
            if begin >= 0:
                gauges["lead"] = max(0, position - begin)
            yield Measured("partition", str(partition), {}, gauges, {}, {})

    def _carried_counters(self, carried: Collection[_Carried]) -> dict[str, int]:
        if not self._records:
            return {}
        return {
            f"{self._records}_records": sum(each.records for each in carried),
            f"{self._records}_bytes": sum(each.size for each in carried),
        }


def _exchanged_counters(exchanged: Collection[_Exchanged]) -> dict[str, int]:
    requests = sum(each.requests for each in exchanged)
    return {
        "requests": requests,
        "request_bytes": sum(each.request_bytes for each in exchanged),
        "responses": requests,
        "response_bytes": sum(each.response_bytes for each in exchanged),
    }
