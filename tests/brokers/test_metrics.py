"""`/metrics` of a running mirror, scraped and parsed, against what was really copied."""

from __future__ import annotations

import signal
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from legacy_mm.testbed.load import load
from legacy_mm.testbed.ports import LOOPBACK
from legacy_mm.testbed.records import create_topic
from legacy_mm.testbed.tools import ToolProcess
from legacy_mm.testbed.waiting import wait_until
from tests.fixtures.jmx import jmx_address, read_mbeans

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
FIRST, SECOND = 4_000, 1_000
Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


def scrape(port: int) -> Samples:
    """Metric -> labels -> value."""
    with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found: Samples = {}
    for metric in text_string_to_metric_families(text):
        for sample in metric.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def total(samples: Samples, name: str, **labels: str) -> float:
    """The sum over all label values but these."""
    wanted = set(labels.items())
    return sum(value for found, value in samples.get(name, {}).items() if wanted <= set(found))


def test_a_scrape_tells_what_was_copied(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    new_port: Callable[[], int],
) -> None:
    """Counters are the truth, lag ends at 0, and MBeans go with the partitions that another mirror takes over."""
    name = topic()
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions=4)
    files = (
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap},
    )
    port, jmx_port = new_port(), new_port()
    words = ("--whitelist", name, "--num.streams", "2", "--metrics.port", str(port))
    tool = our_tool(*files, *words, environment={"JMX_PORT": str(jmx_port)})

    def shared() -> bool:
        owned = scrape(port).get("legacy_mm_consumer_assigned_partitions", {})
        return list(owned.values()) == [2.0, 2.0]

    # a copy job that a rebalance ends takes along what its clients counted since their last report
    wait_until(shared, SECONDS, "two partitions for each stream")
    load(source.bootstrap, name, FIRST, 100)
    wait_until(lambda: total(scrape(port), "legacy_mm_records_copied_total") == FIRST, SECONDS, "the first records")
    load(source.bootstrap, name, SECOND, 100)

    def everything() -> bool:
        seen = scrape(port)
        return (
            total(seen, "legacy_mm_records_copied_total") == FIRST + SECOND
            and total(seen, "legacy_mm_consumer_topic_records_consumed_total", topic=name) == FIRST + SECOND
            and total(seen, "legacy_mm_producer_record_send_total", client_id="producer-1") == FIRST + SECOND
            and list(seen["legacy_mm_consumer_partition_records_lag"].values()) == [0.0] * 4
        )

    wait_until(everything, SECONDS, "all records in all counters, and no lag")
    seen = scrape(port)
    assert total(seen, "legacy_mm_records_dropped_total") == 0
    assert total(seen, "legacy_mm_consumer_assigned_partitions") == 4
    assert list(seen["legacy_mm_records_copied_total"]) == [(("flow", "source->target"),)]

    other = our_tool(*files, "--whitelist", name)

    def beans_follow() -> bool:
        left = total(scrape(port), "legacy_mm_consumer_assigned_partitions")
        return 0 < left < 4 and sum("partition=" in bean for bean in read_mbeans(jmx_address(jmx_port))) == left

    wait_until(beans_follow, SECONDS, "the MBeans of the partitions that the other mirror left")
    for process in (other, tool):
        process.signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 143, process.output()
    assert "MBeans" not in tool.output()


EXPORTER = """\
lowercaseOutputName: true
rules:
- pattern: kafka.consumer<type=.+, client-id=(.+), topic=(.+), partition=(.+)><>records-lag-max
  name: mirror_lag_max
  labels: {client: "$1", topic: "$2", partition: "$3"}
- pattern: kafka.producer<type=producer-metrics, client-id=(.+)><>record-send-total
  name: mirror_sent_total
- pattern: kafka.tools<type=MirrorMaker, name=MirrorMaker-numDroppedMessages><>Value
  name: mirror_dropped
"""


def test_the_exporter_named_in_kafka_opts_reads_the_old_names(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    new_port: Callable[[], int],
    jmx_exporter: Path,
    tmp_path: Path,
) -> None:
    """Rules as people write them for the old tool, in the agent that they run."""
    name = topic()
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions=2)
    load(source.bootstrap, name, FIRST, 100)
    rules, port = tmp_path / "mirror.yml", new_port()
    rules.write_text(EXPORTER)
    tool = our_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap},
        "--whitelist",
        name,
        environment={"KAFKA_OPTS": f"-javaagent:{jmx_exporter}={LOOPBACK}:{port}:{rules}"},
    )

    def exported() -> Samples:
        try:
            return scrape(port)
        except OSError:  # the agent listens once Java has started
            return {}

    wait_until(lambda: total(exported(), "mirror_sent_total") == FIRST, SECONDS, "the exporter to see all records")
    seen = exported()
    assert list(seen["mirror_dropped"].values()) == [0.0]
    labels = {dict(labels)["partition"]: dict(labels) for labels in seen["mirror_lag_max"]}
    assert set(labels) == {"0", "1"}
    assert labels["0"]["client"] == f"{group}-0"
    tool.signal(signal.SIGTERM)
    assert tool.wait(SECONDS) == 143, tool.output()


def test_a_port_in_use_is_said_at_start(
    source: Any, target: Any, topic: Callable[..., str], group: str, our_tool: Callable[..., ToolProcess]
) -> None:
    """One clear line and exit 1, before any Java is started."""
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        tool = our_tool(
            {"bootstrap.servers": source.bootstrap, "group.id": group},
            {"bootstrap.servers": target.bootstrap},
            "--whitelist",
            topic(),
            "--metrics.port",
            str(port),
        )
        assert tool.wait(SECONDS) == 1
    assert f"--metrics.port: cannot listen on {LOOPBACK}:{port}: Address already in use" in tool.output()
