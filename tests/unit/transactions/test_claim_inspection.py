"""One look at both clusters serves the claims that are under way."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from math import inf
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.base.clock import monotonic
from legacy_mm.clients.net.connection_errors import ClusterUnreachable
from legacy_mm.protocol.error_codes import ErrorCode
from legacy_mm.transactions import claim_inspection
from legacy_mm.transactions.claim_inspection import ClaimInspection, ClaimInspections, policy_doubt
from tests.fakes.cluster import FakeCluster

CLAIMS = 24
IDS = {"t": "id of t"}


class Source(FakeCluster):
    """Counts how often it is asked; answers once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.answers = Event()
        self.answers.set()

    @override
    def refresh(self, node: int | None = None) -> None:
        self.asked += 1
        self.answers.wait()

    @override
    def cluster_id(self) -> str:
        return "source" if self.asked else ""

    @override
    def topic_ids(self, *, fresh: bool = True) -> Mapping[str, object]:
        return IDS


class Target(FakeCluster):
    """Describes the positions topic."""

    def __init__(self, policy: str = "compact", error: int = 0) -> None:
        super().__init__()
        self.policy, self.error = policy, error
        self.asked: list[Any] = []

    @override
    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        self.asked.append(request)
        configs = [] if self.error else [SimpleNamespace(name="cleanup.policy", value=self.policy)]
        return SimpleNamespace(results=[SimpleNamespace(error_code=self.error, error_message=None, configs=configs)])


def inspections(source: Source, target: Target) -> ClaimInspections:
    return ClaimInspections(source, target, "pos")


def test_it_shows_both_clusters() -> None:
    target = Target()
    assert inspections(Source(), target).since(0.0) == ClaimInspection("source", IDS, "")
    ((resource,),) = [request.resources for request in target.asked]
    assert (resource.resource_name, resource.configuration_keys) == ("pos", ["cleanup.policy"])


def test_claims_that_wait_for_it_take_the_same_one() -> None:
    source, target = Source(), Target()
    source.answers.clear()
    all_claims, began = inspections(source, target), monotonic()
    with ThreadPoolExecutor(CLAIMS) as pool:
        waiting = [pool.submit(all_claims.since, began) for _ in range(CLAIMS)]
        source.answers.set()
        found = {each.result().cluster for each in waiting}
    assert (found, source.asked, len(target.asked)) == ({"source"}, 1, 1)


def test_a_later_claim_looks_anew() -> None:
    source, target = Source(), Target()
    all_claims = inspections(source, target)
    all_claims.since(monotonic())
    target.policy = "delete"
    assert "so it deletes positions after a time" in all_claims.since(monotonic()).doubt
    assert (source.asked, len(target.asked)) == (2, 2)


def test_a_claim_that_waits_for_long_looks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(claim_inspection, "monotonic", lambda: now[0])
    source = Source()
    all_claims = inspections(source, Target())
    for moment, asked in ((100.0, 1), (104.0, 1), (106.0, 2)):
        now[0] = moment
        all_claims.since(99.0)
        assert source.asked == asked


def test_a_look_that_fails_serves_nobody() -> None:
    source, target = Source(), Target(error=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    all_claims = inspections(source, target)
    with pytest.raises(ClusterUnreachable):
        all_claims.since(0.0)
    target.error = 0
    assert all_claims.since(0.0).doubt == ""
    assert source.asked == 2


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
