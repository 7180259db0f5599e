"""A coordinator that moves; the cluster and its connections are stand-ins."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.clients.native.connection_errors import ConnectionLost
from legacy_mm.clients.native.coordinator import Coordinator


class Cluster:
    """Says that broker 1 keeps the group; `fails` when it is reached, or when it is asked."""

    def __init__(self, fails: str) -> None:
        self._fails = fails
        self.called_stale = 0

    def call_any(self, request: Any) -> Any:
        return SimpleNamespace(coordinators=[SimpleNamespace(key="g", error_code=0, node_id=1)])

    def connect(self, node: int) -> Any:
        if self._fails == "reached":
            raise ConnectionLost("away")
        return SimpleNamespace(
            is_due=lambda: False, with_timeout=lambda seconds: nullcontext(), call=self._call, close=lambda: None
        )

    def stale(self) -> None:
        self.called_stale += 1

    def _call(self, request: Any) -> Any:
        if self._fails == "asked":
            raise ConnectionLost("away")
        return "answer"


@pytest.mark.parametrize("fails", ["reached", "asked", ""])
def test_a_coordinator_that_is_away_may_have_another_address_by_now(fails: str) -> None:
    """The same broker with another host: what is known of the cluster is asked for anew."""
    cluster = Cluster(fails)
    coordinator = Coordinator(cluster, "g")  # type: ignore[arg-type]
    if fails:
        with pytest.raises(ConnectionLost):
            coordinator.call("request", 1.0)
    else:
        assert coordinator.call("request", 1.0) == "answer"
    assert cluster.called_stale == (1 if fails else 0)
