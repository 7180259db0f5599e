"""What a claim is told of the policy of the positions topic; `test_positions_topic.py` has the sentences."""

from __future__ import annotations

import pytest

from legacy_mm.clients.net.connection_errors import ClusterUnreachable
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.transactions.positions_policy import policy_doubt
from tests.unit.transactions.test_claim_look import Target


def test_a_topic_that_keeps_positions() -> None:
    assert policy_doubt(Target(), "pos") == ""


def test_one_that_deletes_them() -> None:
    told = policy_doubt(Target("delete"), "pos")
    assert told.startswith("exactly once cannot go on: positions topic pos has cleanup.policy=delete, so it deletes")


def test_properties_that_nobody_may_see() -> None:
    told = policy_doubt(Target(error=ErrorCode.TOPIC_AUTHORIZATION_FAILED), "pos")
    assert "give the mirror the right DescribeConfigs" in told


@pytest.mark.parametrize("error", [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_SERVER_ERROR])
def test_a_broker_that_cannot_tell_now_is_asked_again(error: ErrorCode) -> None:
    """It has just started, or has lost ZooKeeper."""
    with pytest.raises(ClusterUnreachable, match=f"of pos: {error.name}"):
        policy_doubt(Target(error=error), "pos")
