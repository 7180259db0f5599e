"""A flow in one word, its colour, and what needs somebody."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from legacy_mm.connect.entities import ConnectorInfo, ConnectorStatus, Reported, ReportedState
from legacy_mm.connect.page.flow_history import INTERVAL, Course, FlowHistory
from legacy_mm.connect.page.flow_numbers import MEASURES, FlowNumbers, numbers_of
from legacy_mm.connect.page.flow_views import (
    ConnectorView,
    FlowState,
    FlowView,
    flow_view,
    needs,
    point_of,
)
from legacy_mm.metrics.health import Phase, State
from legacy_mm.metrics.registry import Scope
from tests.fixtures.counted_flows import CountedFlow

RUNNING = State(Phase.RUNNING, (), {})
NAME = "east->west"


class Ticks:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """A flow over time."""

    def __init__(self) -> None:
        self.clock = Ticks()
        self.flow = CountedFlow(clock=self.clock)
        self.history = FlowHistory()
        self.state = RUNNING
        self.connectors: list[ConnectorView] = []
        self.report(ReportedState.RUNNING)

    def report(self, state: ReportedState, kind: str = "Source", trace: str = "") -> None:
        """The herder reports one connector in this state."""
        info = ConnectorInfo(f"x.{kind}", {"connector.class": f"org.apache.Mirror{kind}Connector"}, 1, flow=NAME)
        self.connectors = [ConnectorView(info, ConnectorStatus(info.name, Reported(state, "here", trace), ()))]

    def numbers(self) -> FlowNumbers:
        registry = self.flow.registry
        return numbers_of([registry.snapshot(MEASURES)], registry.without_assignment())

    def goes_on(self, copied: int, lag: float, seconds: int = 60) -> None:
        """Copy so many records in each interval of that time; the lag is that at its end."""
        begin = sum(row.records for row in self.numbers().rows if not math.isnan(row.records))
        steps = int(seconds / INTERVAL)
        for step in range(1, steps + 1):
            self.history.add(point_of(self.numbers(), self.clock.now))
            self.clock.now += INTERVAL
            self.flow.copies(copied)
            self.flow.reports((begin + (lag - begin) * step / steps) / len(self.flow.partitions))

    def view(self) -> FlowView:
        return flow_view(NAME, self.numbers(), self.connectors, self.history, self.state, self.clock.now)

    def shown(self) -> tuple[FlowState, str]:
        found = self.view()
        return found.state, found.tone


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_flow_starts_until_its_streams_have_an_assignment(bench: Bench) -> None:
    bench.history.add(point_of(bench.numbers(), bench.clock.now))
    bench.clock.now += 30
    assert bench.shown() == (FlowState.STARTING, "off")
    assert (math.isnan(bench.view().records), bench.view().trend.course) == (True, Course.UNKNOWN)
    bench.flow.assigned()
    assert bench.shown() == (FlowState.RUNNING, "good")
    bench.flow.stream.owns(frozenset())
    assert bench.view().records == 0, "others have all partitions"
    bench.flow.stream.left_group()
    assert bench.shown() == (FlowState.OUT_OF_GROUP, "bad")
    assert math.isnan(bench.view().records)
    assert "mirror-0" in bench.view().reason


def test_a_flow_lags_catches_up_and_stands_still(bench: Bench) -> None:
    bench.flow.assigned()
    bench.flow.reports(0)
    bench.goes_on(1_000, 0)
    assert bench.shown() == (FlowState.RUNNING, "good")
    bench.goes_on(1_000, 90_000)
    assert bench.shown() == (FlowState.FALLS_BEHIND, "notable")
    bench.goes_on(1_000, 50_000)
    assert bench.shown() == (FlowState.CATCHES_UP, "good")
    bench.goes_on(0, 50_000)
    assert bench.shown() == (FlowState.STANDS_STILL, "bad")
    bench.state = State(Phase.RUNNING, (), {"orders": "no leader"})
    assert bench.shown() == (FlowState.WAITS_FOR_TARGET, "notable")


def test_a_flow_has_the_trend_of_a_quarter_of_an_hour_too(bench: Bench) -> None:
    bench.flow.assigned()
    bench.flow.reports(0)
    bench.goes_on(1_000, 90_000, 300)
    bench.goes_on(1_000, 50_000)
    assert [each.course for each in (bench.view().trend, bench.view().long_trend)] == [
        Course.CATCHES_UP,
        Course.FALLS_BEHIND,
    ]
    bench.report(ReportedState.PAUSED)
    assert bench.view().long_trend.course is Course.UNKNOWN


@pytest.mark.parametrize(
    ("reported", "found"),
    [
        (ReportedState.PAUSED, (FlowState.PAUSED, "off")),
        (ReportedState.STOPPED, (FlowState.STOPPED, "off")),
        (ReportedState.UNASSIGNED, (FlowState.STARTING, "off")),
        (ReportedState.FAILED, (FlowState.FAILED, "bad")),
    ],
)
def test_what_the_herder_reports_comes_first(
    bench: Bench, reported: ReportedState, found: tuple[FlowState, str]
) -> None:
    bench.flow.assigned()
    bench.flow.reports(0)
    bench.goes_on(1_000, 90_000)
    bench.report(reported, trace="it broke")
    assert bench.shown() == found
    assert bench.view().trend.course is Course.UNKNOWN
    assert (bench.view().reason == "it broke") == (reported is ReportedState.FAILED)


@pytest.mark.parametrize(
    ("phase", "found"), [(Phase.STARTING, FlowState.STARTING), (Phase.STOPPING, FlowState.STOPPING)]
)
def test_the_phase_of_the_process_is_that_of_its_flows(bench: Bench, phase: Phase, found: FlowState) -> None:
    bench.flow.assigned()
    bench.state = State(phase, (), {})
    assert bench.shown() == (found, "off")


def test_a_flow_of_heartbeats_alone_runs_without_streams(bench: Bench) -> None:
    bench.report(ReportedState.RUNNING, "Heartbeat")
    found = flow_view(NAME, FlowNumbers((), (), ()), bench.connectors, bench.history, RUNNING, 0)
    assert found.state is FlowState.RUNNING


@pytest.mark.parametrize(
    ("counted", "tone", "words"),
    [
        ({"quarantined": 14}, "notable", "14 records set aside in the last hour"),
        ({"dropped": {"orders": 3}}, "bad", "3 records not sent in the last hour"),
    ],
)
def test_what_went_wrong_in_the_last_hour_needs_somebody(
    bench: Bench, counted: Mapping[str, object], tone: str, words: str
) -> None:
    bench.flow.assigned()
    bench.history.add(point_of(bench.numbers(), bench.clock.now))
    bench.flow.copies(10, **counted)  # type: ignore[arg-type]
    bench.clock.now += 20
    (need,) = needs([bench.view()], RUNNING)
    assert (need.text, need.tone, bool(need.advice)) == (f"{NAME}: {words}", tone, True)
    assert bench.view().tone == tone
    bench.clock.now += 3_700
    bench.history.add(point_of(bench.numbers(), bench.clock.now))
    assert needs([bench.view()], RUNNING) == []
    assert bench.view().tone == "good"


def test_a_flow_that_is_late_by_minutes_is_notable(bench: Bench) -> None:
    bench.flow.assigned()
    bench.flow.reports(5)
    bench.clock.now += 59
    bench.flow.reports(5)
    assert (bench.view().tone, bench.view().seconds, bench.view().is_longer) == ("good", 59, True)
    bench.clock.now += 2
    bench.flow.reports(5)
    assert (bench.view().tone, bench.view().seconds) == ("notable", 61)


def test_the_worst_needs_come_first_each_with_what_to_do(bench: Bench) -> None:
    state = State(Phase.RUNNING, (), {"orders": "no leader"}, {NAME: "it broke"})
    bench.state = state
    failed, topic = needs([bench.view()], state)
    assert (failed.text, failed.tone) == (f"{NAME} failed: it broke", "bad")
    assert failed.advice.startswith("Remove the reason on the line")
    assert (topic.text, topic.tone) == ("Topic orders cannot be written at the target (no leader)", "notable")
    assert topic.advice.startswith("See docs/how-to/troubleshoot.md")


@pytest.mark.parametrize(
    ("kind", "reported", "actions"),
    [
        ("Source", ReportedState.RUNNING, ("pause", "stop", "restart")),
        ("Heartbeat", ReportedState.RUNNING, ("pause", "stop")),
        ("Source", ReportedState.UNASSIGNED, ("pause", "stop", "restart")),
        ("Source", ReportedState.PAUSED, ("resume", "stop")),
        ("Source", ReportedState.STOPPED, ("resume",)),
        ("Source", ReportedState.FAILED, ("restart", "stop")),
    ],
)
def test_only_what_makes_a_difference_is_offered(
    bench: Bench, kind: str, reported: ReportedState, actions: Sequence[str]
) -> None:
    bench.report(reported, kind)
    assert bench.connectors[0].actions == actions


def test_when_it_is_done_comes_from_the_metrics_where_they_know(bench: Bench) -> None:
    bench.flow.assigned()
    bench.flow.reports(25_000)
    bench.goes_on(1_000, 40_000)
    snapshot = bench.flow.registry.snapshot()
    known = snapshot.readings[Scope("mirror")]["caught_up_seconds"].value
    assert known == pytest.approx(240)
    assert bench.view().trend.seconds == known
