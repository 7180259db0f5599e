"""Connectors of a driver's file and of a worker, before flows that are not started."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.connect.entities import ConnectRestError, ReportedState, TargetState
from legacy_mm.connect.mirror_herder import MirrorHerder
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.flow.mirror import Mirror
from legacy_mm.flow.supervisor import FlowPhase, SupervisedFlow
from legacy_mm.metrics.health import Phase
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver
from legacy_mm.words.mirror_maker_2.driver import DriverRun
from legacy_mm.words.mirror_maker_2.driver_line import DriverLine
from legacy_mm.words.options.option_catalogue import OwnOptions

SOURCE, CHECKPOINT, HEARTBEAT = (f"A->B.Mirror{each}Connector" for each in ("Source", "Checkpoint", "Heartbeat"))
FILE = """\
clusters = A, B
A.bootstrap.servers = a:9092
B.bootstrap.servers = b:9092
A->B.enabled = true
B->A.emit.heartbeats.enabled = false
tasks.max = 2
A.sasl.jaas.config = Login required password="rosebud";
"""
CLIENTS = ClientTranslation(Environment(), OwnOptions())


class Keeper:
    """Keeps what it is told to run."""

    def __init__(self, flow: SupervisedFlow) -> None:
        self.flow = flow
        self.changes = 0

    def change(self, flow: SupervisedFlow) -> None:
        self.flow = flow
        self.changes += 1


class Bench:
    """A herder, and the supervisor and host that it sees."""

    def __init__(self, run: DriverRun) -> None:
        self.keepers: list[Keeper] = []
        self.removed: list[Keeper] = []
        self.host = cast("Any", SimpleNamespace(registries=[], failed_flows={}, phase=Phase.RUNNING))
        supervisor: Any = SimpleNamespace(add=self._add, remove=self.removed.append)
        self.herder = MirrorHerder(run, self.host, supervisor, "here:8083")

    def _add(self, flow: SupervisedFlow) -> Keeper:
        self.keepers.append(Keeper(flow))
        return self.keepers[-1]

    @property
    def keeper(self) -> Keeper:
        (keeper,) = self.keepers
        return keeper

    def runs(self, keeper: Keeper | None = None) -> Mock:
        """Let the flow run; return its mirror."""
        flow, mirror = (keeper or self.keeper).flow, Mock(Mirror)
        flow.on_change(FlowPhase.RUNNING, "")
        flow.on_start(mirror)
        return mirror

    def fails(self, why: str) -> None:
        self.keeper.flow.on_change(FlowPhase.FAILED, why)

    def states(self, name: str) -> tuple[str, list[str]]:
        status = self.herder.connector_status(name)
        return status.connector.state.value, [each.state.value for each in status.tasks]


@pytest.fixture
def of_file(tmp_path: Path) -> Callable[..., Bench]:
    def make(*lines: str) -> Bench:
        (tmp_path / "mm2.properties").write_text(FILE + "\n".join(lines))
        file = driver.load(DriverLine(str(tmp_path / "mm2.properties"), (), ()))
        return Bench(driver.translate_driver(file, CLIENTS))

    return make


def config(kind: str, **more: str) -> dict[str, str]:
    return {
        "name": kind,
        "connector.class": f"org.apache.kafka.connect.mirror.Mirror{kind}Connector",
        "source.cluster.alias": "A",
        "target.cluster.alias": "B",
        "source.cluster.bootstrap.servers": "a:9092",
        "target.cluster.bootstrap.servers": "b:9092",
        **more,
    }


@pytest.fixture
def of_worker(tmp_path: Path) -> Callable[..., Bench]:
    def make(*configs: Mapping[str, str]) -> Bench:
        worker = tmp_path / "worker.properties"
        worker.write_text("bootstrap.servers = b:9092\n")
        paths = []
        for number, each in enumerate(configs):
            paths.append(tmp_path / f"{number}.json")
            paths[-1].write_text(json.dumps(each))
        files = connect_files.load(connect_line.parse([str(worker), *map(str, paths)]))
        run = driver.translate_flows(files.flows(), CLIENTS, files.remarks)
        return Bench(DriverRun(run.flows, run.notes, run.secrets, CLIENTS, run.refused, run.readings, files))

    return make


def refused(status: HTTPStatus, words: str) -> Any:
    class Refusal:
        def __enter__(self) -> None:
            """Nothing to prepare."""

        def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
            assert isinstance(error, ConnectRestError), error
            assert (error.status, words in error.message) == (status, True), error.message
            return True

    return Refusal()


# --- states


def test_a_flow_has_the_connectors_whose_work_it_does(of_file: Callable[..., Bench]) -> None:
    assert of_file().herder.connectors() == [SOURCE, HEARTBEAT, CHECKPOINT]
    off = of_file("A->B.emit.heartbeats.enabled = false\nA->B.emit.checkpoints.enabled = false\n")
    assert off.herder.connectors() == [SOURCE]


def test_states_follow_the_life_of_the_flow(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    assert bench.states(SOURCE) == ("UNASSIGNED", ["UNASSIGNED"] * 2)
    bench.runs()
    assert bench.states(SOURCE) == ("RUNNING", ["RUNNING"] * 2)
    assert bench.states(CHECKPOINT) == ("RUNNING", ["RUNNING"])
    bench.fails("the target is away")
    assert bench.states(SOURCE) == ("FAILED", ["FAILED"] * 2)
    assert bench.herder.connector_status(SOURCE).tasks[1].trace == "the target is away"


def test_a_stream_out_of_its_group_is_unassigned(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    bench.runs()
    outside = "A->B|MirrorSourceConnector-1|replication-consumer"
    bench.host.registries.append(SimpleNamespace(flow="A->B", without_assignment=lambda: frozenset({outside})))
    assert bench.states(SOURCE) == ("RUNNING", ["RUNNING", "UNASSIGNED"])


def test_an_unknown_connector_has_connects_words(of_file: Callable[..., Bench]) -> None:
    herder = of_file().herder
    asked: list[tuple[Callable[[], object], str]] = [
        (lambda: herder.connector_info("x"), "Connector x not found"),
        (lambda: herder.connector_status("x"), "No status found for connector x"),
        (lambda: herder.set_target_state("x", TargetState.PAUSED), "Unknown connector x"),
        (lambda: herder.restart_connector("x"), "Unknown connector: x"),
        (lambda: herder.restart_task("x", 0), "Unknown task: x-0"),
        (lambda: herder.restart_task(SOURCE, 7), f"Unknown task: {SOURCE}-7"),
    ]
    for ask, words in asked:
        with refused(HTTPStatus.NOT_FOUND, words):
            ask()
    assert herder.active_topics("x") == []


# --- pause, resume, stop


def test_a_paused_source_connector_lets_its_streams_wait_and_nothing_is_built_again(
    of_file: Callable[..., Bench],
) -> None:
    bench = of_file()
    mirror = bench.runs()
    bench.herder.set_target_state(SOURCE, TargetState.PAUSED)
    assert bench.states(SOURCE) == ("PAUSED", ["PAUSED"] * 2)
    bench.herder.set_target_state(SOURCE, TargetState.STARTED)
    assert [call[0] for call in mirror.mock_calls] == ["pause", "resume"]
    assert bench.keeper.changes == 0


def test_a_mirror_that_starts_while_the_connector_is_paused_waits(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    bench.herder.set_target_state(SOURCE, TargetState.PAUSED)
    assert [call[0] for call in bench.runs().mock_calls] == ["pause"]
    bench.herder.set_target_state(SOURCE, TargetState.STARTED)
    assert bench.runs().mock_calls == []


def test_a_stopped_source_connector_leaves_heartbeats_alone(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    bench.herder.set_target_state(SOURCE, TargetState.STOPPED)
    assert bench.keeper.flow.connectors == "MirrorHeartbeatConnector"
    bench.runs()
    assert bench.states(SOURCE) == ("STOPPED", [])
    assert bench.states(HEARTBEAT) == ("RUNNING", ["RUNNING"])
    assert bench.states(CHECKPOINT)[0] == "UNASSIGNED", "checkpoints are for whoever copies"
    bench.herder.set_target_state(SOURCE, TargetState.STARTED)
    assert "MirrorSourceConnector" in bench.keeper.flow.connectors


def test_a_flow_of_which_all_is_stopped_does_nothing(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    for name in (SOURCE, HEARTBEAT, CHECKPOINT):
        bench.herder.set_target_state(name, TargetState.STOPPED)
    assert bench.keeper.flow.connectors == "nothing"
    assert bench.keeper.flow.build().stopped()
    bench.herder.set_target_state(SOURCE, TargetState.STARTED)
    assert bench.keeper.flow.connectors == "MirrorSourceConnector"


def test_a_paused_checkpoint_connector_has_a_paused_task_and_makes_none(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    bench.herder.set_target_state(CHECKPOINT, TargetState.PAUSED)
    bench.runs()
    assert bench.states(CHECKPOINT) == ("PAUSED", ["PAUSED"])
    assert "Checkpoint" not in bench.keeper.flow.connectors
    assert bench.states(SOURCE)[0] == "RUNNING"


# --- restart


def test_a_restart_with_tasks_begins_each_stream_again(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    mirror = bench.runs()
    told = bench.herder.restart_connector_and_tasks(SOURCE, include_tasks=True, only_failed=False)
    assert {told.connector.state, *(each.state for each in told.tasks)} == {ReportedState.RESTARTING}
    assert [call.args for call in mirror.restart.call_args_list] == [(None,)]
    bench.herder.restart_task(SOURCE, 1)
    assert mirror.restart.call_args.args == (1,)


def test_a_restart_of_what_failed_leaves_alone_what_runs(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    mirror = bench.runs()
    told = bench.herder.restart_connector_and_tasks(SOURCE, include_tasks=True, only_failed=True)
    assert told.connector.state is ReportedState.RUNNING
    assert (mirror.restart.call_count, bench.keeper.changes) == (0, 0)


@pytest.mark.parametrize("task", [False, True])
def test_a_flow_that_failed_is_built_again_at_once(task: bool, of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    bench.fails("away")
    if task:
        bench.herder.restart_task(SOURCE, 0)
    else:
        bench.herder.restart_connector(SOURCE)
    assert bench.keeper.changes == 1


# --- configurations


def test_no_answer_shows_a_secret_and_hidden_means_the_one_before(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    info = bench.herder.connector_info(SOURCE)
    assert "rosebud" not in str(info.body())
    assert info.config["source.cluster.sasl.jaas.config"] == "[hidden]"
    assert bench.herder.put_connector_config(SOURCE, info.config)[0] is False
    assert bench.keeper.changes == 0, "the same configuration restarts nothing"
    bench.herder.put_connector_config(SOURCE, {**info.config, "topics": "orders"})
    assert bench.keeper.changes == 1
    assert bench.herder.connector_info(SOURCE).config == {**info.config, "topics": "orders"}


def test_a_flow_of_a_file_keeps_the_name_by_which_its_offsets_are_stored(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    names: list[str] = []
    for topics in ("orders", "bills"):
        info = bench.herder.connector_info(SOURCE)
        bench.herder.put_connector_config(SOURCE, {**info.config, "topics": topics})
        names.append(bench.herder.connector_info(SOURCE).config["name"])
        bench.runs()
    assert names == [SOURCE, SOURCE]
    outside = "A->B|MirrorSourceConnector-0|replication-consumer"
    bench.host.registries.append(SimpleNamespace(flow="A->B", without_assignment=lambda: frozenset({outside})))
    assert bench.states(SOURCE)[1] == ["UNASSIGNED", "RUNNING"]


def test_what_cannot_run_is_refused_and_the_flow_goes_on(of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    info = bench.herder.connector_info(SOURCE)
    for key in ("consumer.max.poll.records", "tasks.max", "refresh.topics.enabled"):
        with refused(HTTPStatus.BAD_REQUEST, key.removeprefix("consumer.")):
            bench.herder.put_connector_config(SOURCE, {**info.config, key: "many"})
    assert bench.keeper.changes == 0
    assert bench.herder.connector_info(SOURCE).config == info.config


@pytest.mark.parametrize("what", ["make", "delete", "move"])
def test_the_connectors_of_a_file_are_those_of_the_file(what: str, of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    info = bench.herder.connector_info(SOURCE)
    with refused(HTTPStatus.FORBIDDEN, "the connectors are those of MirrorMaker 2's file"):
        if what == "make":
            bench.herder.create_connector("new", config("Source"), TargetState.STARTED)
        elif what == "delete":
            bench.herder.delete_connector(SOURCE)
        else:
            bench.herder.put_connector_config(SOURCE, {**info.config, "source.cluster.alias": "C"})
    assert (bench.keeper.changes, bench.removed) == (0, [])


# --- a worker's connectors


def test_exactly_once_changes_only_while_the_source_connector_is_stopped(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source"))
    exactly = config("Source", **{"exactly.once": "true"})
    with pytest.raises(ConnectRestError, match="stop its source connector, change it, and resume") as refused:
        bench.herder.put_connector_config("Source", exactly)
    assert (refused.value.status, bench.keeper.changes) == (HTTPStatus.BAD_REQUEST, 0)
    bench.herder.set_target_state("Source", TargetState.STOPPED)
    bench.herder.put_connector_config("Source", exactly)
    bench.herder.set_target_state("Source", TargetState.STARTED)
    run = bench.herder._flows[0].run
    assert run is not None
    assert run.settings.features[EXACTLY_ONCE] is not None


def test_flags_of_ours_change_by_the_configuration(of_file: Callable[..., Bench]) -> None:
    """A configuration shows those of the file."""
    bench = of_file("A->B.start.from = 2026-06-01T00:00Z")
    given = bench.herder.connector_info(SOURCE).config
    assert given["start.from"] == "2026-06-01T00:00Z"
    bench.herder.put_connector_config(SOURCE, {**given, "start.from": "2026-11-01T00:00Z"})
    run = bench.herder._flows[0].run
    assert run is not None
    times = run.settings.features[START_FROM]
    assert times is not None
    assert times.every == 1_793_491_200_000


def test_a_connector_joins_the_flow_of_its_clusters(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source"))
    assert bench.herder.connectors() == ["Source"]
    made = bench.herder.create_connector("hb", config("Heartbeat", name="hb"), TargetState.STARTED)
    assert (made.name, bench.keeper.flow.connectors) == ("hb", "MirrorSourceConnector, MirrorHeartbeatConnector")
    with refused(HTTPStatus.CONFLICT, "Connector hb already exists"):
        bench.herder.create_connector("hb", config("Heartbeat", name="hb"), TargetState.STARTED)


def test_a_connector_of_other_clusters_begins_a_flow_with_streams_of_its_own(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source", **{"tasks.max": "3"}))
    other = config(
        "Source", name="other", **{"source.cluster.alias": "C", "source.cluster.bootstrap.servers": "c:9092"}
    )
    bench.herder.create_connector("other", other, TargetState.STARTED)
    assert [keeper.flow.name for keeper in bench.keepers] == ["A->B", "C->B"]
    assert bench.herder.connectors() == ["Source", "other"]


def test_a_connector_may_begin_stopped(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source"))
    bench.herder.create_connector("hb", config("Heartbeat", name="hb"), TargetState.STOPPED)
    assert bench.states("hb") == ("STOPPED", [])
    assert bench.keeper.flow.connectors == "MirrorSourceConnector"


def test_two_connectors_of_one_kind_are_no_flow(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source"))
    with refused(HTTPStatus.BAD_REQUEST, "both a MirrorSourceConnector of one flow"):
        bench.herder.create_connector("again", config("Source", name="again"), TargetState.STARTED)
    assert bench.herder.connectors() == ["Source"]


def test_the_last_connector_ends_its_flow(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source"), config("Heartbeat"))
    bench.herder.delete_connector("Heartbeat")
    assert (bench.keeper.flow.connectors, bench.removed) == ("MirrorSourceConnector", [])
    bench.herder.delete_connector("Source")
    assert bench.removed == [bench.keeper]
    assert bench.herder.connectors() == []


def test_other_clusters_move_a_connector_to_their_flow(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source"), config("Heartbeat"))
    moved = config("Heartbeat", **{"source.cluster.alias": "C", "source.cluster.bootstrap.servers": "c:9092"})
    assert bench.herder.put_connector_config("Heartbeat", moved)[0] is False
    assert [keeper.flow.connectors for keeper in bench.keepers] == ["MirrorSourceConnector", "MirrorHeartbeatConnector"]


def test_a_configuration_of_an_unknown_name_makes_a_connector(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source"))
    is_new, info = bench.herder.put_connector_config("Heartbeat", config("Heartbeat"))
    assert (is_new, info.name) == (True, "Heartbeat")


def test_a_configuration_comes_back_as_it_was_sent(of_worker: Callable[..., Bench]) -> None:
    bench = of_worker(config("Source"))
    sent = config("Source", odd="${nobody:looks:here}", **{"tasks.max": "2"})
    bench.herder.put_connector_config("Source", sent)
    assert bench.herder.connector_info("Source").config == sent


# --- offsets


def test_offsets_are_changed_only_while_stopped(of_file: Callable[..., Bench]) -> None:
    with refused(HTTPStatus.BAD_REQUEST, f"issuing a 'PUT' request to the '/connectors/{SOURCE}/stop' endpoint"):
        of_file().herder.reset_connector_offsets(SOURCE)


@pytest.mark.parametrize(
    ("phase", "code"),
    [
        (Phase.STARTING, HTTPStatus.SERVICE_UNAVAILABLE),
        (Phase.RUNNING, HTTPStatus.OK),
        (Phase.STOPPING, HTTPStatus.INTERNAL_SERVER_ERROR),
        (Phase.FAILED, HTTPStatus.INTERNAL_SERVER_ERROR),
    ],
)
def test_the_health_is_that_of_the_process(phase: Phase, code: HTTPStatus, of_file: Callable[..., Bench]) -> None:
    bench = of_file()
    bench.host.phase = phase
    assert bench.herder.worker_status().code is code


def test_a_secret_with_the_signs_of_a_reference_is_hidden(of_worker: Callable[..., Bench]) -> None:
    key, reference = "source.cluster.sasl.password", "${nobody:looks:here}"
    for text, told in ((reference, reference), ("ro${se:bud", "[hidden]"), (f"{reference}rosebud", "[hidden]")):
        assert of_worker(config("Source", **{key: text})).herder.connector_info("Source").config[key] == told


def test_connectors_come_and_go_in_any_order(of_worker: Callable[..., Bench]) -> None:
    """Checkpoints wait for a source connector."""
    bench = of_worker(config("Source"), config("Checkpoint"), config("Heartbeat"))
    bench.herder.delete_connector("Source")
    assert bench.keeper.flow.connectors == "MirrorHeartbeatConnector"
    bench.runs()
    assert bench.states("Checkpoint") == ("UNASSIGNED", ["UNASSIGNED"])
    bench.herder.delete_connector("Heartbeat")
    assert bench.keeper.flow.connectors == "nothing"
    bench.herder.create_connector("Source", config("Source"), TargetState.STARTED)
    assert bench.keeper.flow.connectors == "MirrorSourceConnector, MirrorCheckpointConnector"


def test_a_checkpoint_connector_may_come_first(of_worker: Callable[..., Bench]) -> None:
    others = {"source.cluster.alias": "C", "source.cluster.bootstrap.servers": "c:9092"}
    bench = of_worker(config("Heartbeat", **others))
    bench.herder.create_connector("Checkpoint", config("Checkpoint"), TargetState.STARTED)
    bench.herder.create_connector("Source", config("Source"), TargetState.STARTED)
    assert bench.keepers[-1].flow.connectors == "MirrorSourceConnector, MirrorCheckpointConnector"
