"""`/metrics` of a running mirror, scraped and parsed, against what was really copied."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.ports import LOOPBACK
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.jmx import jmx_address, read_mbeans
from tests.fixtures.scrape import Samples, probe, scrape, total

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
FIRST, SECOND = 4_000, 1_000


def test_a_scrape_tells_what_was_copied(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    new_port: Callable[[], int],
) -> None:
    """Ready once there is a topic; counters are the truth, lag ends at 0, MBeans go with partitions others take."""
    name = topic()
    soon = {"auto.offset.reset": "earliest", "metadata.max.age.ms": "1000"}
    files = (
        {"bootstrap.servers": source.bootstrap, "group.id": group, **soon},
        {"bootstrap.servers": target.bootstrap},
    )
    port, jmx_port = new_port(), new_port()
    words = ("--whitelist", name, "--num.streams", "2", "--metrics.port", str(port))
    tool = our_tool(*files, *words, environment={"JMX_PORT": str(jmx_port)})

    def shared() -> bool:
        return list(scrape(port).get("legacy_mm_consumer_assigned_partitions", {}).values()) == [2.0, 2.0]

    nobody = (503, f"without an assignment: {group}-0, {group}-1\n")
    wait_until(lambda: probe(port, "readyz") == nobody, SECONDS, "streams that wait for a topic")
    assert probe(port, "healthz") == (200, "ok\n")
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions=4)
    wait_until(lambda: probe(port, "readyz") == (200, "ok\n"), SECONDS, "both streams to be members")
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


EXPORTER = CHECKOUT / "samples/deploy/jmx-exporter.yaml"


def test_the_exporter_named_in_kafka_opts_reads_the_old_names(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    new_port: Callable[[], int],
    jmx_exporter: Path,
) -> None:
    """Our sample rules, such as people write them for the legacy tool, in the agent that they run."""
    name = topic()
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions=2)
    load(source.bootstrap, name, FIRST, 100)
    port = new_port()
    tool = our_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap},
        "--whitelist",
        name,
        environment={"KAFKA_OPTS": f"-javaagent:{jmx_exporter}={LOOPBACK}:{port}:{EXPORTER}"},
    )

    def exported() -> Samples:
        try:
            return scrape(port)
        except OSError:  # the agent listens once Java has started
            return {}

    wait_until(
        lambda: total(exported(), "kafka_mirror_producer_record_send_total") == FIRST,
        SECONDS,
        "the exporter to see all records",
    )
    seen = exported()
    assert list(seen["kafka_mirror_dropped_messages"].values()) == [0.0]
    lags = map(dict, seen["kafka_mirror_consumer_partition_records_lag_max"])
    labels = {each["partition"]: each for each in lags}
    assert set(labels) == {"0", "1"}
    assert labels["0"]["client_id"] == f"{group}-0"
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
