"""The properties of a broker as it answers; without a socket."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.clients.cluster.broker_properties import broker_properties
from legacy_mm.clients.net.connection_errors import UnsupportedVersion
from tests.fakes.coordinator import FakeCoordinator


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
