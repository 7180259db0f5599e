"""`/metrics` for Prometheus: every metric of the catalogue but the rates, read from the snapshot at each scrape."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from legacy_mm.errors import HostError
from legacy_mm.metrics.catalogue import METRICS
from legacy_mm.metrics.registry import Labels, Snapshot
from legacy_mm.metrics.window import Reading

Snapshots = Callable[[], Iterable[Snapshot]]


class Endpoint:
    """An HTTP server on a thread of its own."""

    def __init__(self, address: str, port: int, snapshots: Snapshots) -> None:
        """Listen; raises HostError when the address cannot be used."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_SnapshotCollector(snapshots))
        try:
            self._server, self._thread = start_http_server(port, address, registry)
        except OSError as error:
            raise HostError(f"--metrics.port: cannot listen on {address}:{port}: {error.strerror}") from error

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


class _SnapshotCollector(Collector):
    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    def collect(self) -> Iterator[Metric]:
        """One family for each metric, with a sample for each scope of its level that has a value."""
        places: defaultdict[str, list[tuple[Labels, dict[str, Reading]]]] = defaultdict(list)
        for snapshot in self._snapshots():
            for scope, readings in snapshot.readings.items():
                places[scope.level].append(((("flow", snapshot.flow), *scope.labels), dict(readings)))
        for metric in METRICS:
            if metric.kind == "rate":
                continue
            family = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            values = [(labels, metric.value(readings)) for labels, readings in places[metric.level]]
            names = [name for name, _ in values[0][0]] if values else []
            found = family(metric.prometheus, f"{metric.name.replace('_', ' ')}, {metric.unit}", labels=names)
            for labels, value in values:
                if not math.isnan(value):
                    found.add_metric([text for _, text in labels], value)
            yield found
