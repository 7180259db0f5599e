"""Real workers of Kafka Connect and ours in one group, one after the other: connectors, states and offsets go on."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.checkout import COMMANDS
from compat.laboratory.ports import LOOPBACK
from compat.laboratory.releases import CONNECT, CURRENT
from compat.laboratory.tools import connect_worker
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.connect_files import source_connector, worker_properties
from tests.fixtures.rest_api import LOGIN, token_file

pytestmark = [pytest.mark.brokers, pytest.mark.spark, pytest.mark.side_by_side]
SECONDS = 120.0
RECORDS = 400
QUICK = {"offset.flush.interval.ms": "500", "scheduled.rebalance.max.delay.ms": "0", "session.timeout.ms": "6000"}


class Place:
    """A group of workers, its topics, and the connector that is handed over."""

    def __init__(self, source: Any, target: Any, topic: str, port: int, folder: Path, release: str) -> None:
        self.source, self.target, self.topic, self.port = source, target, topic, port
        self.alias, self.folder, self.release = f"A{port}", folder, release
        self.written = 0

    def properties(self) -> dict[str, str]:
        return {**worker_properties(self.target, self.alias), **QUICK}

    def config(self, **more: str) -> dict[str, str]:
        return source_connector(self.source, self.target, self.alias, self.topic, **more)

    def theirs(self) -> ToolProcess:
        folder = self.folder / "theirs"
        own = self.properties()
        return connect_worker(
            folder, self.target.bootstrap, rest_port=self.port, distributed=True, release=self.release, properties=own
        )

    def ours(self) -> ToolProcess:
        token, file = token_file(self.folder), self.folder / "worker.properties"
        write_properties(file, {**self.properties(), "listeners": f"http://{LOOPBACK}:{self.port}"})
        words = ["connect", "--distributed", str(file), "--admin.token.file", str(token), "--admin.actions", "true"]
        return ToolProcess([str(COMMANDS / "legacy-mm"), *words], self.folder)

    def ask(self, method: str, path: str, body: object = None) -> Any:
        sent = None if body is None else json.dumps(body).encode()
        headers = {**LOGIN, "Content-Type": "application/json"}
        request = urllib.request.Request(f"http://{LOOPBACK}:{self.port}{path}", sent, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read().decode()
        return json.loads(text) if text else None

    def order(self, method: str, path: str, body: object = None) -> None:
        """Ask until a worker that rebalances is ready."""
        wait_until(lambda: (self.ask(method, path, body), True)[1], SECONDS, f"{method} {path}")

    def states(self) -> list[str]:
        found = self.ask("GET", "/connectors/mirror/status")
        return [found["connector"]["state"], *(each["state"] for each in found["tasks"])]

    def wait_states(self, *states: str) -> None:
        wait_until(lambda: self.states() == list(states), SECONDS, f"the states {states}")

    def write(self) -> None:
        load(self.source.bootstrap, self.topic, RECORDS, 50)
        self.written += RECORDS

    def copied(self) -> int:
        copy = f"{self.alias}.{self.topic}"
        there = copy in list_topics(self.target.bootstrap)
        return sum(end_offsets(self.target.bootstrap, copy).values()) if there else 0

    def wait_copied(self) -> None:
        wait_until(lambda: self.copied() >= self.written, SECONDS, f"{self.written} records")
        assert self.copied() == self.written


@pytest.fixture(params=[CONNECT, CURRENT])
def place(
    source: Any,
    target: Any,
    topic: str,
    new_port: Callable[[], int],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> Place:

    create_topic(source.bootstrap, topic, 4)
    return Place(source, target, topic, new_port(), tmp_path, request.param)


def test_a_connector_goes_from_their_workers_to_ours_and_back(place: Place) -> None:
    with place.theirs() as theirs:
        place.order("PUT", "/connectors/mirror/config", place.config())
        beats = {"connector.class": "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector", "name": "beats"}
        place.order(
            "PUT", "/connectors/beats/config", {**place.config(), **beats, "heartbeats.topic.replication.factor": "1"}
        )
        place.wait_states("RUNNING", "RUNNING", "RUNNING")
        place.write()
        place.wait_copied()
        assert theirs.stop(SECONDS) in (0, 143)
    with place.ours() as ours:
        place.wait_states("RUNNING", "RUNNING", "RUNNING")
        assert sorted(place.ask("GET", "/connectors")) == ["beats", "mirror"]
        place.write()
        place.wait_copied()
        place.order("PUT", "/connectors/mirror/config", place.config(**{"tasks.max": "1"}))
        place.write()
        place.wait_copied()
        place.order("DELETE", "/connectors/beats")
        place.order("PUT", "/connectors/mirror/stop")
        assert ours.stop(SECONDS) == 143
    place.write()
    with place.theirs():
        place.wait_states("STOPPED")
        assert place.ask("GET", "/connectors") == ["mirror"]
        assert place.ask("GET", "/connectors/mirror/config")["tasks.max"] == "1"
        place.order("PUT", "/connectors/mirror/resume")
        place.wait_states("RUNNING", "RUNNING")
        place.wait_copied()


def test_workers_of_both_kinds_never_copy_at_once(place: Place, new_port: Callable[[], int]) -> None:
    """Ours waits while theirs is in the group, takes over when it leaves, and keeps theirs out from then on."""
    with place.theirs() as theirs:
        place.order("PUT", "/connectors/mirror/config", place.config())
        place.wait_states("RUNNING", "RUNNING", "RUNNING")
        place.write()
        place.wait_copied()
        their_port, place.port = place.port, new_port()
        with place.ours() as ours:
            place.wait_states("FAILED", "FAILED", "FAILED")
            trace = place.ask("GET", "/connectors/mirror/status")["connector"]["trace"]
            assert "has members of another kind (protocol sessioned)" in trace
            place.write()
            place.wait_copied()
            assert theirs.stop(SECONDS) in (0, 143)
            place.wait_states("RUNNING", "RUNNING", "RUNNING")
            our_port, place.port = place.port, their_port
            with place.theirs() as late:
                place.write()
                wait_until(lambda: not late.running() or "INCONSISTENT" in late.output().upper(), SECONDS, "a refusal")
                place.port = our_port
                place.wait_copied()
                place.wait_states("RUNNING", "RUNNING", "RUNNING")
            assert ours.stop(SECONDS) == 143
