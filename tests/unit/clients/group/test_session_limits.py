"""What stands behind a broker's refusal of a session; the coordinator is a stand-in."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.clients.cluster.coordinator import Coordinator
from legacy_mm.clients.group.session_limits import allowed_session
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fakes.cluster import GroupCluster
from tests.fakes.coordinator import FakeCoordinator

LIMITS = {"group.min.session.timeout.ms": "6000", "group.max.session.timeout.ms": "1800000"}


def told(cluster: Any, code: int = ErrorCode.INVALID_SESSION_TIMEOUT) -> str:
    return allowed_session(Coordinator(cluster, "g"), code, 3600.0, 1.0)


def test_what_the_coordinator_allows_is_told() -> None:
    cluster = FakeCoordinator()
    cluster.properties = LIMITS
    assert told(cluster) == (
        "; session.timeout.ms=3600000 of the consumer is above group.max.session.timeout.ms=1800000 of the source's "
        "brokers: set session.timeout.ms to 1800000 at most"
    )


def test_other_refusals_ask_nothing() -> None:
    cluster = FakeCoordinator()
    assert (told(cluster, ErrorCode.GROUP_AUTHORIZATION_FAILED), cluster.asked) == ("", [])


def test_without_the_right_to_ask_nothing_is_told() -> None:
    cluster = FakeCoordinator()
    cluster.properties = int(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    assert told(cluster) == ""


@pytest.mark.parametrize("fails", ["reached", "asked"])
def test_a_coordinator_that_is_lost_tells_nothing(fails: str) -> None:
    """The refusal stands without it."""
    assert told(GroupCluster(fails)) == ""
