"""Every flag, and every pair that gets along: a mirror starts with them, copies, stops, and goes on without them."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from itertools import combinations

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, list_topics, read_all
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.features.rows import FLAGS
from tests.fixtures.flags import switched_on

pytestmark = [pytest.mark.brokers, pytest.mark.slow]
SECONDS = 60.0
SWITCHES = [row.name for row in FLAGS if row.is_feature]
OFFSETS = ("emit.offset-syncs.enabled", "emit.checkpoints.enabled", "sync.group.offsets.enabled")
EXCLUDED = {("rename.topics", "detect.loops"), *(("detect.loops", name) for name in OFFSETS)}
RISK = "min.insync.replicas=1"
"""As the only broker has it."""
WITH_ANOTHER_NAME = ("reported a recoverable issue", "was empty when copying went on")
"""Brokers that create a copy say first that there is none, as the legacy tool tells, too; and without `rename.topics`
copying goes on in another topic, which holds nothing of what was copied before.
"""
MATRIX = sorted({*((name,) for name in SWITCHES), *combinations(SWITCHES, 2)} - EXCLUDED)


@pytest.mark.parametrize("flags", MATRIX, ids=" ".join)
def test_on_and_off_again(
    flags: tuple[str, ...],
    source: Cluster,
    target: Cluster,
    our_tool: Callable[..., ToolProcess],
    topic: Callable[..., str],
    group: str,
) -> None:
    name = topic("matrix")
    create_topic(source.bootstrap, name, 2)
    if not {"topic.creation", "rename.topics"} & set(flags):
        create_topic(target.bootstrap, name, 2)
    given = {"source.cluster.alias": "west", **switched_on(flags)}
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    renamed = f"west.{name}" if "rename.topics" in flags else name
    for value, producer, arrives in ((b"on", given, renamed), (b"off", {}, name)):
        writer = Producer({"bootstrap.servers": source.bootstrap, "log_level": 0})
        writer.produce(name, value, b"k")
        assert writer.flush(30) == 0
        tool = our_tool(consumer, {"bootstrap.servers": target.bootstrap, **producer}, "--whitelist", name)
        wait_until(lambda: value in arrived(target, arrives), SECONDS, f"the record {value!r}")  # noqa: B023
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == 143, tool.output()
        told = re.findall(r"^.*\b(?:WARN|ERROR)\b.*$", tool.output(), re.MULTILINE)
        expected = (RISK, *WITH_ANOTHER_NAME) if renamed != name else (RISK,)
        told = [line for line in told if not any(text in line for text in expected)]
        assert len(told) == 1, tool.output()  # that it is deprecated
    assert sorted(arrived(target, name)) == ([b"off"] if renamed != name else [b"off", b"on"])


def arrived(cluster: Cluster, topic: str) -> list[bytes]:
    """Values of the topic's records; none while there is no such topic."""
    there = topic in list_topics(cluster.bootstrap)
    return [record.value or b"" for record in read_all(cluster.bootstrap, topic)] if there else []
