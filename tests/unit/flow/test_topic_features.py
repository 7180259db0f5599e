"""The duties of a flow, of which one cluster answers late or never."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.clients.topics.shared_writers import SharedWriters
from legacy_mm.features.duties import Applier
from legacy_mm.features.duty import Scheduled
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.flow import topic_features
from legacy_mm.flow.topic_features import FlowDuties
from legacy_mm.metrics.registry import Registry
from legacy_mm.policies.changes import Inspection


class Slow:
    """A look that takes all the time that it is given."""

    def __init__(self, name: str, looked: list[str]) -> None:
        self.name = name
        self.had_time: list[bool] = []
        self._looked = looked

    def inspect(self, topics: frozenset[str], deadline: Deadline) -> Inspection:
        self._looked.append(self.name)
        self.had_time.append(not deadline.expired())
        wait_until(deadline.expired, 10.0, "the deadline")
        return Inspection()


def test_a_cluster_that_is_away_takes_no_time_from_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_features, "_BEFORE_COPYING_TIMEOUT", 0.1)
    looked: list[str] = []
    source, target = Slow("source", looked), Slow("target", looked)
    monkeypatch.setattr(Applier, "apply", lambda *_: iter(()))
    clusters = SimpleNamespace(
        scheduled=[Scheduled(target, 60.0, before_copying=True)],
        applier=Applier(cast(Any, None)),
        at_source=[Scheduled(source, 60.0, before_copying=True)],
        source=None,
    )
    monkeypatch.setattr(topic_features, "DutyClusters", lambda *_: clusters)
    settings = SimpleNamespace(features=FeatureSettings())
    names = cast(Any, SimpleNamespace(scope={"t"}))
    made = FlowDuties(cast(Any, settings), names, Registry("f", "", {}), SharedWriters())
    made.topics_found(frozenset({"t"}))
    assert (source.had_time, target.had_time) == ([True], [True])
    assert looked == ["target", "source"], "the target's topics are what copying waits for"
