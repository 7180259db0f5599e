"""One request for the properties of some topics."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from typing_extensions import override

from legacy_mm.clients.native.topic_properties import described
from tests.fakes.cluster import FakeCluster


class Broker(FakeCluster):
    @override
    def call_any(self, request: Any) -> Any:
        return SimpleNamespace(results=[(each.resource_name, each.configuration_keys) for each in request.resources])


def test_all_properties_or_those_that_are_named() -> None:
    assert described(Broker(), ["a", "b"]) == [("a", None), ("b", None)]
    assert described(Broker(), ["a"], ["cleanup.policy"]) == [("a", ["cleanup.policy"])]
