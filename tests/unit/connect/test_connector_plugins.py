"""The plug-ins are those of Connect 4.3.0 that run here."""

from __future__ import annotations

from legacy_mm.connect.connector_plugins import MirrorPlugins
from legacy_mm.connect.plugins import ConnectorPlugins
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
