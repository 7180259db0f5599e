"""One request for the properties of some topics."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.clients.cluster.topic_properties import broker_properties, described, properties_of
from legacy_mm.clients.net.connection_errors import ClusterUnreachable, UnsupportedVersion
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fakes.cluster import FakeCluster
from tests.fakes.coordinator import FakeCoordinator


class Broker(FakeCluster):
    @override
    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        return SimpleNamespace(results=[(each.resource_name, each.configuration_keys) for each in request.resources])


def test_all_properties_or_those_that_are_named() -> None:
    assert described(Broker(), ["a", "b"]) == [("a", None), ("b", None)]
    assert described(Broker(), ["a"], ["cleanup.policy"]) == [("a", ["cleanup.policy"])]


class Answer(FakeCluster):
    """A broker with one answer."""

    def __init__(self, error: int, message: str | None, **configs: str | None) -> None:
        super().__init__()
        self._error, self._message, self._configs = error, message, configs

    @override
    def call_any(self, request: Any, within: float = inf, *, is_change: bool = False) -> Any:
        rows = [SimpleNamespace(name=name, value=value) for name, value in self._configs.items()]
        return SimpleNamespace(
            results=[SimpleNamespace(error_code=self._error, error_message=self._message, configs=rows)]
        )


def test_the_properties_of_one_topic() -> None:
    assert properties_of(Answer(0, None, one="1", hidden=None), "t") == {"one": "1", "hidden": ""}


@pytest.mark.parametrize(
    "error",
    [ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CLUSTER_AUTHORIZATION_FAILED],
    ids=lambda error: error.name,
)
def test_without_the_right_there_are_none(error: ErrorCode) -> None:
    assert properties_of(Answer(error, "no"), "t") == {}


@pytest.mark.parametrize("message", [None, "ZooKeeper is gone"])
def test_any_other_error_is_one_of_the_moment(message: str | None) -> None:
    with pytest.raises(ClusterUnreachable, match=message or "UNKNOWN_SERVER_ERROR"):
        properties_of(Answer(ErrorCode.UNKNOWN_SERVER_ERROR, message), "t")


def test_a_broker_is_asked_about_itself() -> None:
    broker = FakeCoordinator()
    broker.properties = {"a": "1", "b": "2"}
    assert broker_properties(broker.connect(7).call, 7, ["a"]) == {"a": "1"}
    (request,) = broker.asked
    assert [(each.resource_name, each.configuration_keys) for each in request.resources] == [("7", ["a"])]


def test_a_right_that_is_missing_is_no_property() -> None:
    broker = FakeCoordinator()
    broker.properties = 31
    assert broker_properties(broker.connect(7).call, 7, ["a"]) == {}


def test_a_broker_that_is_too_old_has_none() -> None:
    def refuse(request: Any) -> Any:
        raise UnsupportedVersion("DescribeConfigs")

    assert broker_properties(refuse, 7) == {}


def test_other_failures_are_the_caller_s() -> None:
    def fail(request: Any) -> Any:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        broker_properties(fail, 7)
