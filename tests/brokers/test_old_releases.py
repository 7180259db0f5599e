"""A start script, a consumer file and a producer file of 0.8.2, unchanged, with the release in the environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, read_all
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.jmx import java_pid, read_mbeans
from tests.fixtures.scrape import scrape

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
StartTool = Callable[..., ToolProcess]


def test_everything_but_the_pattern(
    source: Any, target: Any, topic: Callable[..., str], group: str, our_tool: Callable[..., ToolProcess]
) -> None:
    wanted, unwanted = topic("wanted"), topic("unwanted")
    for name in (wanted, unwanted):
        for cluster in (source, target):
            create_topic(cluster.bootstrap, name, partitions=1)
        load(source.bootstrap, name, 100, 100, partitions=1)
    tool = our_tool(
        {"zookeeper.connect": "zk:2181", "group.id": group, "auto.offset.reset": "smallest"},
        {"metadata.broker.list": target.bootstrap, "request.required.acks": "-1"},
        *("--blackl", f"(?!{wanted}$).*", "--num.prod", "2", "--queue.size=10"),
        environment={
            "LEGACY_MM_LEGACY_RELEASE": "0.8.2",
            "LEGACY_MM_SOURCE_BOOTSTRAP_SERVERS": source.bootstrap,
        },
    )
    wait_until(lambda: sum(end_offsets(target.bootstrap, wanted).values()) == 100, 60, "100 records")
    assert tool.stop(40) == 143
    assert sum(end_offsets(target.bootstrap, unwanted).values()) == 0
    assert tool.output().count("has no effect here") == 2


class TwoSources:
    """A topic of the same name at two clusters, and one mirror for both."""

    def __init__(self, sources: tuple[Any, Any], target: Any, name: str, group: str, tool: StartTool) -> None:
        self.sources, self.target, self.name = sources, target, name
        self.groups = (f"{group}-first", f"{group}-second")
        self._tool = tool
        create_topic(target.bootstrap, name, partitions=2)
        for seed, cluster in enumerate(sources):
            create_topic(cluster.bootstrap, name, partitions=2)
            load(cluster.bootstrap, name, 300 + seed, 100, partitions=2, seed=seed)

    def mirror(self, folder: Path, *options: str, **second: str) -> ToolProcess:
        """The mirror; keywords are properties of the second consumer file, written to the folder."""
        first, other = (
            {"zookeeper.connect": group, "group.id": group, "auto.offset.reset": "smallest"} for group in self.groups
        )
        other |= {"bootstrap.servers": self.sources[1].bootstrap, **second}
        return self._tool(
            first,
            {"metadata.broker.list": self.target.bootstrap, "request.required.acks": "-1"},
            *("--consumer.config", str(write_properties(folder / "second.properties", other))),
            *("--blacklist", f"(?!{self.name}$).*", *options),
            environment={
                "LEGACY_MM_LEGACY_RELEASE": "0.8.2",
                "LEGACY_MM_SOURCE_BOOTSTRAP_SERVERS": self.sources[0].bootstrap,
            },
        )

    def arrived(self) -> bool:
        """All records of both sources are there, or more."""
        return sum(end_offsets(self.target.bootstrap, self.name).values()) >= 601

    def committed(self) -> list[dict[tuple[str, int], int]]:
        """Of the two groups, each at its own cluster."""
        return [
            committed(cluster.bootstrap, group, [self.name])
            for cluster, group in zip(self.sources, self.groups, strict=True)
        ]


@pytest.fixture
def two_sources(
    source: Any,
    source_39: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: StartTool,
) -> TwoSources:
    return TwoSources((source, source_39), target, topic(), group, our_tool)


def test_two_consumer_files(two_sources: TwoSources, tmp_path: Path, new_port: Callable[[], int]) -> None:
    """Both sources in one target, nothing doubled; each group's offsets are at its own cluster."""
    port = new_port()
    tool = two_sources.mirror(tmp_path, "--num.streams", "2", "--metrics.port", str(port))
    wait_until(two_sources.arrived, 60, "the records of both sources")
    copied = wait_until(lambda: _copied(port, 601), 60, "both flows in the metrics")
    assert sorted(copied.values()) == [300, 301]
    assert {flow.endswith("second.properties->target") for flow in copied} == {True, False}
    clients = {f"{group}-{number}" for number, group in zip(range(4), sorted(two_sources.groups * 2), strict=True)}
    wanted = {f"kafka.consumer:type=consumer-metrics,client-id={client}" for client in clients}
    wait_until(lambda: wanted <= read_mbeans(java_pid(tool)).keys(), 60, "the MBeans of all clients")
    assert tool.stop(40) == 143
    records = [record for cluster in two_sources.sources for record in read_all(cluster.bootstrap, two_sources.name)]
    found = read_all(two_sources.target.bootstrap, two_sources.name)
    assert Counter((record.key, record.value) for record in found) == Counter(
        (record.key, record.value) for record in records
    )
    for cluster, offsets in zip(two_sources.sources, two_sources.committed(), strict=True):
        assert offsets == {
            (two_sources.name, partition): end
            for partition, end in end_offsets(cluster.bootstrap, two_sources.name).items()
        }


def test_a_source_that_fails_ends_them_all(two_sources: TwoSources, tmp_path: Path) -> None:
    """255; the other one commits what it has copied, the fenced one cannot."""
    tool = two_sources.mirror(tmp_path, **{"group.instance.id": "only-one"})
    wait_until(two_sources.arrived, 60, "the records of both sources")
    intruder = Consumer(
        {
            "bootstrap.servers": two_sources.sources[1].bootstrap,
            "group.id": two_sources.groups[1],
            "group.instance.id": "only-one",
            "enable.auto.commit": False,
        }
    )
    intruder.subscribe([two_sources.name])
    try:
        wait_until(lambda: (intruder.poll(0.1), not tool.running())[1], 60, "the mirror to end")
    finally:
        intruder.close()
    assert tool.wait(40) == 255
    assert "[mirrormaker-thread-1] Mirror maker thread failure due to " in tool.output()
    healthy, fenced = two_sources.committed()
    assert sum(healthy.values()) == sum(end_offsets(two_sources.sources[0].bootstrap, two_sources.name).values())
    assert fenced == {}


def _copied(port: int, wanted: int) -> dict[str, float]:
    """Flow -> records copied, once there are so many in all."""
    samples = scrape(port).get("legacy_mm_records_copied_total", {})
    copied = {dict(labels)["flow"]: count for labels, count in samples.items()}
    return copied if sum(copied.values()) == wanted else {}
