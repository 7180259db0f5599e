"""A driver's file that is read again: which flows change, come and go, what stays, and what is refused."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.cli.connect_mirror_maker import words_again
from legacy_mm.connect.driver_herder import DriverHerder
from legacy_mm.connect.entities import ConnectRestError, TargetState
from legacy_mm.connect.flow_options import BY_REQUEST
from legacy_mm.features.connect_offsets.feature import CONNECT_OFFSETS
from legacy_mm.flow.supervisor import SupervisedFlow
from legacy_mm.metrics.health import Phase
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.mirror_maker_2 import driver
from legacy_mm.words.mirror_maker_2.driver import DriverRun
from legacy_mm.words.mirror_maker_2.driver_line import DriverLine

SOURCE, HEARTBEAT = "A->B.MirrorSourceConnector", "A->B.MirrorHeartbeatConnector"
NONE, CHANGE, ADD, REMOVE = "none", "change", "add", "remove"
FILE = """\
clusters = A, B, C
A.bootstrap.servers = a:9092
B.bootstrap.servers = b:9092
C.bootstrap.servers = c:9092
A->B.enabled = true
C->B.enabled = true
emit.heartbeats.enabled = false
tasks.max = 2
A.sasl.jaas.config = Login required password="rosebud";
"""


class Bench:
    """A driver's herder, with a supervisor that runs nothing and counts what it is told."""

    def __init__(self, folder: Path, *lines: str) -> None:
        self.file, self.options = folder / "mm2.properties", folder / "options.properties"
        self.options.touch()
        self.write(*lines)
        self.told: list[tuple[str, str]] = []
        self.added: list[SupervisedFlow] = []
        host = cast("Any", SimpleNamespace(registries=[], failed_flows={}, phase=Phase.RUNNING, spark=Mock()))
        supervisor: Any = SimpleNamespace(add=self._add, remove=lambda keeper: keeper.remove())
        words = words_again(["--features.config", str(self.options)], self._flows)
        outcome = words.outcome(words.options())
        self.herder = DriverHerder(outcome, host, supervisor, "here:8083", words)
        self.told.clear()

    def _flows(self, clients: ClientTranslation) -> DriverRun:
        return driver.translate_driver(driver.load(DriverLine(str(self.file), (), ())), clients)

    def _add(self, flow: SupervisedFlow) -> Any:
        self.told.append(("add", flow.name))
        self.added.append(flow)

        def change(other: SupervisedFlow) -> None:
            self.told.append(("change", other.name))

        return SimpleNamespace(change=change, remove=lambda: self.told.append(("remove", flow.name)))

    def write(self, *lines: str) -> None:
        self.file.write_text(FILE + "\n".join(lines))

    def reload(self, *, dry_run: bool = False) -> dict[str, Any]:
        return self.herder.reload(dry_run=dry_run).body(dry_run=dry_run)

    def config(self, name: str = SOURCE) -> dict[str, str]:
        return dict(self.herder.connector_info(name).config)


def actions(plan: dict[str, Any]) -> dict[str, str]:
    return {each["flow"]: each["action"] for each in plan["flows"]}


def keys(plan: dict[str, Any], flow: str = "A->B") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = next(each["keys"] for each in plan["flows"] if each["flow"] == flow)
    return found


def key(name: str, before: str | None, after: str | None) -> dict[str, Any]:
    return {"key": name, "before": before, "after": after}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def loggers() -> Iterator[None]:
    """What is logged is configured by the test, and by nobody after it."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)


def test_what_the_file_gives_to_a_flow_has_its_place(bench: Bench) -> None:
    bench.write("A->B.topics = orders", "sync.quotas.enabled = false")
    bench.reload()
    bench.herder.put_connector_config(SOURCE, {**bench.config(), "refresh.topics.interval.seconds": "30"})
    end = FILE.count("\n")

    def given(flow: str) -> dict[str, tuple[str, str]]:
        found = bench.herder.flow_options(flow)
        return {name: (value, origin.removeprefix(f"{bench.file}:")) for name, value, origin in found}

    assert given("A->B") == {
        "enabled": ("true", "5"),
        "emit.heartbeats.enabled": ("false", "7"),
        "tasks.max": ("2", "8"),
        "topics": ("orders", str(end + 1)),
        "sync.quotas.enabled": ("false", str(end + 2)),
        "refresh.topics.interval.seconds": ("30", BY_REQUEST),
    }
    assert given("C->B").keys() == {"enabled", "tasks.max", "emit.heartbeats.enabled", "sync.quotas.enabled"}


def test_a_file_without_a_difference_touches_nothing(bench: Bench) -> None:
    bench.write("# a comment", "an.unknown.key = 1")
    plan = bench.reload()
    assert actions(plan) == {"A->B": NONE, "C->B": NONE}
    assert (plan["process"], plan["log_levels"], bench.told) == ([], [], [])


def test_the_flow_whose_lines_changed_is_the_only_one_that_is_built_again(bench: Bench) -> None:
    bench.write("A->B.topics = orders", "A.consumer.max.poll.records = 7")
    dry = bench.reload(dry_run=True)
    assert (dry["dry_run"], bench.told, bench.config().get("topics")) == (True, [], None)
    plan = bench.reload()
    assert plan == {**dry, "dry_run": False}
    assert actions(plan) == {"A->B": CHANGE, "C->B": NONE}
    assert keys(plan) == [key("A.consumer.max.poll.records", None, "7"), key("A->B.topics", None, "orders")]
    assert bench.told == [("change", "A->B")]
    assert bench.config()["topics"] == "orders"
    assert actions(bench.reload()) == {"A->B": NONE, "C->B": NONE}, "it is read by then"


def test_a_line_that_a_line_of_the_flow_outweighs_changes_the_others(bench: Bench) -> None:
    bench.write("A->B.tasks.max = 2")
    bench.reload()
    bench.write("A->B.tasks.max = 2", "tasks.max = 1")
    plan = bench.reload()
    assert (actions(plan), bench.told) == ({"A->B": NONE, "C->B": CHANGE}, [("change", "C->B")])
    assert keys(plan, "C->B") == [key("tasks.max", "2", "1")]


def test_flows_come_and_go_and_have_streams_of_their_own(bench: Bench) -> None:
    before = {each: bench.herder.connector_info(f"{each}.MirrorSourceConnector").tasks for each in ("A->B", "C->B")}
    bench.write("C->B.enabled = false", "B->A.enabled = true", "C->A.enabled = true")
    plan = bench.reload()
    assert actions(plan) == {"A->B": NONE, "C->B": REMOVE, "B->A": ADD, "C->A": ADD}
    assert bench.told == [("remove", "C->B"), ("add", "B->A"), ("add", "C->A")]
    assert {each.partition(".")[0] for each in bench.herder.connectors()} == {"A->B", "B->A", "C->A"}
    streams = [each.run.settings for each in bench.herder._flows if each.run is not None]
    numbers = [each.first_stream + number for each in streams for number in range(each.streams)]
    assert len(set(numbers)) == len(numbers) == 3 * before["A->B"]


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["A->B.tasks.max = 0"], "tasks.max"),
        (["A->B.topics = orders", "C->B.offset-syncs.topic.location = nowhere"], "offset-syncs.topic.location"),
        (["B->A.enabled = true", "B->A.topic.filter.class = org.example.Ours"], "org.example.Ours"),
        (["clusters ="], "No source->target replication flows"),
    ],
)
def test_what_cannot_run_is_refused_and_all_goes_on(bench: Bench, lines: list[str], words: str) -> None:
    before = bench.config()
    bench.write(*lines)
    with pytest.raises(ConnectRestError) as error:
        bench.reload()
    assert (error.value.status, words in error.value.message) == (400, True), error.value.message
    assert (bench.told, bench.config()) == ([], before)
    bench.file.unlink()
    with pytest.raises(ConnectRestError, match="mm2.properties"):
        bench.reload()


def test_a_flow_that_was_refused_at_the_start_runs_once_its_lines_are_right(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "C->B.topic.filter.class = org.example.Ours")
    bench.write("C->B.topic.filter.class = org.example.Ours", "A->B.topics = orders")
    assert actions(bench.reload()) == {"A->B": CHANGE, "C->B": NONE}, "as it was refused before"
    bench.write("A->B.topics = orders")
    assert actions(bench.reload()) == {"A->B": NONE, "C->B": CHANGE}
    assert bench.told[-1] == ("change", "C->B")


def test_where_the_positions_are_is_left_as_it_is(bench: Bench) -> None:
    lines = ("B.group.id = another", "A->B.exactly.once = true", "A->B.name = mine")
    bench.write(*lines, "A->B.topics = orders")
    settings = bench.herder._flows[0].run
    for plan in (bench.reload(), bench.reload()):
        left = {each["key"]: each for each in keys(plan) if "kept_because" in each}
        assert {each: (left[each]["before"], left[each]["after"]) for each in left} == {
            "group.id": ("A-mm2", "another"),
            "name": ("MirrorSourceConnector", "mine"),
            "exactly.once": (None, "true"),
        }
    assert bench.told == [("change", "A->B")]
    changed = bench.herder._flows[0].run
    assert settings is not None
    assert changed is not None
    assert changed.settings.features.switched_on.keys() == settings.settings.features.switched_on.keys()
    assert changed.settings.features[CONNECT_OFFSETS] == settings.settings.features[CONNECT_OFFSETS]


def test_what_requests_have_changed_is_as_the_file_says_again(bench: Bench) -> None:
    bench.herder.put_connector_config(SOURCE, {**bench.config(), "topics": "of-a-request"})
    plan = bench.reload()
    assert keys(plan) == [key("A->B.topics", "of-a-request", None)]
    assert bench.told == [("change", "A->B")] * 2
    assert "topics" not in bench.config()


def test_what_is_paused_or_stopped_stays_so(bench: Bench) -> None:
    bench.herder.set_target_state(SOURCE, TargetState.PAUSED)
    bench.herder.set_target_state("C->B.MirrorSourceConnector", TargetState.STOPPED)
    bench.write("A->B.topics = orders", "C->B.topics = orders", "A->B.emit.heartbeats.enabled = true")
    assert actions(bench.reload()) == {"A->B": CHANGE, "C->B": CHANGE}
    states = {name: bench.herder.connector_status(name).connector.state.value for name in bench.herder.connectors()}
    assert (states[SOURCE], states[HEARTBEAT]) == ("PAUSED", "UNASSIGNED")
    assert states["C->B.MirrorSourceConnector"] == "STOPPED"


def test_no_secret_is_shown_or_logged(bench: Bench, caplog: pytest.LogCaptureFixture, loggers: None) -> None:
    caplog.set_level(logging.INFO)
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="thistle";'
    bench.write(f"A.sasl.jaas.config = {login}", "A.sasl.mechanism = PLAIN", "A.security.protocol = SASL_PLAINTEXT")
    plan = bench.reload()
    assert keys(plan) == [
        key("A.sasl.jaas.config", "[hidden]", "[hidden]"),
        key("A.sasl.mechanism", None, "PLAIN"),
        key("A.security.protocol", None, "SASL_PLAINTEXT"),
    ]
    lines = [line for line in caplog.messages if line.startswith("Reload, ")]
    assert lines == [
        "Reload, A->B: A.sasl.jaas.config: another value, not shown",
        "Reload, A->B: A.sasl.mechanism: none -> PLAIN",
        "Reload, A->B: A.security.protocol: none -> SASL_PLAINTEXT",
    ]
    assert not {"rosebud", "thistle"} & set((str(plan) + caplog.text).replace('"', " ").split())


def test_options_of_the_process_stay_and_log_levels_change(
    bench: Bench, capsys: pytest.CaptureFixture[str], loggers: None
) -> None:
    bench.options.write_text("spark.master = spark://x:7077\nlog.level = DEBUG\non.gap = fail")
    plan = bench.reload()
    (master,) = plan["process"]
    assert (master["key"], master["before"], master["after"]) == ("spark.master", "embedded", "spark://x:7077")
    assert "Spark" in master["kept_because"]
    assert plan["log_levels"] == [key("root", "INFO", "DEBUG")]
    assert actions(plan) == {"A->B": CHANGE, "C->B": CHANGE}
    assert keys(plan, "C->B") == [key("on.gap", "log", "fail")]
    run = bench.herder._flows[0].run
    assert run is not None
    assert (run.settings.fail_on_gap, run.settings.process.spark.master) == (True, None)
    assert bench.reload()["process"] == [master], "the file still says so"
