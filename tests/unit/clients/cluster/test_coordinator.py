"""A coordinator that moves; the cluster and its connections are stand-ins."""

from __future__ import annotations

import pytest

from legacy_mm.clients.cluster.coordinator import Coordinator
from legacy_mm.clients.net.connection_errors import ConnectionLost
from tests.fakes.cluster import GroupCluster


@pytest.mark.parametrize("fails", ["reached", "asked", ""])
def test_a_coordinator_that_is_away_may_have_another_address_by_now(fails: str) -> None:
    """The same broker with another host: what is known of the cluster is asked for anew."""
    cluster = GroupCluster(fails)
    coordinator = Coordinator(cluster, "g")
    if fails:
        with pytest.raises(ConnectionLost):
            coordinator.call("request", 1.0)
    else:
        assert coordinator.call("request", 1.0) == "answer"
    assert cluster.called_stale == (1 if fails else 0)
