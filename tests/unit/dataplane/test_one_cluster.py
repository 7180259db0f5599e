"""When a task says that it copies a topic into itself."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from legacy_mm.dataplane.one_cluster import OneCluster


@pytest.mark.parametrize(
    ("names", "source", "target", "lines"),
    [
        ({"t": "t"}, "a", "a", 1),
        ({"t": "t"}, "a", "b", 0),
        ({"t": "t"}, "", "", 0),  # brokers before 0.10.1
        ({"t": "up.t"}, "a", "a", 0),
        ({"t": "up.t", "other": "other"}, "a", "a", 1),
    ],
)
def test_it_is_said_once(
    names: dict[str, str], source: str, target: str, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    same = OneCluster(names, Mock(side_effect=["", *[source] * 9]), lambda: target)
    for _ in range(4):
        same.tell()
    assert len([line for line in caplog.messages if "source and target are one cluster (a)" in line]) == lines
