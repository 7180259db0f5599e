"""`/metrics` for Prometheus: every metric of the catalogue but the rates, read from the snapshot at each scrape.

At `--metrics.port` `/healthz` and `/readyz` are beside it; any other path is 404. `--admin.port` has the same texts.
"""

from __future__ import annotations

import io
import math
import socket
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from socketserver import ThreadingMixIn
from typing import Any, NamedTuple, TextIO
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, make_wsgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from legacy_mm.base.errors import HostError
from legacy_mm.logs import events
from legacy_mm.metrics import health
from legacy_mm.metrics.metric_catalogue import METRICS
from legacy_mm.metrics.registry import Labels, Snapshot
from legacy_mm.metrics.window import WindowReading

Snapshots = Callable[[], Iterable[Snapshot]]
GetState = Callable[[], health.State]
_NUMBERS = ("/metrics", "/")


class Scraped(NamedTuple):
    """The answer to a scrape."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Scrape = Callable[[str, str, str], Scraped]
"""Takes the headers `Accept` and `Accept-Encoding`, and the query."""


def scrape_of(snapshots: Snapshots) -> Scrape:
    """Return what answers scrapes for another server than `Endpoint`, with the same texts."""
    metrics = _metrics(snapshots)

    def scrape(accept: str, accept_encoding: str, query: str) -> Scraped:
        said: list[tuple[int, dict[str, str]]] = []

        def start(status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], object]:
            said.append((int(status.split()[0]), dict(headers)))
            return body.append

        environment = {
            "REQUEST_METHOD": "GET",
            "PATH_INFO": _NUMBERS[0],
            "QUERY_STRING": query,
            "HTTP_ACCEPT": accept,
            "HTTP_ACCEPT_ENCODING": accept_encoding,
        }
        body: list[bytes] = []
        body += metrics(environment, start)
        return Scraped(*said[0], b"".join(body))

    return scrape


class Endpoint:
    """An HTTP server on a thread of its own."""

    def __init__(self, address: str, port: int, snapshots: Snapshots, state: GetState) -> None:
        """Listen; raises HostError when the address cannot be used."""
        try:
            self._server = _Server(address, port, _application(_metrics(snapshots), state))
        except OSError as error:
            raise HostError(f"--metrics.port: cannot listen on {address}:{port}: {error.strerror}") from error
        threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True).start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def __init__(self, address: str, port: int, application: WSGIApplication) -> None:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family = found[0][0]
        super().__init__((address, port), _Silent)
        self.set_app(application)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that hangs up or says nothing."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            events.emit(events.SCRAPE_FAILED, reason=type(error).__name__, error=error)


class _Silent(WSGIRequestHandler):
    timeout = 30

    def get_stderr(self) -> TextIO:
        """Return the place for tracebacks, also of callers that do not take the answer."""
        return io.StringIO()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Ignore the log of requests: a scrape is no news."""


def _metrics(snapshots: Snapshots) -> WSGIApplication:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_SnapshotCollector(snapshots))
    return make_wsgi_app(registry)


def _application(metrics: WSGIApplication, state: GetState) -> WSGIApplication:
    def answer(environment: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        path = environment["PATH_INFO"]
        if path in _NUMBERS:
            try:
                return metrics(environment, start)
            except Exception as error:
                events.emit(events.SCRAPE_FAILED, reason=type(error).__name__, error=error)
                raise
        if path in health.PROBES:
            status, text = health.answer(path, state())
        else:
            status, text = HTTPStatus.NOT_FOUND, "not found\n"
        start(f"{status.value} {status.phrase}", [("Content-Type", health.TEXT)])
        return [text.encode()]

    return answer


class _SnapshotCollector(Collector):
    def __init__(self, snapshots: Snapshots) -> None:
        self._snapshots = snapshots

    def collect(self) -> Iterator[Metric]:
        """Yield one family for each metric, with a sample for each scope of its level that has a value."""
        places: defaultdict[str, list[tuple[Labels, dict[str, WindowReading]]]] = defaultdict(list)
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
