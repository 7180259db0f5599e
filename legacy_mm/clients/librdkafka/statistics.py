"""librdkafka's statistics, reduced to the numbers that metrics need: a table of paths and one pure function.

The text of a client with 1,000 partitions is more than a megabyte; what leaves here is less than a tenth of it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from legacy_mm.control_channel.frames import Measured, Statistics

INTERVAL_MS = 5_000
ClientKind = Literal["consumer", "producer", "member"]
Json = Mapping[str, Any]

_MICRO_TO_MILLI = 1e-3
_LAST_NODE = 2_147_483_647
"""Kafka's clients count the connection to a coordinator as a node of its own: this number minus the broker's."""
_CLIENT_COUNTERS = {
    "requests": "tx",
    "request_bytes": "tx_bytes",
    "responses": "rx",
    "response_bytes": "rx_bytes",
    "sent_records": "txmsgs",
    "sent_bytes": "txmsg_bytes",
    "received_records": "rxmsgs",
    "received_bytes": "rxmsg_bytes",
}
_BROKER_COUNTERS = {"connects": "connects", "disconnects": "disconnects"}
_REQUEST_COUNTERS = {
    "fetches": "Fetch",
    "produces": "Produce",
    "heartbeats": "Heartbeat",
    "joins": "JoinGroup",
    "syncs": "SyncGroup",
}
_NODE_COUNTERS = {"requests": "tx", "request_bytes": "txbytes", "responses": "rx", "response_bytes": "rxbytes"}
_BROKER_SPREADS = {
    "latency_ms": ("rtt", _MICRO_TO_MILLI),
    "queue_ms": ("int_latency", _MICRO_TO_MILLI),
}
_TOPIC_SPREADS = {"batch_bytes": ("batchsize", 1.0), "batch_records": ("batchcnt", 1.0)}
_PARTITION_COUNTERS = {
    "consumer": {"received_records": "rxmsgs", "received_bytes": "rxbytes"},
    "producer": {"sent_records": "txmsgs", "sent_bytes": "txbytes"},
    "member": {},
}
WindowNumbers = tuple[float, float, float, float]


def statistics_properties(
    client: ClientKind, report: Callable[[Statistics], None], *, committed_only: bool = True
) -> dict[str, object]:
    """Return client properties that send statistics to `report`; `committed_only`: of what this client reads."""
    callback = _Callback(client, "ls_offset" if committed_only else "hi_offset", report)
    return {"statistics.interval.ms": INTERVAL_MS, "stats_cb": callback}


@dataclass(frozen=True)
class _Callback:
    """Never raises: an exception in a client's callback would lose the records in hand."""

    client: ClientKind
    end_offset: str
    report: Callable[[Statistics], None]

    def __call__(self, text: str) -> None:
        try:
            measured = reduce_statistics(self.client, json.loads(text), self.end_offset)
            self.report(Statistics(self.client, list(measured)))
        except Exception as error:  # noqa: BLE001
            logging.getLogger("legacy_mm.librdkafka").debug("statistics of the %s: %r", self.client, error)


def reduce_statistics(client: ClientKind, stats: Json, end_offset: str = "hi_offset") -> Iterator[Measured]:
    """Yield the client's own row, then its brokers', topics' and partitions'."""
    brokers, topics = stats["brokers"].values(), stats["topics"]
    yield _client(stats, brokers, topics.values())
    yield from _nodes(brokers)
    for name, topic in topics.items():
        partitions = [entry for entry in topic["partitions"].values() if entry["partition"] >= 0]
        counted = _PARTITION_COUNTERS[client]
        totals = {measure: sum(entry[key] for entry in partitions) for measure, key in counted.items()}
        if any(totals.values()):
            yield Measured("topic", name, totals, {}, {}, {})
        if client == "consumer":
            yield from _partitions(name, partitions, end_offset)


def _client(stats: Json, brokers: Iterable[Json], topics: Iterable[Json]) -> Measured:
    counters = {measure: stats[key] for measure, key in _CLIENT_COUNTERS.items()}
    counters |= {measure: sum(broker[key] for broker in brokers) for measure, key in _BROKER_COUNTERS.items()}
    for measure, key in _REQUEST_COUNTERS.items():
        counters[measure] = sum(broker["req"].get(key, 0) for broker in brokers)
    counters["exchanges"] = stats["tx"] + stats["rx"]
    gauges = {
        "buffer_bytes": stats["msg_size_max"],
        "buffer_free_bytes": stats["msg_size_max"] - stats["msg_size"],
        "connections": sum(broker["state"] == "UP" for broker in brokers),
        "requests_in_flight": sum(broker["waitresp_cnt"] for broker in brokers),
    }
    carrying = [broker for broker in brokers if broker["req"].get("Fetch") or broker["req"].get("Produce")]
    spreads = _merged(_BROKER_SPREADS, carrying) | _merged(_TOPIC_SPREADS, topics)
    if "latency_ms" in spreads:
        spreads["throttle_ms"] = _throttle(carrying, spreads["latency_ms"][1])
    ages = [topic["metadata_age"] / 1000 for topic in topics]
    return Measured("client", "", counters, gauges, spreads, {"metadata": min(ages)} if ages else {})


def _throttle(brokers: Iterable[Json], requests: float) -> WindowNumbers:
    """Return the throttle times; librdkafka notes only throttled requests, and the others count as 0."""
    found = [broker["throttle"] for broker in brokers]
    return sum(each["sum"] for each in found), requests, max(each["max"] for each in found), 0.0


def _nodes(brokers: Iterable[Json]) -> Iterator[Measured]:
    numbers = {broker["nodename"]: broker["nodeid"] for broker in brokers if broker["nodeid"] >= 0}
    for broker in brokers:
        number = numbers.get(broker["nodename"])
        if number is None or not broker["tx"]:
            continue
        node = number if broker["nodeid"] >= 0 else _LAST_NODE - number
        counters = {measure: broker[key] for measure, key in _NODE_COUNTERS.items()}
        latency = {"latency_ms": _BROKER_SPREADS["latency_ms"]}
        yield Measured("node", str(node), counters, {}, _merged(latency, [broker]), {})


def _partitions(topic: str, partitions: Iterable[Json], end_offset: str) -> Iterator[Measured]:
    """Yield lag and lead where they are known. Records that are fetched but not returned yet count as lag."""
    for entry in partitions:
        position = entry["app_offset"] if entry["fetchq_cnt"] else entry["next_offset"]
        if entry["fetch_state"] != "active" or entry[end_offset] < 0 or position < 0:
            continue
        gauges = {"lag": max(0, entry[end_offset] - position)}
        if entry["lo_offset"] >= 0:
            gauges["lead"] = max(0, position - entry["lo_offset"])
        yield Measured("partition", f"{topic}-{entry['partition']}", {}, gauges, {}, {})


def _merged(table: Mapping[str, tuple[str, float]], places: Iterable[Json]) -> dict[str, WindowNumbers]:
    merged: dict[str, WindowNumbers] = {}
    for measure, (key, scale) in table.items():
        found = [place[key] for place in places if place[key]["cnt"]]
        if found:
            merged[measure] = (
                sum(each["sum"] for each in found) * scale,
                sum(each["cnt"] for each in found),
                max(each["max"] for each in found) * scale,
                min(each["min"] for each in found) * scale,
            )
    return merged
