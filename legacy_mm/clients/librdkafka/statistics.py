"""librdkafka's statistics of a membership, reduced to the numbers that metrics need: tables of paths and one pure
function.

The text of a client with 1,000 partitions is more than a megabyte; what leaves here is a small part of it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from legacy_mm.base.reports import Measured, Statistics
from legacy_mm.clients.cluster.coordinator import coordinator_node

INTERVAL_MS = 5_000
Json = Mapping[str, Any]

_MICRO_TO_MILLI = 1e-3
_CLIENT_COUNTERS = {
    "requests": "tx",
    "request_bytes": "tx_bytes",
    "responses": "rx",
    "response_bytes": "rx_bytes",
}
_BROKER_COUNTERS = {"connects": "connects", "disconnects": "disconnects"}
_REQUEST_COUNTERS = {
    "heartbeats": "Heartbeat",
    "joins": "JoinGroup",
    "syncs": "SyncGroup",
}
_NODE_COUNTERS = {"requests": "tx", "request_bytes": "txbytes", "responses": "rx", "response_bytes": "rxbytes"}
_LATENCY = "rtt"
WindowNumbers = tuple[float, float, float, float]


def statistics_properties(report: Callable[[Statistics], None]) -> dict[str, object]:
    """Return client properties that send statistics to `report`."""
    return {"statistics.interval.ms": INTERVAL_MS, "stats_cb": _Callback(report)}


@dataclass(frozen=True)
class _Callback:
    """Never raises: an exception in a client's callback would end the membership."""

    report: Callable[[Statistics], None]

    def __call__(self, text: str) -> None:
        try:
            self.report(Statistics("member", list(reduce_statistics(json.loads(text)))))
        except Exception as error:  # noqa: BLE001
            logging.getLogger("legacy_mm.librdkafka").debug("statistics of the member: %r", error)


def reduce_statistics(stats: Json) -> Iterator[Measured]:
    """Yield the client's own row, then its brokers'."""
    brokers = stats["brokers"].values()
    yield _client(stats, brokers, stats["topics"].values())
    yield from _nodes(brokers)


def _client(stats: Json, brokers: Iterable[Json], topics: Iterable[Json]) -> Measured:
    counters = {measure: stats[key] for measure, key in _CLIENT_COUNTERS.items()}
    counters |= {measure: sum(broker[key] for broker in brokers) for measure, key in _BROKER_COUNTERS.items()}
    for measure, key in _REQUEST_COUNTERS.items():
        counters[measure] = sum(broker["req"].get(key, 0) for broker in brokers)
    counters["exchanges"] = stats["tx"] + stats["rx"]
    gauges = {
        "connections": sum(broker["state"] == "UP" for broker in brokers),
        "requests_in_flight": sum(broker["waitresp_cnt"] for broker in brokers),
    }
    ages = [topic["metadata_age"] / 1000 for topic in topics]
    return Measured("client", "", counters, gauges, {}, {"metadata": min(ages)} if ages else {})


def _nodes(brokers: Iterable[Json]) -> Iterator[Measured]:
    numbers = {broker["nodename"]: broker["nodeid"] for broker in brokers if broker["nodeid"] >= 0}
    for broker in brokers:
        number = numbers.get(broker["nodename"])
        if number is None or not broker["tx"]:
            continue
        node = number if broker["nodeid"] >= 0 else coordinator_node(number)
        counters = {measure: broker[key] for measure, key in _NODE_COUNTERS.items()}
        yield Measured("node", str(node), counters, {}, _latency(broker[_LATENCY]), {})


def _latency(found: Json) -> dict[str, WindowNumbers]:
    """Return sum, number, maximum and minimum of the answers' times in milliseconds; nothing without an answer."""
    if not found["cnt"]:
        return {}
    total, most, least = (found[key] * _MICRO_TO_MILLI for key in ("sum", "max", "min"))
    return {"latency_ms": (total, found["cnt"], most, least)}
