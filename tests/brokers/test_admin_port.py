"""`--admin.port` before flows that copy: what Connect's REST API is asked happens, and no record is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import COMMANDS
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.cli.legacy_mm import main
from tests.fixtures.driver_files import driver_file
from tests.fixtures.rest_api import RestCaller, token_file
from tests.fixtures.scrape import samples
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
FIRST, FURTHER = 1_000, 300


@dataclass(frozen=True)
class Scene:
    """A driver with one flow of a topic with four partitions, by two streams, and a caller of its port."""

    source: Any
    target: Any
    topic: str
    alias: str
    api: RestCaller
    driver: WarmMirror

    def name(self, kind: str = "Source") -> str:
        return f"{self.alias}->B.Mirror{kind}Connector"

    def ask(self, what: str, kind: str = "Source") -> Any:
        answer = self.api.call("GET", f"/connectors/{self.name(kind)}{what}")
        assert answer.status == 200, answer.text
        return answer.body

    def order(self, method: str, what: str, body: object = None, kind: str = "Source") -> Any:
        answer = self.api.call(method, f"/connectors/{self.name(kind)}{what}", body)
        assert answer.status < 300, answer.text
        return answer.body if answer.text else None

    def states(self, kind: str = "Source") -> tuple[str, ...]:
        found = self.ask("/status", kind)
        return (found["connector"]["state"], *(each["state"] for each in found["tasks"]))

    def wait_state(self, *states: str) -> None:
        wait_until(lambda: self.states() == states, SECONDS, f"the states {states}")

    def write(self, count: int, topic: str = "") -> None:
        load(self.source.bootstrap, topic or self.topic, count, 50, seed=count)

    def copied(self, topic: str = "") -> int:
        copy = f"{self.alias}.{topic or self.topic}"
        there = copy in list_topics(self.target.bootstrap)
        return len(read_all(self.target.bootstrap, copy, isolation="read_committed")) if there else 0

    def wait_copied(self, count: int, topic: str = "") -> None:
        wait_until(lambda: self.copied(topic) >= count, SECONDS, f"{count} records")
        assert self.copied(topic) == count


@pytest.fixture
def token(tmp_path: Path) -> Path:
    return token_file(tmp_path)


@pytest.fixture
def scene(
    request: pytest.FixtureRequest,
    source: Any,
    target: Any,
    topic: Callable[..., str],
    warm_driver: Callable[..., WarmMirror],
    new_port: Callable[[], int],
    token: Path,
) -> Iterator[Scene]:
    name, port = topic(), new_port()
    alias = f"A{port}"
    properties = driver_file(
        {alias: source, "B": target},
        **{
            f"{alias}->B.enabled": "true",
            f"{alias}->B.topics": name,
            f"B->{alias}.emit.heartbeats.enabled": "false",
            "tasks.max": "2",
            "listeners": f"http://0.0.0.0:{port}",
            "dedicated.mode.enable.internal.rest": "true",
            "sync.topic.acls.enabled": "false",
            f"{alias}.consumer.sasl.jaas.config": 'Login required password="rosebud";',
            **getattr(request, "param", {}),
        },
    )
    create_topic(source.bootstrap, name, 4)
    words = ("--admin.token.file", str(token), "--admin.actions", "true")
    driver = warm_driver(properties, *words)
    api = RestCaller.with_token(port)
    found = Scene(source, target, name, alias, api, driver)
    wait_until(lambda: api.call("GET", "/").status == 200, SECONDS, "the port")
    found.wait_state("RUNNING", "RUNNING", "RUNNING")
    yield found
    assert driver.stop(SECONDS) == 143


def test_no_record_is_lost_or_doubled_by_what_is_ordered(scene: Scene) -> None:
    scene.write(FIRST)
    scene.wait_copied(FIRST)
    copy = f"{scene.alias}.{scene.topic}"
    wait_until(lambda: copy in scene.ask("/topics")[scene.name()]["topics"], SECONDS, "the topic that is written to")
    # paused
    scene.order("PUT", "/pause")
    assert scene.states() == ("PAUSED", "PAUSED", "PAUSED")
    scene.driver.wait_for_output("asked for PUT", SECONDS)
    # resumed
    scene.order("PUT", "/resume")
    scene.write(FURTHER)
    scene.wait_copied(FIRST + FURTHER)
    # restarted, while records come
    scene.order("POST", "/restart?includeTasks=true")
    scene.write(FURTHER)
    scene.order("POST", "/tasks/1/restart")
    scene.wait_copied(FIRST + 2 * FURTHER)
    # stopped: the offsets are those of what was copied, and nothing comes
    scene.order("PUT", "/stop")
    assert scene.states() == ("STOPPED",)
    assert scene.states("Heartbeat")[0] != "STOPPED"
    wait_until(lambda: _positions(scene) == FIRST + 2 * FURTHER, SECONDS, "the positions")
    scene.write(FURTHER)
    assert scene.copied() == FIRST + 2 * FURTHER
    # resumed
    scene.order("PUT", "/resume")
    scene.wait_copied(FIRST + 3 * FURTHER)
    # paused again, so that the next mirror of the flow begins paused
    scene.order("PUT", "/pause")
    config = scene.ask("/config")
    scene.order("PUT", "/config", {**config, "tasks.max": "1"})
    wait_until(lambda: scene.states() == ("PAUSED", "PAUSED"), SECONDS, "one task")
    scene.write(FURTHER)
    scene.order("PUT", "/resume")
    scene.wait_copied(FIRST + 4 * FURTHER)


def test_a_flow_is_paused_changed_and_resumed_from_a_terminal(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> str:
        port = ("--url", f"http://127.0.0.1:{scene.api.port}", "--token.file", str(tmp_path / "token"))
        assert main([*words, *port]) == 0, capsys.readouterr()
        return capsys.readouterr().out

    flow = f"{scene.alias}->B"
    scene.write(FIRST)
    scene.wait_copied(FIRST)
    assert f"{flow}  {scene.name()}" in run("ctl", "status", flow)
    assert run("ctl", "pause", flow) == f"{scene.name()}: paused\n"
    scene.write(FURTHER)
    assert run("ctl", "set", flow, "tasks.max=1") == "tasks.max: 2 -> 1\n"
    assert scene.copied() == FIRST
    assert run("ctl", "resume", flow) == f"{scene.name()}: running\n"
    scene.wait_copied(FIRST + FURTHER)
    assert run("ctl", "restart", flow) == f"{scene.name()}: restarted\n"

    def shown() -> list[str]:
        return run("top", "--once").splitlines()[2].split()

    wait_until(lambda: shown()[3] == "1/1" and shown()[-1] == "0", SECONDS, "no lag")
    assert shown()[:3] == [flow, scene.name(), "RUNNING"]
    assert run("ctl", "stop", flow) == f"{scene.name()}: stopped\n"


def test_the_lag_in_seconds_grows_while_copying_is_paused(scene: Scene) -> None:
    def lags() -> tuple[dict[str, float], list[float], list[float]]:
        seen = samples(scene.api.call("GET", "/metrics").text)
        partitions = seen.get("legacy_mm_partition_lag_seconds", {}).items()
        here = ((dict(labels), value) for labels, value in partitions)
        flow, until = (seen.get(f"legacy_mm_{each}_seconds", {}) for each in ("lag", "caught_up"))
        found = {labels["partition"]: value for labels, value in here if labels["topic"] == scene.topic}
        return found, list(flow.values()), list(until.values())

    nothing = (dict.fromkeys("0123", 0.0), [0.0], [0.0])
    scene.write(FIRST)
    scene.wait_copied(FIRST)
    wait_until(lambda: lags() == nothing, SECONDS, "no lag")
    scene.order("PUT", "/pause")
    scene.write(FURTHER)
    wait_until(lambda: min(lags()[0].values()) > 8.0, SECONDS, "a lag of some seconds")
    partitions, flow, until = lags()
    assert flow[0] >= max(partitions.values())
    assert until == []
    scene.order("PUT", "/resume")
    scene.wait_copied(FIRST + FURTHER)
    wait_until(lambda: lags() == nothing, SECONDS, "the lag to be gone")


def test_a_topic_that_a_configuration_names_is_copied_without_a_restart(scene: Scene) -> None:
    scene.write(FIRST)
    scene.wait_copied(FIRST)
    other = f"{scene.topic}-other"
    create_topic(scene.source.bootstrap, other, 2)
    scene.write(FURTHER, other)
    config = scene.ask("/config")
    assert "rosebud" not in str(config)
    scene.order("PUT", "/config", {**config, "topics": f"{scene.topic},{other}"})
    scene.wait_copied(FURTHER, other)
    scene.write(FURTHER)
    scene.wait_copied(FIRST + FURTHER)
    refused = scene.api.call("PUT", f"/connectors/{scene.name()}/config", {**config, "tasks.max": "0"})
    assert (refused.status, refused.body["error_code"]) == (400, 400)
    assert scene.ask("/config")["topics"] == f"{scene.topic},{other}"
    assert "rosebud" not in scene.driver.output()


@pytest.mark.parametrize("scene", [{}, {"exactly.once": "true"}], indirect=True, ids=["at-least-once", "exactly-once"])
def test_copying_goes_on_behind_the_offsets_that_are_set(scene: Scene) -> None:
    scene.write(FIRST)
    scene.wait_copied(FIRST)
    scene.order("PUT", "/stop")
    wait_until(lambda: _positions(scene) == FIRST, SECONDS, "the positions")
    first = next(each for each in _offsets(scene) if each["offset"]["offset"] >= 10)
    earlier = {**first, "offset": {"offset": first["offset"]["offset"] - 10}}
    message = scene.order("PATCH", "/offsets", {"offsets": [earlier]})["message"]
    assert message == "The offsets for this connector have been altered successfully"
    scene.order("PUT", "/resume")
    scene.wait_copied(FIRST + 10)
    scene.order("PUT", "/stop")
    wait_until(lambda: _positions(scene) == FIRST, SECONDS, "the positions")
    assert scene.order("DELETE", "/offsets")["message"].endswith("have been reset successfully")
    assert scene.ask("/offsets") == {"offsets": []}
    scene.order("PUT", "/resume")
    scene.wait_copied(2 * FIRST + 10)


def _offsets(scene: Scene) -> list[dict[str, Any]]:
    """Those of the topic: a flow copies `heartbeats`, too, where a test before has left them at the source."""
    return [each for each in scene.ask("/offsets")["offsets"] if each["partition"]["topic"] == scene.topic]


def _positions(scene: Scene) -> int:
    return sum(each["offset"]["offset"] + 1 for each in _offsets(scene))


def test_the_mirror_of_a_command_line_is_paused_stopped_and_goes_on(
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    new_port: Callable[[], int],
    token: Path,
) -> None:
    """The same for the legacy command, in a process of its own, of which others read the port but for the token."""
    name, port = topic(), new_port()
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, 4)
    tool = our_tool(
        {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"},
        {"bootstrap.servers": target.bootstrap},
        *("--whitelist", name, "--num.streams", "2", "--admin.port", str(port)),
        *("--admin.token.file", str(token), "--admin.actions", "true", "--log.level", "INFO"),
    )
    api = RestCaller.with_token(port)
    connector = "/connectors/source->target.MirrorSourceConnector"

    def answers() -> bool:
        return api.call("GET", "/").status == 200

    def states() -> list[str]:
        found = api.call("GET", f"{connector}/status").body
        return [found["connector"]["state"], *(each["state"] for each in found["tasks"])]

    def copied(count: int) -> None:
        wait_until(lambda: sum(end_offsets(target.bootstrap, name).values()) >= count, SECONDS, f"{count} records")
        assert sum(end_offsets(target.bootstrap, name).values()) == count

    wait_until(answers, SECONDS, "the port")
    wait_until(lambda: states() == ["RUNNING"] * 3, SECONDS, "streams in their group")
    load(source.bootstrap, name, FIRST, 50)
    copied(FIRST)
    assert api.call("PUT", f"{connector}/pause").status == 202
    assert states() == ["PAUSED"] * 3
    load(source.bootstrap, name, FURTHER, 50)
    assert api.call("PUT", f"{connector}/resume").status == 202
    copied(FIRST + FURTHER)
    assert api.call("PUT", f"{connector}/stop").status == 204
    assert states() == ["STOPPED"]
    load(source.bootstrap, name, FURTHER, 50)
    assert api.call("PUT", f"{connector}/resume").status == 202
    copied(FIRST + 2 * FURTHER)
    assert tool.stop(SECONDS) == 143
    assert sum(committed(source.bootstrap, group, [name]).values()) == FIRST + 2 * FURTHER


def test_connectors_of_a_worker_come_and_go_in_any_order(
    source: Any, target: Any, topic: Callable[..., str], new_port: Callable[[], int], token: Path, tmp_path: Path
) -> None:
    """As people send them: checkpoints first, the last one deleted, all of it sent again; the process stays."""
    name, port = topic(), new_port()
    create_topic(source.bootstrap, name, 4)
    flow = driver_file({f"A{port}": source, "B": target})
    worker = {"bootstrap.servers": target.bootstrap, "group.id": f"g{port}"}
    worker |= {f"{each}.storage.topic": f"{each}-{port}" for each in ("offset", "config", "status")}
    factors = {key: text for key, text in flow.items() if key.endswith("replication.factor")}
    shared = {
        "source.cluster.alias": f"A{port}",
        "target.cluster.alias": "B",
        "source.cluster.bootstrap.servers": source.bootstrap,
        "target.cluster.bootstrap.servers": target.bootstrap,
        **{key: text for key, text in factors.items() if "storage" not in key},
    }

    def config(kind: str, **more: str) -> dict[str, str]:
        return {**shared, "name": kind, "connector.class": f"Mirror{kind}Connector", **more}

    of_worker = write_properties(
        tmp_path / "worker.properties", {**worker, **{key: text for key, text in factors.items() if "storage" in key}}
    )
    first = write_properties(tmp_path / "heartbeat.properties", config("Heartbeat"))
    words = ["connect", str(of_worker), str(first), "--admin.port", str(port), "--admin.token.file", str(token)]
    api = RestCaller.with_token(port)

    def state(kind: str) -> str:
        return str(api.call("GET", f"/connectors/{kind}/status").body["connector"]["state"])

    def copied(count: int) -> None:
        def there() -> int:
            is_there = f"A{port}.{name}" in list_topics(target.bootstrap)
            return sum(end_offsets(target.bootstrap, f"A{port}.{name}").values()) if is_there else 0

        wait_until(lambda: there() >= count, SECONDS, f"{count} records")
        assert there() == count

    with ToolProcess([str(COMMANDS / "legacy-mm"), *words, "--admin.actions", "true"], tmp_path) as tool:
        wait_until(lambda: api.call("GET", "/").status == 200, SECONDS, "the port")
        for kind, more in (("Checkpoint", {}), ("Source", {"topics": name, "tasks.max": "2"})):
            answer = api.call("POST", "/connectors", {"name": kind, "config": config(kind, **more)})
            assert answer.status == 201, answer.text
        load(source.bootstrap, name, FIRST, 50)
        copied(FIRST)
        wait_until(lambda: state("Checkpoint") == "RUNNING", SECONDS, "the checkpoints")
        for kind in ("Source", "Checkpoint", "Heartbeat"):
            assert api.call("DELETE", f"/connectors/{kind}").status == 204
            assert api.call("GET", f"/connectors/{kind}/status").status == 404
        assert api.call("GET", "/connectors").body == []
        load(source.bootstrap, name, FURTHER, 50)
        assert tool.running(), tool.output()
        answer = api.call("PUT", "/connectors/Source/config", config("Source", topics=name))
        assert answer.status == 201, answer.text
        copied(FIRST + FURTHER)
        assert tool.stop(SECONDS) == 143
