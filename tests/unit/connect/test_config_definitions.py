"""The definitions are those of Connect 4.3.0, with sentences of ours."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import pytest

from legacy_mm.connect.config_definitions import plugin_definitions
from legacy_mm.connect.entities import RELEASE, ConnectRestError
from tests.fixtures.connect_plugins import OTHER_DEFAULTS, RECORDED, without_ours

CONNECTORS = ("MirrorSourceConnector", "MirrorHeartbeatConnector", "MirrorCheckpointConnector")
UNKNOWN = ("SimpleHeaderConverter",)
"""Plug-ins of Connect that are not listed here: a converter has no effect."""


@pytest.mark.parametrize("plugin", [name for name in RECORDED["definitions"] if name not in UNKNOWN])
def test_the_definitions_of_connect(plugin: str) -> None:
    wanted: list[dict[str, Any]] = RECORDED["definitions"][plugin]
    found = plugin_definitions(plugin)
    assert [each["name"] for each in found] == [each["name"] for each in wanted]
    for ours, theirs in zip(found, wanted, strict=True):
        if ours["name"] in OTHER_DEFAULTS:
            assert ours["default_value"] != theirs["default_value"]
            theirs = {**theirs, "default_value": ours["default_value"]}
        assert without_ours(ours) == theirs
        assert ours["order"] == ours["order_in_group"]


@pytest.mark.parametrize("plugin", CONNECTORS)
def test_each_definition_has_a_sentence(plugin: str) -> None:
    for each in plugin_definitions(plugin):
        sentence = each["documentation"]
        assert sentence[:1].isupper(), each["name"]
        assert sentence.endswith("."), each["name"]
        assert "\n" not in sentence


def test_its_names() -> None:
    names = ("MirrorSource", "MirrorSourceConnector", "org.apache.kafka.connect.mirror.MirrorSourceConnector")
    first, *others = [plugin_definitions(name) for name in names]
    assert others == [first, first]
    assert first[0]["name"] == "name"


@pytest.mark.parametrize("plugin", ["Nope", "org.example.MirrorSourceConnector", *UNKNOWN])
def test_an_unknown_plug_in(plugin: str) -> None:
    with pytest.raises(ConnectRestError) as caught:
        plugin_definitions(plugin)
    assert (caught.value.status, caught.value.message) == (HTTPStatus.NOT_FOUND, f"Unknown plugin {plugin}.")


def test_the_release_is_the_recorded_one() -> None:
    assert RECORDED["release"] == RELEASE
