"""Several of Strimzi's resources in one process: each connector has the worker of its target's cluster."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.connect.connector_plugins import MirrorPlugins
from legacy_mm.connect.entities import ConnectRestError, TargetState
from legacy_mm.connect.mirror_herder import MirrorHerder
from legacy_mm.metrics.health import Phase
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver
from legacy_mm.words.options.option_catalogue import OwnOptions

RESOURCE = """\
kind: KafkaMirrorMaker2
metadata: {{name: m{target}, namespace: ns}}
spec:
  target: {{alias: {target}, bootstrapServers: "{servers}", groupId: group-{target}, configStorageTopic: c,
    offsetStorageTopic: offsets-{target}, statusStorageTopic: s}}
  mirrors:
  - source: {{alias: A, bootstrapServers: "a:1"}}
    sourceConnector: {{state: {state}}}
    {more}
"""
PAUSED_CHECKPOINTS = "checkpointConnector: {state: stopped}"
MakeHerder = Callable[..., tuple[MirrorHerder, connect_files.ConnectFiles]]


@pytest.fixture
def made(tmp_path: Path) -> MakeHerder:
    def make(*targets: tuple[str, str], state: str = "running", more: str = "", **options: Any) -> Any:
        path = tmp_path / "mm2.yaml"
        texts = [RESOURCE.format(target=target, servers=at, state=state, more=more) for target, at in targets]
        path.write_text("---\n".join(texts))
        files = connect_files.load(connect_line.parse([str(path)]))
        outcome = driver.translate_connect(files, ClientTranslation(Environment(), OwnOptions(**options)))
        host = cast("Any", SimpleNamespace(registries=[], failed_flows={}, phase=Phase.RUNNING))
        supervisor = cast("Any", SimpleNamespace(add=lambda flow: Mock(flow=flow), remove=lambda keeper: None))
        return MirrorHerder(outcome, host, supervisor, "here:8083"), files

    return make


def config(name: str, alias: str, at: str, **more: str) -> dict[str, str]:
    return {
        "name": name,
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "Z",
        "source.cluster.bootstrap.servers": "z:1",
        "target.cluster.alias": alias,
        "target.cluster.bootstrap.servers": at,
        **more,
    }


def group_of(herder: MirrorHerder, name: str) -> str:
    """Return the worker of a connector's flow by its group."""
    (flow,) = [flow for flow in herder._flows if any(each.name == name for each in flow.connectors)]
    return flow.read(flow.working()).worker["group.id"]


TWO = (("B", "b:1,b:2"), ("C", "c:1"))


@pytest.mark.parametrize(("alias", "at"), [("B", "b:2, b:1"), ("C", "c:1")])
def test_a_new_connector_has_the_worker_of_its_target(made: MakeHerder, alias: str, at: str) -> None:
    herder, _ = made(*TWO)
    herder.create_connector("new", config("new", alias, at), TargetState.STARTED)
    assert group_of(herder, "new") == f"group-{alias}"


def test_a_target_that_no_worker_has_is_refused_with_the_choices(made: MakeHerder) -> None:
    herder, _ = made(*TWO)
    with pytest.raises(ConnectRestError) as caught:
        herder.create_connector("new", config("new", "D", "d:1"), TargetState.STARTED)
    assert caught.value.status is HTTPStatus.BAD_REQUEST
    said = "target.cluster.bootstrap.servers=d:1 is that of no worker here: write b:1,b:2 or c:1, the bootstrap.servers"
    assert caught.value.message.startswith(said)
    assert "new" not in herder.connectors()


def test_one_worker_is_that_of_all(made: MakeHerder) -> None:
    herder, _ = made(TWO[0])
    herder.create_connector("new", config("new", "D", "d:1"), TargetState.STARTED)
    assert group_of(herder, "new") == "group-B"


def test_a_connector_that_gets_another_target_moves_to_its_worker(made: MakeHerder) -> None:
    herder, _ = made(*TWO)
    herder.create_connector("new", config("new", "X", "b:1,b:2"), TargetState.STARTED)
    assert group_of(herder, "new") == "group-B"
    herder.put_connector_config("new", config("new", "X", "c:1"))
    assert group_of(herder, "new") == "group-C"
    name = "A->C.MirrorSourceConnector"
    herder.put_connector_config(name, {**herder.connector_info(name).config, "topics": "orders"})
    assert group_of(herder, name) == "group-C"


def test_a_form_is_judged_with_the_providers_of_its_worker(
    made: MakeHerder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MIRROR_TASKS", "no number")
    _, files = made(*TWO)
    providers = {
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    }
    (beside,) = files.beside
    worker = {**beside.worker, **providers}
    given = connect_files.ConnectFiles(files.worker, (), (), beside=[connect_files.ConnectFiles(worker, (), ())])
    counts = []
    for at in ("b:1,b:2", "c:1", ""):
        asked = config("new", "X", at, **{"tasks.max": "${env:MIRROR_TASKS}"})
        body, _ = MirrorPlugins(given).validate("MirrorSource", asked)
        (found,) = [each["value"]["errors"] for each in body["configs"] if each["value"]["name"] == "tasks.max"]
        counts.append(found)
    assert "[hidden]" in counts[1][0]
    assert counts[0] == counts[2] != counts[1]


@pytest.mark.parametrize(("state", "target"), [("paused", TargetState.PAUSED), ("stopped", TargetState.STOPPED)])
def test_connectors_that_are_all_idle_can_be_resumed(made: MakeHerder, state: str, target: TargetState) -> None:
    herder, _ = made(TWO[0], state=state, more=PAUSED_CHECKPOINTS, admin_port=8083)
    source = "A->B.MirrorSourceConnector"
    assert herder.connector_status(source).connector.state.value == target.value
    (flow,) = herder._flows
    assert (flow.run is None) is (target is TargetState.STOPPED)
    herder.set_target_state(source, TargetState.STARTED)
    assert flow.run is not None
    assert flow.run.connectors == ("MirrorSourceConnector",)
    assert herder.connector_status("A->B.MirrorCheckpointConnector").connector.state.value == "STOPPED"
