"""A host that cannot be made, without Spark."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.flow import host
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.host import Host
from tests.unit.flow_settings import at_master, flow_settings


@pytest.fixture
def settings() -> Settings:
    return flow_settings()


def test_a_host_that_cannot_go_on_ends_its_spark(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it was: nobody else knows yet that there is one."""

    class NoThread:
        def __init__(self, **_: Any) -> None: ...

        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    spark = Mock()
    monkeypatch.setattr(host, "threading", SimpleNamespace(Thread=NoThread))
    with pytest.raises(RuntimeError, match="new thread"):
        Host(settings.process, spark, ())
    spark.stop.assert_called_once()


def test_an_address_that_is_not_ours_ends_what_has_begun(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    spark = Mock()
    monkeypatch.setenv("SPARK_LOCAL_IP", "192.0.2.1")
    elsewhere = at_master(settings, "spark://a:1")
    with pytest.raises(ConfigurationError, match="SPARK_LOCAL_IP"):
        Host(elsewhere.process, spark, ())
    spark.preload.assert_not_called()
    spark.stop.assert_called_once()
