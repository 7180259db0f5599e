"""What a distributed worker does of a topic that others write, too; its flows are not started."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.connect.config_topic import RestartWish, StoredConnectors
from legacy_mm.connect.distributed_herder import DistributedHerder
from legacy_mm.connect.entities import Config, ConnectRestError, TargetState
from legacy_mm.connect.mirror_herder import MirrorHerder
from legacy_mm.flow.supervisor import FlowPhase, SupervisedFlow
from legacy_mm.metrics.health import Phase
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver
from legacy_mm.words.options.option_catalogue import OwnOptions

STARTED, PAUSED, STOPPED = TargetState.STARTED, TargetState.PAUSED, TargetState.STOPPED


class Topic:
    """The topic in memory; a test writes as another worker would."""

    name = "configs"

    def __init__(self) -> None:
        self.configs: dict[str, Config] = {}
        self.targets: dict[str, TargetState] = {}
        self.restarts: dict[str, RestartWish] = {}
        self.fails = False

    def read(self) -> StoredConnectors:
        self._work()
        return StoredConnectors(dict(self.configs), dict(self.targets), dict(self.restarts))

    def put(self, name: str, config: Config, target: TargetState | None = None) -> None:
        self._work()
        self.configs[name] = dict(config)
        if target is not None:
            self.targets[name] = target

    def forget(self, name: str) -> None:
        del self.configs[name]
        self.targets.pop(name, None)

    def put_target(self, name: str, target: TargetState) -> None:
        self.targets[name] = target

    def ask_for_restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> None:
        last = max((each.offset for each in self.restarts.values()), default=0)
        self.restarts[name] = RestartWish(last + 1, include_tasks, only_failed)

    def close(self) -> None:
        """Nothing is open."""

    def _work(self) -> None:
        if self.fails:
            raise HostError("the target is away")


class Keeper:
    """Keeps what it is told to run."""

    def __init__(self, flow: SupervisedFlow) -> None:
        self.flows = [flow]

    def change(self, flow: SupervisedFlow) -> None:
        self.flows.append(flow)


class Bench:
    """A herder of a worker, and the flows that it began."""

    def __init__(self, folder: Path, topic: Topic) -> None:
        worker = folder / "worker.properties"
        rows = {f"{each}.storage.topic": each for each in ("config", "offset", "status")}
        rows |= {"bootstrap.servers": "b:9092", "group.id": "g"}
        worker.write_text("".join(f"{key}={text}\n" for key, text in rows.items()))
        clients = ClientTranslation(Environment(), OwnOptions())
        files = connect_files.load(connect_line.parse(["--distributed", str(worker)]))
        self.keepers: list[Keeper] = []
        self.removed: list[Keeper] = []
        host = cast("Any", SimpleNamespace(registries=[], failed_flows={}, phase=Phase.RUNNING))
        supervisor: Any = SimpleNamespace(add=self._add, remove=self.removed.append)
        self.topic = topic
        run = driver.translate_connect(files, clients)
        self.herder = DistributedHerder(run, host, supervisor, "here:8083", cast("Any", topic))
        self.herder.follow()

    def _add(self, flow: SupervisedFlow) -> Keeper:
        self.keepers.append(Keeper(flow))
        return self.keepers[-1]

    def states(self) -> dict[str, str]:
        names = self.herder.connectors()
        return {name: self.herder.connector_status(name).connector.state.value for name in names}


def config(name: str = "m", **more: str) -> dict[str, str]:
    return {
        "name": name,
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "A",
        "target.cluster.alias": "B",
        "source.cluster.bootstrap.servers": "a:9092",
        "target.cluster.bootstrap.servers": "b:9092",
        **more,
    }


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., Bench]:
    def make(**configs: Config) -> Bench:
        topic = Topic()
        topic.configs |= configs
        return Bench(tmp_path, topic)

    return make


def test_the_connectors_of_the_topic_run(bench: Callable[..., Bench]) -> None:
    found = bench(m=config())
    assert found.states() == {"m": "UNASSIGNED"}
    assert len(found.keepers) == 1
    assert found.topic.configs == {"m": config()}, "nothing is written by who only follows"


def test_what_others_write_is_followed(bench: Callable[..., Bench]) -> None:
    found = bench()
    found.topic.configs["m"], found.topic.targets["m"] = config(), STOPPED
    found.herder.follow()
    assert found.states() == {"m": "STOPPED"}
    found.topic.targets["m"] = STARTED
    found.herder.follow()
    assert found.states() == {"m": "UNASSIGNED"}
    found.topic.configs["m"] = config(topics="orders")
    found.herder.follow()
    assert found.herder.connector_info("m").config["topics"] == "orders"
    (keeper,) = found.keepers
    assert len(keeper.flows) == 3
    found.herder.follow()
    assert len(keeper.flows) == 3, "what has not changed is not built again"
    found.topic.forget("m")
    found.herder.follow()
    assert (found.states(), found.removed) == ({}, [keeper])


def test_an_order_is_kept_and_followed(bench: Callable[..., Bench]) -> None:
    found = bench()
    found.herder.create_connector("m", config(), PAUSED)
    assert (found.topic.configs, found.topic.targets) == ({"m": config()}, {"m": PAUSED})
    assert found.states() == {"m": "PAUSED"}
    made, info = found.herder.put_connector_config("m", config(**{"tasks.max": "2"}))
    assert (made, info.config["tasks.max"], found.topic.configs["m"]["tasks.max"]) == (False, "2", "2")
    found.herder.set_target_state("m", STOPPED)
    assert (found.topic.targets["m"], found.states()) == (STOPPED, {"m": "STOPPED"})
    found.herder.delete_connector("m")
    assert (found.topic.configs, found.states()) == ({}, {})
    assert found.herder.put_connector_config("n", config("n"))[0]


def test_what_cannot_run_is_refused_before_it_is_kept(bench: Callable[..., Bench]) -> None:
    found = bench(m=config())
    for order in (
        lambda: found.herder.put_connector_config("m", config(**{"tasks.max": "0"})),
        lambda: found.herder.create_connector("n", config("n"), STARTED),
    ):
        with pytest.raises(ConnectRestError) as refused:
            order()
        assert refused.value.status == HTTPStatus.BAD_REQUEST
    assert found.topic.configs == {"m": config()}
    assert len(found.keepers[0].flows) == 1


def test_a_name_that_another_worker_has_just_taken_is_taken(bench: Callable[..., Bench]) -> None:
    found = bench()
    found.topic.configs["m"] = config()
    with pytest.raises(ConnectRestError, match="Connector m already exists"):
        found.herder.create_connector("m", config(), STARTED)


def test_other_connectors_are_named_and_left_alone(
    bench: Callable[..., Bench], caplog: pytest.LogCaptureFixture
) -> None:
    other = {"name": "sink", "connector.class": "org.example.JdbcSink"}
    found = bench(sink=other, m=config())
    assert found.states() == {"m": "UNASSIGNED"}
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        "Connector sink in topic configs is left alone: org.example.JdbcSink is none of MirrorMaker 2's connectors"
    ]
    with pytest.raises(ConnectRestError, match="Connector sink already exists"):
        found.herder.put_connector_config("sink", config("sink"))
    assert found.topic.configs["sink"] == other


def test_what_others_keep_and_cannot_run_is_said_once(
    bench: Callable[..., Bench], caplog: pytest.LogCaptureFixture
) -> None:
    found = bench(m=config())
    found.topic.configs["m"] = config(**{"tasks.max": "0"})
    for _ in range(2):
        found.herder.follow()
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(said) == 1
    assert said[0].startswith("Connector m cannot run as it stands in topic configs, and what ran before goes on: ")
    assert len(found.keepers[0].flows) == 1


def test_a_restart_is_done_once(bench: Callable[..., Bench], tmp_path: Path) -> None:
    topic = Topic()
    topic.configs["m"] = config()
    topic.restarts["m"] = RestartWish(7, include_tasks=True, only_failed=False)
    found = Bench(tmp_path, topic)
    flow = found.keepers[0].flows[0]
    restarts: list[object] = []
    flow.on_start(cast("Any", SimpleNamespace(restart=restarts.append, pause=None, resume=lambda: None)))
    flow.on_change(FlowPhase.RUNNING, "")
    found.herder.follow()
    assert restarts == []
    found.herder.restart_connector_and_tasks("m", include_tasks=True, only_failed=False)
    assert restarts == [None]
    topic.ask_for_restart("m", include_tasks=True, only_failed=False)
    for _ in range(2):
        found.herder.follow()
    assert restarts == [None, None]


def test_a_topic_that_cannot_be_read_is_a_failure_of_the_order(bench: Callable[..., Bench]) -> None:
    found = bench(m=config())
    found.topic.fails = True
    with pytest.raises(ConnectRestError, match="the target is away") as refused:
        found.herder.set_target_state("m", PAUSED)
    assert refused.value.status == HTTPStatus.INTERNAL_SERVER_ERROR
    assert found.states() == {"m": "UNASSIGNED"}


def test_one_connector_that_cannot_do_what_is_asked_holds_up_no_other(
    bench: Callable[..., Bench], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor an order about another, nor the thread that follows the topic."""
    found = bench(m=config(), n=config("n", **{"source.cluster.alias": "N"}))

    def refuse(herder: MirrorHerder, name: str) -> None:
        raise ConnectRestError(HTTPStatus.BAD_REQUEST, f"{name} does not end")

    monkeypatch.setattr(MirrorHerder, "delete_connector", refuse)
    found.topic.forget("m")
    found.herder.set_target_state("n", PAUSED)
    assert found.states() == {"m": "UNASSIGNED", "n": "PAUSED"}
    for _ in range(2):
        found.herder.follow()
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert said == ["Connector m cannot run as it stands in topic configs, and what ran before goes on: m does not end"]
