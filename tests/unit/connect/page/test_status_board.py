"""The board behind the pages: what it gathers, how often it asks, and what it forgets."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from http import HTTPStatus
from unittest.mock import Mock

import pytest

from legacy_mm.connect.entities import ConnectRestError, TargetState
from legacy_mm.connect.page import status_board
from legacy_mm.connect.page.flow_views import FlowState
from legacy_mm.connect.page.partition_rows import partition_rows
from legacy_mm.connect.page.status_board import Sampler, StatusBoard
from legacy_mm.metrics.health import Phase, State
from legacy_mm.metrics.registry import Snapshot
from tests.fakes.herder import FakeHerder, not_found
from tests.fixtures.counted_flows import CountedFlow

EAST, NORTH = "east->west", "north->west"
CONNECTOR = f"{EAST}.MirrorSourceConnector"


class Bench:
    """Two flows, of which one has a connector."""

    def __init__(self) -> None:
        self.flows = [CountedFlow(EAST).assigned(), CountedFlow(NORTH, {"logs": 3}, client_id="n-0").assigned()]
        self.flows[1].reports(1)
        self.herder = FakeHerder()
        self.herder.add(CONNECTOR)
        self.herder.flows[CONNECTOR] = EAST
        self.state = State(Phase.RUNNING, (), {})
        self.taken: Sequence[Snapshot] = ()
        self.take()
        self.board = StatusBoard(self.herder, lambda: self.taken, lambda: self.state)

    def take(self) -> None:
        self.taken = [each.registry.snapshot() for each in self.flows]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_flows_with_connectors_come_first_and_none_is_left_out(bench: Bench) -> None:
    view = bench.board.view()
    assert [(each.name, len(each.connectors), each.partitions) for each in view.flows] == [(EAST, 1, 2), (NORTH, 0, 3)]
    assert (len(view.rows), [each.client_id for each in view.streams]) == (3, ["mirror-0", "n-0"])
    assert not view.actions


def test_a_connector_that_is_just_gone_is_left_out_and_another_error_is_not(bench: Bench) -> None:
    bench.herder.without_status = {CONNECTOR}
    assert [each.connectors for each in bench.board.view().flows] == [[], []]
    bench.herder.failure = ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, "it broke")
    with pytest.raises(ConnectRestError, match="it broke"):
        bench.board.view()


def test_an_order_is_seen_at_once_and_numbers_with_the_next_snapshot(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = Mock(wraps=partition_rows)
    monkeypatch.setattr(status_board, "partition_rows", works)
    for _ in range(3):
        assert bench.board.view().flow(EAST).state is FlowState.RUNNING
    bench.herder.set_target_state(CONNECTOR, TargetState.PAUSED)
    assert bench.board.view().flow(EAST).state is FlowState.PAUSED
    assert works.call_count == 2, "once for each flow of the one snapshot"
    bench.flows[0].reports(7)
    assert str(bench.board.view().flow(EAST).records) == "nan"
    bench.take()
    assert bench.board.view().flow(EAST).records == 14


def test_a_flow_that_is_not_there_is_404(bench: Bench) -> None:
    with pytest.raises(ConnectRestError, match="There is no flow x here") as raised:
        bench.board.view().flow("x")
    assert raised.value.status is not_found("").status


def test_history_is_kept_for_the_flows_that_are_there(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((0.0, 10.0, 20.0, 25.0, 25.0, 26.0, 30.0, 30.0))
    monkeypatch.setattr(status_board, "monotonic", lambda: next(times))
    for _ in range(3):
        bench.board.sample()
    history = bench.board.view().flow(NORTH).history
    assert len(history.points(bench.board.view().flow(NORTH).now)) == 4
    north = bench.flows.pop()
    bench.take()
    bench.board.sample()
    bench.flows.append(north)
    bench.take()
    bench.board.sample()
    found = bench.board.view().flow(NORTH)
    assert [each.at for each in found.history.points(found.now)] == [30, 30]


def test_the_sampler_begins_at_once_and_outlives_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(status_board, "INTERVAL", 0.01)
    board = Mock(StatusBoard)
    third = threading.Event()
    results = iter([None, ValueError("hush-hush")])

    def sample() -> None:
        result = next(results, third)
        if isinstance(result, Exception):
            raise result
        if result is third:
            third.set()

    board.sample = sample
    sampler = Sampler(board)
    assert third.wait(20)
    sampler.close()
    assert "A request to --admin.port failed: the history of the flows (ValueError)" in caplog.messages


def test_streams_that_are_out_of_their_group_are_known_by_the_state(bench: Bench) -> None:
    bench.state = State(Phase.RUNNING, {"mirror-0"}, {})
    bench.take()
    assert bench.board.view().flow(EAST).state is FlowState.OUT_OF_GROUP
