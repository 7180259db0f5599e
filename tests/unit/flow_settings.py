"""Settings of a flow without features, between clusters that nobody asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from legacy_mm.base.settings import ProcessSettings, SourceSettings, SparkSettings, TargetSettings, TopicSettings
from legacy_mm.flow.flow_settings import Settings
from tests.fixtures import client_settings

SERVERS = {"bootstrap.servers": "127.0.0.1:1"}


def source_settings(properties: Mapping[str, str] = SERVERS, **more: Any) -> SourceSettings:
    """The source's, with defaults for what is not named."""
    return SourceSettings(client_settings.read_consumer({"group.id": "g", **properties}), "latest", 60.0, **more)


def source_with(side: SourceSettings, properties: Mapping[str, str]) -> SourceSettings:
    """The source's, with these librdkafka properties over its own."""
    return replace(side, client=client_settings.with_texts(side.client, properties))


def target_with(side: TargetSettings, properties: Mapping[str, str]) -> TargetSettings:
    """The target's, with these librdkafka properties over its own."""
    return replace(side, client=client_settings.with_texts(side.client, properties))


def at_master(settings: Settings, master: str | None) -> Settings:
    """The same with copy tasks at another place."""
    return replace(settings, process=replace(settings.process, spark=SparkSettings(master)))


def flow_settings(source: SourceSettings | None = None) -> Settings:
    """All of them."""
    return Settings(
        source=source or source_settings(),
        target=TargetSettings(client_settings.read_producer(SERVERS), abort_on_send_failure=True),
        topics=TopicSettings("t", "t"),
        process=ProcessSettings(SparkSettings(), shutdown_timeout=30.0),
        streams=1,
        commit_interval=60.0,
    )
