"""The flows of a command line as connectors: their states, what they are ordered, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.connect import legacy_herder
from legacy_mm.connect.entities import ConnectRestError, ReportedState, TargetState
from legacy_mm.connect.legacy_herder import LegacyFlow, LegacyHerder
from legacy_mm.flow.mirror import Mirror
from legacy_mm.metrics.health import Phase
from tests.unit.flow_settings import flow_settings

NAME = "source->target.MirrorSourceConnector"


class Bench:
    """A mirror with two streams, its herder, and the host."""

    def __init__(self) -> None:
        self.mirror = Mock(Mirror)
        self.registry = Mock(flow="source->target")
        self.registry.without_assignment.return_value = frozenset()
        self.registry.snapshot.return_value = Mock(readings={})
        self.host = cast("Any", SimpleNamespace(registries=[self.registry], phase=Phase.RUNNING))
        self.flow = LegacyFlow(replace(flow_settings(), streams=2), Mock(return_value=Mock(Mirror)))
        self.mirrors: list[Mirror] = [self.mirror]
        self.herder = LegacyHerder([self.flow], self.mirrors, self.host, "here:8083")

    def states(self) -> tuple[str, list[str]]:
        found = self.herder.connector_status(NAME)
        return found.connector.state.value, [each.state.value for each in found.tasks]

    def order(self, state: TargetState) -> None:
        self.herder.set_target_state(NAME, state)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_its_states_are_those_of_the_process_and_of_its_streams(bench: Bench) -> None:
    bench.host.phase = Phase.STARTING
    assert bench.states() == ("UNASSIGNED", ["UNASSIGNED"] * 2)
    bench.host.phase = Phase.RUNNING
    assert bench.states() == ("RUNNING", ["RUNNING"] * 2)
    group = bench.flow.settings.source.group_id
    bench.registry.without_assignment.return_value = frozenset({f"{group}-1"})
    assert bench.states() == ("RUNNING", ["RUNNING", "UNASSIGNED"])
    bench.host.phase = Phase.FAILED
    assert bench.states() == ("FAILED", ["FAILED"] * 2)


def test_a_pause_is_told_to_the_mirror_once(bench: Bench) -> None:
    bench.order(TargetState.PAUSED)
    bench.order(TargetState.PAUSED)
    assert bench.states() == ("PAUSED", ["PAUSED"] * 2)
    bench.order(TargetState.STARTED)
    assert [call[0] for call in bench.mirror.mock_calls] == ["pause", "resume"]


@pytest.mark.parametrize("then", [TargetState.STARTED, TargetState.PAUSED])
def test_a_stopped_flow_gives_its_place_to_one_without_streams_and_is_built_again(
    then: TargetState, bench: Bench
) -> None:
    bench.order(TargetState.STOPPED)
    ((make,), words) = bench.mirror.replace.call_args
    assert words == {"paused": False}
    idle = Mock(Mirror)
    assert make().stopped()
    bench.mirrors[0] = idle
    assert bench.states() == ("STOPPED", [])
    bench.order(then)
    ((make,), words) = idle.replace.call_args
    assert words == {"paused": then is TargetState.PAUSED}
    assert make() is bench.flow.build()
    assert bench.host.registries == [], "the counts of the mirror before are not told beside those of the new one"


def test_topics_of_the_mirror_before_are_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legacy_herder, "sent_records", lambda counts: {"t": 7.0} if list(counts) else {})
    assert bench.herder.active_topics(NAME) == ["t"]
    bench.order(TargetState.STOPPED)
    bench.order(TargetState.STARTED)
    ((make,), _) = bench.mirror.replace.call_args
    make()
    assert bench.host.registries == []
    assert bench.herder.active_topics(NAME) == ["t"]
    bench.herder.reset_active_topics(NAME)
    assert bench.herder.active_topics(NAME) == []


def test_a_restart_begins_the_streams_again(bench: Bench) -> None:
    told = bench.herder.restart_connector_and_tasks(NAME, include_tasks=True, only_failed=False)
    assert {each.state for each in told.tasks} == {ReportedState.RESTARTING}
    bench.herder.restart_task(NAME, 1)
    assert [call.args for call in bench.mirror.restart.call_args_list] == [(), (1,)]


def test_its_configuration_is_in_the_words_of_mirror_maker_2(bench: Bench) -> None:
    found = bench.herder.connector_info(NAME)
    assert (found.name, found.tasks, found.config["tasks.max"]) == (NAME, 2, "2")
    assert bench.herder.put_connector_config(NAME, found.config) == (False, found)


def refusals(bench: Bench) -> dict[str, tuple[Callable[[], object], HTTPStatus, str]]:
    herder, config = bench.herder, bench.herder.connector_info(NAME).config
    return {
        "change": (
            lambda: herder.put_connector_config(NAME, {**config, "topics": "x", "new": "y"}),
            HTTPStatus.BAD_REQUEST,
            "new needs a restart\ntopics needs a restart",
        ),
        "make": (lambda: herder.create_connector("x", config, TargetState.STARTED), HTTPStatus.FORBIDDEN, "make"),
        "make by a configuration": (lambda: herder.put_connector_config("x", config), HTTPStatus.FORBIDDEN, "make"),
        "make again": (
            lambda: herder.create_connector(NAME, config, TargetState.STARTED),
            HTTPStatus.CONFLICT,
            "already exists",
        ),
        "delete": (lambda: herder.delete_connector(NAME), HTTPStatus.FORBIDDEN, "To delete connector"),
        "offsets": (lambda: herder.reset_connector_offsets(NAME), HTTPStatus.BAD_REQUEST, "must be in the STOPPED"),
        "unknown": (lambda: herder.connector_info("x"), HTTPStatus.NOT_FOUND, "Connector x not found"),
        "unknown task": (lambda: herder.restart_task(NAME, 2), HTTPStatus.NOT_FOUND, f"Unknown task: {NAME}-2"),
    }


@pytest.mark.parametrize("what", refusals(Bench()))
def test_what_a_command_line_fixes_is_refused(what: str, bench: Bench) -> None:
    ask, status, words = refusals(bench)[what]
    with pytest.raises(ConnectRestError) as error:
        ask()
    assert (error.value.status, words in error.value.message) == (status, True), error.value.message
