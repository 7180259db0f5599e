"""`bin/bench --pages`: how long the addresses of the admin port take where a mirror has thousands of partitions.

Rule: the mirror is real and copies all the while; nobody asks twice at a time.
"""

from __future__ import annotations

import statistics
import time
import urllib.parse
import urllib.request
from functools import partial

from confluent_kafka import Producer

from compat.laboratory.bench_measure import FIRST_RECORD_TIMEOUT, Site
from compat.laboratory.bench_writer import writing
from compat.laboratory.ports import LOOPBACK
from compat.laboratory.tools import our_mirror_maker
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.waiting import wait_until

PARTITIONS, _TOPICS = 10_000, 10
_ROUNDS, _TIMEOUT = 30, 30.0
_PREFIX = "pages-"
_ROUND_SECONDS, _LINGER_MS = 1.0, 5


def measure_pages(site: Site) -> list[list[str]]:
    """Return a row for each address: its median and longest answer in milliseconds, and its size in bytes."""
    topics = [f"{_PREFIX}{number}" for number in range(_TOPICS)]
    for cluster in (site.source, site.target):
        for topic in topics:
            create_topic(cluster.bootstrap, topic, PARTITIONS // _TOPICS)
    port = site.ports.reserve()
    consumer = {"bootstrap.servers": site.source.bootstrap, "group.id": "pages", "auto.offset.reset": "earliest"}
    producer = {"bootstrap.servers": site.target.bootstrap}
    words = ("--whitelist", f"{_PREFIX}.*", "--admin.port", str(port))
    rounds = writing(site.source.bootstrap, _ROUND_SECONDS, partial(_write_round, topics), linger_ms=_LINGER_MS)
    with rounds, our_mirror_maker(site.folder, consumer, producer, *words) as tool:
        last = topics[-1]
        wait_until(
            lambda: all(end_offsets(site.target.bootstrap, last).values()), FIRST_RECORD_TIMEOUT, "a copy of each"
        )
        flow = _flow_of(port)
        times: dict[str, list[float]] = {address: [] for address in _addresses(flow)}
        sizes: dict[str, int] = {}
        for _ in range(_ROUNDS):
            for address, found in times.items():
                begin = time.monotonic()
                sizes[address] = len(_ask(port, address))
                found.append((time.monotonic() - begin) * 1000)
        tool.stop(FIRST_RECORD_TIMEOUT)
    return [
        [address, f"{statistics.median(found):.0f}", f"{max(found):.0f}", f"{sizes[address]:,}"]
        for address, found in times.items()
    ]


def _addresses(flow: str) -> list[str]:
    name, query = (urllib.parse.urlencode({key: flow}) for key in ("name", "flow"))
    return [
        "/connectors?expand=status&expand=info",
        "/status",
        f"/status/flow?{name}",
        f"/status/partitions?{query}",
        "/status/events",
        "/metrics",
        "/healthz",
    ]


def _flow_of(port: int) -> str:
    """Return the flow that the first page links to."""
    text = _ask(port, "/status").decode()
    address = text.partition('href="/status/flow?')[2].partition('"')[0].replace("&amp;", "&")
    return urllib.parse.parse_qs(address)["name"][0]


def _ask(port: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://{LOOPBACK}:{port}{path}", timeout=_TIMEOUT) as answer:
        found: bytes = answer.read()
        return found


def _write_round(topics: list[str], producer: Producer) -> None:
    """Write a record to each partition, no faster than the brokers take it."""
    for topic in topics:
        for number in range(PARTITIONS // _TOPICS):
            producer.produce(topic, b"x" * 100, partition=number)
        producer.flush()
