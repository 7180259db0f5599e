"""The two sides: the real legacy tool onto 3.9 brokers, ours onto current ones, both from the same source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.tool_process import ToolProcess


@dataclass(frozen=True)
class Side:
    """One tool, and the target it writes to."""

    name: str
    start: Callable[..., ToolProcess]
    source: Cluster
    target: Cluster

    def mirror(self, group: str, *options: str, consumer: Any = None, producer: Any = None) -> ToolProcess:
        """Start the tool from the source to this side's target."""
        return self.start(
            {
                "bootstrap.servers": self.source.bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                **(consumer or {}),
            },
            {"bootstrap.servers": self.target.bootstrap, **(producer or {})},
            *options,
        )


@pytest.fixture
def topic(topic: Callable[[str], str]) -> str:
    """One unique topic name: these tests need no more."""
    return topic("records")


@pytest.fixture
def old(source: Cluster, target_39: Cluster, old_tool: Callable[..., ToolProcess]) -> Side:
    """Kafka's own MirrorMaker 3.9.1."""
    return Side("old", old_tool, source, target_39)


@pytest.fixture
def ours(request: pytest.FixtureRequest, source: Cluster, target: Cluster) -> Side:
    """Our command; a module whose subject is no process says `OURS = "our_mirror"`."""
    return Side("ours", request.getfixturevalue(getattr(request.module, "OURS", "our_tool")), source, target)


@pytest.fixture(params=[pytest.param("old", marks=pytest.mark.slow), "ours"])
def side(request: pytest.FixtureRequest) -> Side:
    """Each of the two, one after the other; others by name. The legacy tool, which does not change, is slow here."""
    found: Side = request.getfixturevalue(request.param)
    return found
