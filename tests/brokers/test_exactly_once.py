"""Exactly once with the whole mirror: group, driver, Spark and copy tasks."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import committed, create_topic, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.record_comparison import same_records
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

pytestmark = pytest.mark.brokers
PATIENCE = 90.0
COMMITTED = "read_committed"


class Mirrored:
    """One topic that is mirrored exactly once."""

    def __init__(self, source: Cluster, target: Cluster, topic: str, group: str, start: Callable[..., Any]) -> None:
        self.source, self.target, self.topic, self.group = source, target, topic, group
        self._start = start
        for cluster in (source, target):
            create_topic(cluster.bootstrap, topic, 4)

    def start(self, *options: str, **settings: Any) -> ToolProcess:
        """Start a mirror."""
        read = {
            "bootstrap.servers": self.source.bootstrap,
            "group.id": self.group,
            "auto.offset.reset": "earliest",
            "session.timeout.ms": "10000",
        }
        written = {"bootstrap.servers": self.target.bootstrap}
        words = ["--whitelist", self.topic, "--exactly.once", "true", "--exactly.once.interval.ms", "300"]
        words += ["--offset.commit.interval.ms", "300"]
        process: ToolProcess = self._start(read, written, *words, *options, **settings)
        return process

    def committed(self) -> int:
        """Sum of the group's offsets."""
        return sum(committed(self.source.bootstrap, self.group, [self.topic]).values())

    def wait_committed(self, count: int) -> None:
        """Until the group's offsets are so far."""
        wait_until(lambda: self.committed() >= count, PATIENCE, f"{count} committed records")

    def differences(self) -> Any:
        """What a committed reader sees otherwise at the target than at the source."""
        written, copied = (
            read_all(each.bootstrap, self.topic, isolation=COMMITTED) for each in (self.source, self.target)
        )
        return same_records(written, copied)


@pytest.fixture
def mirrored(
    source: Cluster, target: Cluster, topic: Callable[[], str], group: str, our_tool: Callable[..., Any]
) -> Mirrored:
    return Mirrored(source, target, topic(), group, our_tool)


def test_copy_stop_and_go_on(mirrored: Mirrored) -> None:
    load(mirrored.source.bootstrap, mirrored.topic, 10_000, 100)
    for count in (10_000, 20_000):
        mirror = mirrored.start()
        mirrored.wait_committed(count)
        mirror.signal(signal.SIGTERM)
        assert mirror.wait(PATIENCE) == 143
        assert mirrored.differences() == []
        load(mirrored.source.bootstrap, mirrored.topic, 10_000, 100)
