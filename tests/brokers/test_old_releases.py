"""A start script, a consumer file and a producer file of 0.8.2, unchanged, with the release in the environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from legacy_mm.testbed.load import load
from legacy_mm.testbed.records import create_topic, end_offsets
from legacy_mm.testbed.tools import ToolProcess
from legacy_mm.testbed.waiting import wait_until

pytestmark = [pytest.mark.brokers, pytest.mark.spark]


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
