"""The board behind the pages: what it gathers, how often it asks, and what it forgets."""

from __future__ import annotations

import threading
from http import HTTPStatus
from queue import SimpleQueue
from typing import cast

import pytest

from legacy_mm.connect.entities import ConnectRestError, TargetState
from legacy_mm.connect.page import status_board
from legacy_mm.connect.page.flow_views import FlowState
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
        self.now = self.cost = 0.0
        self.taken = 0
        self.board = StatusBoard(self.herder, self.take, lambda: self.state, clock=lambda: self.now)

    def take(self) -> list[Snapshot]:
        self.taken += 1
        self.now += self.cost
        return [each.registry.snapshot() for each in self.flows]


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


def test_an_order_is_seen_at_once_and_numbers_after_a_second(bench: Bench) -> None:
    assert bench.board.view().flow(EAST).state is FlowState.RUNNING
    bench.herder.set_target_state(CONNECTOR, TargetState.PAUSED)
    bench.flows[0].reports(7)
    bench.now += 0.9
    found = bench.board.view()
    assert (found.flow(EAST).state, str(found.flow(EAST).records)) == (FlowState.PAUSED, "nan")
    assert bench.taken == 1
    bench.now += 0.1
    assert bench.board.view().flow(EAST).records == 14
    assert bench.taken == 2


def test_where_numbers_are_dear_no_request_waits_for_them_and_they_take_a_small_part_of_the_time(bench: Bench) -> None:
    bench.cost = 0.5
    bench.board.view()
    bench.flows[0].reports(7)
    bench.now += 4.4
    bench.board.view()
    assert not bench.board.wanted.is_set(), "half a second of each five"
    bench.now += 0.1
    found = bench.board.view()
    assert (str(found.flow(EAST).records), bench.taken, bench.board.wanted.is_set()) == ("nan", 1, True)
    bench.board.refresh()
    assert (bench.board.view().flow(EAST).records, bench.taken) == (14, 2)


def test_a_flow_that_is_not_there_is_404(bench: Bench) -> None:
    with pytest.raises(ConnectRestError, match="There is no flow x here") as raised:
        bench.board.view().flow("x")
    assert raised.value.status is not_found("").status


def test_history_is_kept_for_the_flows_that_are_there(bench: Bench) -> None:
    for _ in range(3):
        bench.board.sample()
        bench.now += 10
    found = bench.board.view().flow(NORTH)
    assert [each.at for each in found.history.points(found.now)] == [0, 10, 20, 30]
    north = bench.flows.pop()
    bench.now += 10
    bench.board.sample()
    bench.flows.append(north)
    bench.now += 10
    bench.board.sample()
    found = bench.board.view().flow(NORTH)
    assert [each.at for each in found.history.points(found.now)] == [50, 50]


class Board:
    """What a sampler asks; the second sample fails."""

    def __init__(self) -> None:
        self.wanted = threading.Event()
        self.calls: SimpleQueue[str] = SimpleQueue()
        self.failures = iter([None, ValueError("hush-hush")])

    def sample(self) -> None:
        self.calls.put("sample")
        if (failure := next(self.failures, None)) is not None:
            raise failure

    def refresh(self) -> None:
        self.calls.put("refresh")


def test_the_sampler_begins_at_once_and_outlives_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(status_board, "INTERVAL", 0.01)
    board = Board()
    sampler = Sampler(cast("StatusBoard", board))
    assert [board.calls.get(timeout=20) for _ in range(3)] == ["sample"] * 3
    sampler.close()
    assert "A request to --admin.port failed: the history of the flows (ValueError)" in caplog.messages


def test_the_sampler_gathers_what_is_wanted_meanwhile() -> None:
    board = Board()
    sampler = Sampler(cast("StatusBoard", board))
    assert board.calls.get(timeout=20) == "sample"
    board.wanted.set()
    assert board.calls.get(timeout=20) == "refresh"
    sampler.close()
    assert not sampler._thread.is_alive()


def test_streams_that_are_out_of_their_group_are_known_by_the_state(bench: Bench) -> None:
    bench.state = State(Phase.RUNNING, {"mirror-0"}, {})
    assert bench.board.view().flow(EAST).state is FlowState.OUT_OF_GROUP
