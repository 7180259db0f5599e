"""`legacy-mm connect --distributed`: workers of one group follow Connect's topic of configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from compat.laboratory.checkout import COMMANDS
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.connect_files import source_connector, worker_properties
from tests.fixtures.rest_api import Answered, RestCaller, token_file

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
FIRST, FURTHER = 500, 300


@dataclass(frozen=True)
class Scene:
    """A group of workers, and the topics that one of its connectors copies."""

    source: Any
    target: Any
    topic: str
    alias: str
    folder: Path

    def worker_file(self) -> Path:
        return write_properties(self.folder / "worker.properties", worker_properties(self.target, self.alias))

    def config(self, **more: str) -> dict[str, str]:
        return source_connector(self.source, self.target, self.alias, self.topic, **more)

    def write(self, count: int) -> None:
        load(self.source.bootstrap, self.topic, count, 50)

    def copied(self) -> int:
        copy = f"{self.alias}.{self.topic}"
        there = copy in list_topics(self.target.bootstrap)
        return sum(end_offsets(self.target.bootstrap, copy).values()) if there else 0

    def wait_copied(self, count: int) -> None:
        wait_until(lambda: self.copied() >= count, SECONDS, f"{count} records")
        assert self.copied() == count


class Worker:
    """One worker of ours, and its port."""

    def __init__(self, scene: Scene, port: int) -> None:
        token = token_file(scene.folder)
        words = ["connect", "--distributed", str(scene.worker_file()), "--admin.port", str(port)]
        words += ["--admin.token.file", str(token), "--admin.actions", "true"]
        self.api = RestCaller.with_token(port)
        self.tool = ToolProcess([str(COMMANDS / "legacy-mm"), *words], scene.folder)

    def answers(self) -> bool:
        assert self.tool.running(), self.tool.output()
        return self.api.call("GET", "/").status == 200

    def states(self) -> list[str]:
        answer = self.api.call("GET", "/connectors/mirror/status")
        if answer.status != 200:
            return []
        return [answer.body["connector"]["state"], *(each["state"] for each in answer.body["tasks"])]

    def wait_states(self, *states: str) -> None:
        wait_until(
            lambda: self.states() == list(states), SECONDS, f"the states {states}; it printed {self.tool.output()}"
        )

    def order(self, method: str, path: str, body: object = None) -> Any:
        answer = self.api.call(method, path, body)
        assert answer.status < 300, answer.text
        return answer.body if answer.text else None


@pytest.fixture
def scene(source: Any, target: Any, topic: Callable[..., str], new_port: Callable[[], int], tmp_path: Path) -> Scene:
    name = topic()
    create_topic(source.bootstrap, name, 4)
    return Scene(source, target, name, f"A{new_port()}", tmp_path)


@pytest.fixture
def worker(scene: Scene, new_port: Callable[[], int]) -> Iterator[Callable[[], Worker]]:
    started: list[Worker] = []

    def start() -> Worker:
        started.append(Worker(scene, new_port()))
        wait_until(started[-1].answers, SECONDS, "the port")
        return started[-1]

    yield start
    for each in started:
        each.tool.kill_tree()


def test_workers_of_a_group_share_what_one_of_them_is_told(scene: Scene, worker: Callable[[], Worker]) -> None:
    first, second = worker(), worker()
    first.order("POST", "/connectors", {"name": "mirror", "config": scene.config()})
    scene.write(FIRST)
    scene.wait_copied(FIRST)
    for each in (first, second):
        each.wait_states("RUNNING", "RUNNING", "RUNNING")
    assert second.api.call("POST", "/connectors", {"name": "mirror", "config": scene.config()}).status == 409
    # one is told, both follow, and a start remembers
    second.order("PUT", "/connectors/mirror/stop")
    first.wait_states("STOPPED")
    scene.write(FURTHER)
    assert first.tool.stop(SECONDS) == second.tool.stop(SECONDS) == 143
    third = worker()
    third.wait_states("STOPPED")
    assert scene.copied() == FIRST
    third.order("PUT", "/connectors/mirror/resume")
    scene.wait_copied(FIRST + FURTHER)
    # a configuration that cannot run is refused, and nothing of it is kept
    refused = third.api.call("PUT", "/connectors/mirror/config", scene.config(**{"tasks.max": "0"}))
    assert refused.status == 400
    third.order("PUT", "/connectors/mirror/config", scene.config(**{"tasks.max": "1"}))
    third.wait_states("RUNNING", "RUNNING")
    scene.write(FURTHER)
    scene.wait_copied(FIRST + 2 * FURTHER)
    fourth = worker()
    fourth.wait_states("RUNNING", "RUNNING")
    third.order("DELETE", "/connectors/mirror")
    wait_until(lambda: fourth.api.call("GET", "/connectors").body == [], SECONDS, "the end of the connector")
    assert third.tool.stop(SECONDS) == fourth.tool.stop(SECONDS) == 143


def test_what_strimzi_s_operator_asks_of_its_workers(scene: Scene, worker: Callable[[], Worker]) -> None:
    """The requests of its reconciliation, in their order, with the answers that it needs to go on.

    Source: `KafkaConnectApiImpl`, `KafkaMirrorMaker2AssemblyOperator` and `KafkaConnectRoller` of the operator.
    """
    one = worker()
    name = f"{scene.alias}->B.MirrorSourceConnector"
    path = f"/connectors/{quote(name, safe='')}"

    def status() -> Answered:
        return one.api.call("GET", f"{path}/status")

    def wait_state(state: str) -> None:
        wait_until(lambda: status().body.get("connector", {}).get("state") == state, SECONDS, state)

    # it creates what its resource has and the worker has not; whole numbers are numbers in its JSON
    assert one.order("GET", "/connectors") == []
    assert {each["type"] for each in one.order("GET", "/connector-plugins")} == {"source"}
    assert one.api.call("GET", f"{path}/config").status == 404
    config: dict[str, object] = {**scene.config(), "tasks.max": 2}
    assert one.order("PUT", f"{path}/config", config)["name"] == name
    wait_state("RUNNING")
    scene.write(FIRST)
    scene.wait_copied(FIRST)
    copy = f"{scene.alias}.{scene.topic}"
    wait_until(lambda: copy in one.order("GET", f"{path}/topics")[name]["topics"], SECONDS, "its topics")
    # what has not changed is left alone: it compares what it would send
    kept = one.order("GET", f"{path}/config")
    assert {key: str(value) for key, value in config.items()} == {key: kept[key] for key in config}
    # states of the resource
    for order, state in (("pause", "PAUSED"), ("stop", "STOPPED"), ("resume", "RUNNING")):
        one.order("PUT", f"{path}/{order}")
        wait_state(state)
    # annotations: a restart of all, of one task, and of what has failed
    assert one.api.call("POST", f"{path}/restart?includeTasks=true&onlyFailed=false").status == 202
    wait_state("RUNNING")
    assert one.api.call("POST", f"{path}/tasks/0/restart").status == 204
    assert one.api.call("POST", f"{path}/restart?includeTasks=true&onlyFailed=true").status == 202
    # levels of loggers, and offsets of a stopped connector
    assert "root" in one.order("GET", "/admin/loggers/")
    one.order("PUT", "/admin/loggers/org.apache.kafka.connect", {"level": "DEBUG"})
    one.order("PUT", f"{path}/stop")
    wait_state("STOPPED")
    offsets = one.order("GET", f"{path}/offsets")["offsets"]
    assert sum(each["offset"]["offset"] + 1 for each in offsets) == FIRST
    one.order("PATCH", f"{path}/offsets", {"offsets": offsets})
    one.order("DELETE", f"{path}/offsets")
    assert one.order("GET", f"{path}/offsets") == {"offsets": []}
    # what its resource has no more is deleted, until there is no status
    assert one.api.call("DELETE", path).status == 204
    wait_until(lambda: status().status == 404, SECONDS, "the end of the status")
    assert one.api.call("GET", "/").body["version"].startswith("4.")
    assert one.tool.stop(SECONDS) == 143
