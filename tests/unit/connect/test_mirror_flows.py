"""The life of a flow, as metrics and probes of the process know it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.connect import mirror_flows
from legacy_mm.connect.mirror_flows import FlowLife
from legacy_mm.flow.mirror import Mirror
from legacy_mm.flow.supervisor import FlowPhase
from legacy_mm.metrics.registry import Registry


@pytest.fixture
def host() -> Any:
    return cast("Any", SimpleNamespace(registries=[], failed_flows={}))


def of_mirror(host: Any, flow: str = "A->B") -> Registry:
    host.registries.append(Registry(flow, "producer", {}))
    return cast("Registry", host.registries[-1])


def test_a_flow_that_failed_is_told_of_until_it_runs(host: Any) -> None:
    life = FlowLife(host, "A->B")
    life.changed(FlowPhase.FAILED, "the target is away")
    assert host.failed_flows == {"A->B": "the target is away"}
    life.changed(FlowPhase.RUNNING, "")
    assert (host.failed_flows, life.reason) == ({}, "")


def test_the_counts_of_a_mirror_that_is_gone_are_not_told(host: Any) -> None:
    life, other = FlowLife(host, "A->B"), of_mirror(host, "B->A")
    for phase in (FlowPhase.FAILED, FlowPhase.STOPPED):
        life.started(Mock(Mirror))
        gone = of_mirror(host)
        assert [each.flow for each in life.snapshots()] == ["A->B"]
        life.changed(phase, "")
        assert (gone in host.registries, other in host.registries, life.mirror) == (False, True, None)


def test_topics_that_a_mirror_wrote_to_are_told_after_it_is_gone(host: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_flows, "sent_records", lambda counts: {"t": 7.0} if counts else {})
    life = FlowLife(host, "A->B")
    of_mirror(host)
    assert life.sent() == {"t": 7.0}
    life.changed(FlowPhase.STOPPED, "")
    assert life.sent() == {"t": 7.0}
    of_mirror(host)
    assert life.sent() == {"t": 14.0}
    life.changed(FlowPhase.FAILED, "away")
    assert life.sent() == {"t": 14.0}


def test_a_flow_that_is_gone_for_good_leaves_nothing(host: Any) -> None:
    life, other = FlowLife(host, "A->B"), of_mirror(host, "B->A")
    of_mirror(host)
    life.changed(FlowPhase.RUNNING, "")
    host.failed_flows["A->B"] = "away"
    life.forget()
    assert (host.registries, host.failed_flows) == ([other], {})
