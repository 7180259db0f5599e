"""Ours in the place of the real MirrorMaker 2, with transforms: the same records in the same topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import java_driver, our_driver
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.protocol.mirror_records import OffsetSync
from tests.fixtures.driver_files import driver_file
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark]
SECONDS = 120.0
SIMPLE = "org.apache.kafka.connect.storage.SimpleHeaderConverter"
DAY = 1_709_210_096_007  # 2024-02-29
DRIVERS: dict[str, Callable[..., ToolProcess]] = {"J": java_driver, "O": our_driver}
GUARD = {
    "transforms": "guard, mark, tidy, route, dated",
    "transforms.guard.type": "org.apache.kafka.connect.transforms.Filter",
    "transforms.guard.predicate": "marked",
    "transforms.mark.type": "org.apache.kafka.connect.transforms.InsertHeader",
    "transforms.mark.header": "mark",
    "transforms.mark.value.literal": "null",
    "transforms.tidy.type": "org.apache.kafka.connect.transforms.DropHeaders",
    "transforms.tidy.headers": "trace, span",
    "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.route.regex": r"(\w+)\.u",
    "transforms.route.replacement": "$1.routed",
    "transforms.dated.type": "org.apache.kafka.connect.transforms.TimestampRouter",
    "transforms.dated.predicate": "gone",
    "predicates": "marked, gone",
    "predicates.marked.type": "org.apache.kafka.connect.transforms.predicates.HasHeaderKey",
    "predicates.marked.name": "mark",
    "predicates.gone.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
}
"""The loop guard of public files, and more."""


def file(alias: str, source: Cluster, target: Cluster, **properties: str) -> dict[str, str]:
    flow = {f"{alias}->B.{name}": text for name, text in {"enabled": "true", **properties}.items()}
    return driver_file({alias: source, "B": target}, **{"emit.heartbeats.enabled": "false", **flow})


def arrived(cluster: Cluster, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0


def write(cluster: Cluster) -> None:
    """Records of all kinds; one topic has two partitions, the one that is routed has one, as a broker makes it."""
    create_topic(cluster.bootstrap, "t", 2)
    create_topic(cluster.bootstrap, "u", 1)
    writer = Producer({"bootstrap.servers": cluster.bootstrap})
    headers: list[list[tuple[str, str | bytes | None]]] = [
        [],
        [("trace", b"1"), ("kept", b"\xff"), ("kept", None)],
        [("mark", None)],
        [("span", b""), ("é", b"2")],
    ]
    for number in range(40):
        for topic, partition in (("t", number % 2), ("u", 0)):
            value = None if number % 5 == 0 and topic == "t" and not partition else b"%d" % number
            key = None if number % 3 == 0 else b"k%d" % number
            writer.produce(topic, value, key, partition, timestamp=DAY + number, headers=headers[number % 4][:])
    writer.flush()


def copied(cluster: Cluster, alias: str) -> dict[str, list[tuple[Any, ...]]]:
    """The records of each topic of this alias, without what differs between the tools."""
    names = [name for name in list_topics(cluster.bootstrap) if name.startswith(f"{alias}.") and "internal" not in name]
    found: dict[str, list[tuple[Any, ...]]] = {}
    for name in names:
        records = sorted(read_all(cluster.bootstrap, name), key=lambda each: (each.partition, each.offset))
        found[name.partition(".")[2]] = [
            (each.partition, each.key, each.value, each.timestamp, each.headers) for each in records
        ]
    return found


def synced(cluster: Cluster) -> Counter[str]:
    """Source topic -> its offset syncs, of both tools: they share the topic."""
    name = "mm2-offset-syncs.B.internal"
    records = read_all(cluster.bootstrap, name) if name in list_topics(cluster.bootstrap) else []
    return Counter(OffsetSync.decode(record.key or b"", record.value or b"").topic for record in records)


def test_the_same_records_in_the_same_topics(
    own_clusters: Callable[..., Cluster], tmp_path: Path, warm_driver: Callable[..., WarmMirror]
) -> None:
    a, b = own_clusters(), own_clusters()
    write(a)
    seen: dict[str, Any] = {}
    syncs: list[int] = []
    drivers: dict[str, Callable[..., ToolProcess | WarmMirror]] = {
        "J": partial(java_driver, tmp_path / "J"),
        "O": warm_driver,
    }
    for alias, driver in drivers.items():
        before = synced(a)["t"]
        with driver(file(alias, a, b, topics="t, u", **GUARD)) as tool:
            wait_until(lambda: arrived(b, f"{alias}.t") == 28, SECONDS, f"t of {alias}")  # noqa: B023
            wait_until(lambda: arrived(b, f"{alias}.routed") == 30, SECONDS, f"u of {alias}")  # noqa: B023
            wait_until(lambda: arrived(b, f"{alias}.t-20240229") == 2, SECONDS, f"tombstones of {alias}")  # noqa: B023
            wait_until(lambda: synced(a)["t"] > before, SECONDS, f"offset syncs of {alias}")  # noqa: B023
            if isinstance(tool, WarmMirror):  # its process is for the next test, too
                tool.stop(SECONDS)
        seen[alias] = copied(b, alias)
        syncs.append(synced(a)["u"])
    assert syncs[0] == syncs[1] > 0  # offsets of another topic: MirrorMaker 2 writes them, and ours does not
    assert seen["J"] == seen["O"]
    assert sorted(seen["O"]) == ["routed", "t", "t-20240229", "u"]
    assert seen["O"]["u"] == []


@pytest.mark.slow
def test_a_text_in_a_header(own_clusters: Callable[..., Cluster], tmp_path: Path) -> None:
    """With the header converter that can write it; by default MirrorMaker 2's task ends, and ours says so."""
    a, b = own_clusters(), own_clusters()
    writer = Producer({"bootstrap.servers": a.bootstrap})
    create_topic(a.bootstrap, "t", 1)
    writer.produce("t", b"v", timestamp=DAY)
    writer.flush()
    named = {
        "topics": "t",
        "transforms": "name, number",
        "transforms.name.type": "InsertHeader",
        "transforms.name.header": "from",
        "transforms.name.value.literal": "DC1 é",
        "transforms.number.type": "InsertHeader",
        "transforms.number.header": "version",
        "transforms.number.value.literal": "1.0",
    }
    seen = {}
    for alias, driver in DRIVERS.items():
        with driver(tmp_path / alias, file(alias, a, b, **named, **{"header.converter": SIMPLE})):
            wait_until(lambda: arrived(b, f"{alias}.t") == 1, SECONDS, f"t of {alias}")  # noqa: B023
        seen[alias] = copied(b, alias)
    assert seen["J"] == seen["O"]
    ((*_, headers),) = seen["O"]["t"]
    assert headers == (("from", "DC1 é".encode()), ("version", b"1"))
    with our_driver(tmp_path / "refused", file("X", a, b, **named)) as tool:
        assert tool.wait(SECONDS) == 2
        assert "X->B.transforms.name.value.literal=DC1 é is not possible with header.converter" in tool.output()
    with java_driver(tmp_path / "failing", file("X", a, b, **named)) as tool:
        wait_until(lambda: "ByteArrayConverter: STRING" in tool.output(), SECONDS, "the end of Connect's task")
    assert arrived(b, "X.t") == 0
