"""Clients of Kafka Connect that nobody here wrote do their round, and no record is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import COMMANDS
from compat.laboratory.ports import Ports
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file
from tests.fixtures.foreign_clients import CLIENTS, ForeignClient
from tests.fixtures.rest_api import TOKEN, RestCaller, token_file
from tests.fixtures.warm_mirrors import WarmMirror, WarmProcess

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
RECORDS = 200
CLASS = "org.apache.kafka.connect.mirror.Mirror{}Connector"
MakeClient = Callable[[str, int, str], ForeignClient]


@dataclass(frozen=True)
class Worker:
    """A process that runs connectors, and its port."""

    source: Any
    target: Any
    port: int
    alias: str
    process: Any

    @property
    def connector(self) -> str:
        return f"{self.alias}->B.MirrorSourceConnector"

    def state(self, name: str = "") -> tuple[str, ...]:
        """Return the states of a connector and its tasks, as our own caller sees them."""
        found = RestCaller.with_token(self.port).call("GET", f"/connectors/{name or self.connector}/status")
        if found.status != 200:
            return (str(found.status),)
        return (found.body["connector"]["state"], *(each["state"] for each in found.body["tasks"]))

    def wait_state(self, *states: str, name: str = "") -> None:
        wait_until(lambda: self.state(name) == states, SECONDS, f"the states {states}")

    def copies(self, topic: str, count: int) -> None:
        """Wait until the copy of a topic has so many records, and no more."""
        copy = f"{self.alias}.{topic}"

        def there() -> int:
            is_there = copy in list_topics(self.target.bootstrap)
            return sum(end_offsets(self.target.bootstrap, copy).values()) if is_there else 0

        wait_until(lambda: there() >= count, SECONDS, f"{count} records in {copy}")
        assert there() == count


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    ports = Ports()
    yield ports.reserve()
    ports.release()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("clients")
    token_file(made)
    return made


def orders(port: int, folder: Path) -> tuple[str, ...]:
    return ("--admin.port", str(port), "--admin.token.file", str(folder / "token"), "--admin.actions", "true")


@pytest.fixture(scope="module")
def driver(
    source: Any, target: Any, warm_process: Callable[[], WarmProcess], port: int, folder: Path
) -> Iterator[Worker]:
    """A warm driver with one flow of two streams, for all clients."""
    alias = f"A{port}"
    create_topic(source.bootstrap, f"first-{port}", 2)
    properties = driver_file(
        {alias: source, "B": target},
        **{f"{alias}->B.enabled": "true", f"{alias}->B.topics": f"first-{port}", "emit.heartbeats.enabled": "false"},
        **{"tasks.max": "2", "sync.topic.acls.enabled": "false"},
    )
    words = (str(write_properties(folder / "mm2.properties", properties)), *orders(port, folder))
    with WarmMirror(warm_process(), "connect-mirror-maker.sh", words) as process:
        found = Worker(source, target, port, alias, process)
        wait_until(lambda: port_answers(port), SECONDS, "the port")
        found.wait_state("RUNNING", "RUNNING", "RUNNING")
        yield found
        assert process.stop(SECONDS) == 143


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_makes_its_round(
    name: str, driver: Worker, foreign_client: MakeClient, topic: Callable[..., str]
) -> None:
    """It lists, looks, pauses, resumes, restarts, changes, validates, and is told why it cannot delete."""
    client = foreign_client(name, driver.port, TOKEN)
    connector, wanted = driver.connector, topic()
    create_topic(driver.source.bootstrap, wanted, 4)
    load(driver.source.bootstrap, wanted, RECORDS, 50)
    assert connector in client.ask("names")
    status = client.ask("status", connector)
    assert (status["name"], status["type"], status["connector"]["state"]) == (connector, "source", "RUNNING")
    assert [each["state"] for each in status["tasks"]] == ["RUNNING", "RUNNING"]
    config = client.ask("config", connector)
    assert (config["connector.class"], config["name"]) == (CLASS.format("Source"), connector)
    # changed: the topic is copied from now on
    assert client.ask("put", connector, {**config, "topics": wanted}) == connector
    assert client.ask("config", connector) == {**config, "topics": wanted}
    driver.copies(wanted, RECORDS)
    driver.wait_state("RUNNING", "RUNNING", "RUNNING")
    # paused: nothing comes
    client.ask("pause", connector)
    driver.wait_state("PAUSED", "PAUSED", "PAUSED")
    assert client.ask("status", connector)["connector"]["state"] == "PAUSED"
    load(driver.source.bootstrap, wanted, RECORDS, 50)
    driver.copies(wanted, RECORDS)
    client.ask("resume", connector)
    driver.copies(wanted, 2 * RECORDS)
    # restarted, while records come
    client.ask("restart", connector)
    load(driver.source.bootstrap, wanted, RECORDS, 50)
    driver.copies(wanted, 3 * RECORDS)
    driver.wait_state("RUNNING", "RUNNING", "RUNNING")
    assert client.ask("errors", config) == 0
    assert client.ask("errors", {**config, "tasks.max": "0"}) > 0
    refusal = client.refusal("delete", connector)
    assert "403" in refusal or "To delete connector" in refusal, "it shows the code, or our sentence"
    assert connector in client.ask("names")


def test_loggers_are_read_and_set_by_a_client(driver: Worker, foreign_client: MakeClient) -> None:
    assert "root" in foreign_client("kafka-connect-api", driver.port, TOKEN).ask("loggers")


def test_a_health_check_sees_what_it_is_told_to_look_for(driver: Worker, foreign_client: MakeClient) -> None:
    client = foreign_client("kafka-connect-healthcheck", driver.port, TOKEN)
    assert client.ask("healthy", "FAILED")["healthy"] is True
    found = client.ask("healthy", "RUNNING")
    assert (found["healthy"], found["failure_rate"]) == (False, 1.0)
    assert {(each["type"], each["connector"]) for each in found["failures"]} >= {
        ("connector", driver.connector),
        ("task", driver.connector),
    }


@pytest.fixture(scope="module")
def worker(source: Any, target: Any, folder: Path) -> Iterator[Worker]:
    """`legacy-mm connect` with one connector, to which clients add theirs."""
    ports = Ports()
    port = ports.reserve()
    alias = f"A{port}"
    storage = {f"{each}.storage.topic": f"{each}-{port}" for each in ("offset", "config", "status")}
    factors = {f"{each}.storage.replication.factor": "1" for each in ("offset", "config", "status")}
    properties = {"bootstrap.servers": target.bootstrap, "group.id": f"g{port}", **storage, **factors}
    words = ["connect", str(write_properties(folder / "worker.properties", properties))]
    found = Worker(source, target, port, alias, None)
    first = write_properties(folder / "heartbeat.properties", connector(found, "Heartbeat", "first"))
    command = [str(COMMANDS / "legacy-mm"), *words, str(first), *orders(port, folder)]
    with ToolProcess(command, folder) as process:
        wait_until(lambda: port_answers(port), SECONDS, "the port")
        yield found
        assert process.stop(SECONDS) == 143
    ports.release()


def port_answers(port: int) -> bool:
    try:
        return RestCaller.with_token(port).call("GET", "/health").status == 200
    except OSError:
        return False


def connector(worker: Worker, kind: str, name: str, **more: str) -> dict[str, str]:
    topics = ("checkpoints", "heartbeats", "offset-syncs")
    return {
        "name": name,
        "connector.class": CLASS.format(kind),
        "source.cluster.alias": worker.alias,
        "target.cluster.alias": "B",
        "source.cluster.bootstrap.servers": worker.source.bootstrap,
        "target.cluster.bootstrap.servers": worker.target.bootstrap,
        "replication.factor": "1",
        **{f"{each}.topic.replication.factor": "1" for each in topics},
        **more,
    }


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_makes_a_connector_and_deletes_it(
    name: str, worker: Worker, foreign_client: MakeClient, topic: Callable[..., str]
) -> None:
    client = foreign_client(name, worker.port, TOKEN)
    wanted = topic()
    create_topic(worker.source.bootstrap, wanted, 2)
    load(worker.source.bootstrap, wanted, RECORDS, 50)
    made = f"{worker.alias}->B.{name.rpartition(':')[2]}"
    config = connector(worker, "Source", made, topics=wanted)
    assert client.ask("create", made, config) == made
    worker.copies(wanted, RECORDS)
    worker.wait_state("RUNNING", "RUNNING", name=made)
    assert client.ask("config", made) == config
    assert {*client.ask("names")} == {"first", made}
    client.ask("delete", made)
    worker.wait_state("404", name=made)
    assert client.ask("names") == ["first"]


def test_a_client_makes_all_connectors_of_mirror_maker_2(
    worker: Worker, foreign_client: MakeClient, topic: Callable[..., str]
) -> None:
    """In its own order: heartbeats, checkpoints, and the source at last."""
    client = foreign_client("kafkaconnect", worker.port, TOKEN)
    wanted = topic()
    create_topic(worker.source.bootstrap, wanted, 2)
    load(worker.source.bootstrap, wanted, RECORDS, 50)
    client.ask("delete", "first")
    kinds = ("Heartbeat", "Checkpoint", "Source")
    configs = [connector(worker, each, f"my-{each}", topics=wanted) for each in kinds]
    said = client.ask("create_mirrormaker2", *configs)
    assert all(f"Creating the my-{each} connector" in said for each in kinds)
    worker.copies(wanted, RECORDS)
    for each in kinds:
        worker.wait_state("RUNNING", "RUNNING", name=f"my-{each}")
    for each in kinds:
        client.ask("delete", f"my-{each}")
        worker.wait_state("404", name=f"my-{each}")
    assert client.ask("put", "first", connector(worker, "Heartbeat", "first")) == "first"
