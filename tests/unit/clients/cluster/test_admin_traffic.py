"""The counts of an admin client, whose connections last for one call each."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.clients.cluster.admin_traffic import AdminTraffic, counted
from legacy_mm.clients.cluster.network_client import Connections
from legacy_mm.clients.net import traffic


class Asked(SimpleNamespace):
    """A cluster with one answered request over each connection that it has made."""

    traffic: Any = None

    @property
    def network(self) -> Asked:
        """It counts its connections itself."""
        return self

    def ask(self, node: int) -> None:
        """Make a connection to this broker, and ask it once."""
        self.made += 1
        self.open += 1
        self.traffic.exchanged(node, 10, 20, 0.1, 0)

    def connections(self) -> Connections:
        """As a cluster counts them."""
        return Connections(self.made, self.open)

    def close(self) -> None:
        """As a cluster does."""
        self.open = 0


def test_counts_go_on_from_call_to_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "monotonic", lambda: inf)
    admin = AdminTraffic("A->B|admin")

    def told() -> tuple[float, float, float, float]:
        statistics = admin.statistics_when_due()
        assert statistics is not None
        assert statistics.client == "admin"
        counts, gauges = statistics.measured[0].counters, statistics.measured[0].gauges
        return counts["requests"], counts["connects"], counts["disconnects"], gauges["connections"]

    for call, after in enumerate([(1, 1, 1, 0), (2, 2, 2, 0)]):
        cluster: Any = Asked(made=0, open=0)
        with counted(cluster, admin) as asked:
            assert [asked] == [cluster]
            cluster.ask(1)
            assert told() == (call + 1, call + 1, call, 1)
        assert told() == after


def test_a_call_that_fails_is_counted_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "monotonic", lambda: inf)
    admin = AdminTraffic("a")
    cluster: Any = Asked(made=0, open=0)
    with pytest.raises(ZeroDivisionError), counted(cluster, admin):
        cluster.ask(1)
        raise ZeroDivisionError
    told = admin.statistics_when_due()
    assert told is not None
    assert (told.measured[0].counters["disconnects"], told.measured[1].name, cluster.open) == (1, "1", 0)


def test_without_counts_a_cluster_is_closed_as_well() -> None:
    cluster: Any = Asked(made=1, open=1)
    with counted(cluster, None):
        assert cluster.traffic is None
    assert cluster.open == 0
