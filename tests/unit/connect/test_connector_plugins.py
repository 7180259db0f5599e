"""The plug-ins are those of Connect 4.3.0 that run here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.connect.connector_plugins import MirrorPlugins
from legacy_mm.connect.plugins import ConnectorPlugins
from legacy_mm.words.mirror_maker_2.connect_files import ConnectFiles
from tests.fixtures.connect_plugins import RECORDED


def test_the_plug_ins_that_run_here_in_connect_s_order() -> None:
    found = [[each.class_name, each.type, each.version] for each in MirrorPlugins().plugins()]
    assert [each for each in RECORDED["plugins"] if each in found] == found
    assert [each[0].rpartition(".")[2] for each in found if each[1] == "source"] == [
        "MirrorCheckpointConnector",
        "MirrorHeartbeatConnector",
        "MirrorSourceConnector",
    ]
    assert {each[1] for each in found} == {each[1] for each in RECORDED["plugins"]}


def test_it_defines_and_validates_each() -> None:
    plugins: ConnectorPlugins = MirrorPlugins()
    for each in plugins.plugins():
        assert isinstance(plugins.definitions(each.class_name), list)
    body, count = plugins.validate("MirrorSource", {"connector.class": "MirrorSource", "name": "n"})
    assert (body["error_count"], count) == (1, 1), "the alias of the source is missing"


PROVIDERS = {
    "config.providers": "env,strimzisecrets",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    "config.providers.strimzisecrets.class": "io.strimzi.kafka.KubernetesSecretConfigProvider",
}
GIVEN = {"connector.class": "MirrorSource", "name": "n", "source.cluster.alias": "A"}


def by_name(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["value"]["name"]: each["value"] for each in body["configs"]}


def test_what_a_reference_stands_for_is_judged_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_TASKS", "4")
    monkeypatch.setenv("MIRROR_WORD", "s3cret-word")
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "k").write_text("s3cret-key")
    plugins = MirrorPlugins(ConnectFiles(PROVIDERS, (), (), secrets_dir=str(tmp_path)))
    asked = {
        **GIVEN,
        "tasks.max": "${env:MIRROR_TASKS}",
        "enabled": "${env:MIRROR_WORD}",
        "target.cluster.alias": "${strimzisecrets:ns/s:k}",
        "ssl.key.password": "${strimzisecrets:ns/s:k}",
    }
    body, count = plugins.validate("MirrorSource", asked)
    found = by_name(body)
    assert count == 1
    assert "s3cret" not in json.dumps(body)
    assert found["enabled"]["errors"] == [
        "Invalid value [hidden] for configuration enabled: Expected value to be either true or false"
    ]
    shown = {name: found[name]["value"] for name in asked if name in found and name not in GIVEN}
    hidden = {"enabled": None, "ssl.key.password": "[hidden]"}
    assert shown == {name: hidden.get(name, text) for name, text in asked.items() if name not in GIVEN}


def test_a_reference_that_cannot_be_looked_up_is_an_error_of_its_property(tmp_path: Path) -> None:
    plugins = MirrorPlugins(ConnectFiles(PROVIDERS, (), (), secrets_dir=str(tmp_path)))
    body, count = plugins.validate("MirrorSource", {**GIVEN, "topics": "${strimzisecrets:ns/s:k}"})
    (error,) = by_name(body)["topics"]["errors"]
    assert (count, "--secrets.dir has no" in error) == (1, True)
