"""A flow as the status page shows it: one word for its state, how far it is behind, and what needs somebody."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple

from legacy_mm.connect.entities import ConnectorInfo, ConnectorStatus, ReportedState
from legacy_mm.connect.page.fail_over import FailOver, fail_over
from legacy_mm.connect.page.flow_history import COUNTS, Course, FlowHistory, Point, Trend
from legacy_mm.connect.page.flow_numbers import FlowNumbers, known
from legacy_mm.logs import events
from legacy_mm.logs.recent_lines import advice
from legacy_mm.metrics.health import Phase, State
from legacy_mm.words.mirror_maker_2.connector_properties import kind_of

Tone = Literal["good", "notable", "bad", "off"]
_LATE_SECONDS = 60.0


class FlowState(Enum):
    """The state of a flow: a sign and a word, which a colour only repeats."""

    RUNNING = ("✓", "running", "good")
    CATCHES_UP = ("▲", "catches up", "good")
    FALLS_BEHIND = ("▼", "falls behind", "notable")
    STANDS_STILL = ("!", "stands still", "bad")
    WAITS_FOR_TARGET = ("!", "waits for the target", "notable")
    OUT_OF_GROUP = ("!", "out of the group", "bad")
    PAUSED = ("‖", "paused", "off")
    STOPPED = ("■", "stopped", "off")
    STARTING = ("…", "starting", "off")
    STOPPING = ("…", "stopping", "off")
    FAILED = ("✗", "failed", "bad")

    @property
    def sign(self) -> str:
        """The sign before the word."""
        return self.value[0]

    @property
    def word(self) -> str:
        """The word."""
        return self.value[1]

    @property
    def tone(self) -> Tone:
        """The colour that repeats it."""
        return self.value[2]


class ConnectorView(NamedTuple):
    """One connector of a flow."""

    info: ConnectorInfo
    status: ConnectorStatus

    @property
    def state(self) -> ReportedState:
        """The state that Connect's API reports."""
        return self.status.connector.state

    @property
    def does_copy(self) -> bool:
        """True for the connector that copies records."""
        return kind_of(self.info.config.get("connector.class", "")) == "source"

    @property
    def actions(self) -> Sequence[str]:
        """The actions that make a difference in its state."""
        match self.state:
            case ReportedState.STOPPED:
                return ("resume",)
            case ReportedState.PAUSED:
                return ("resume", "stop")
            case ReportedState.FAILED:
                return ("restart", "stop")
        return ("pause", "stop", "restart") if self.does_copy else ("pause", "stop")


class Trouble(NamedTuple):
    """A number of things that should not happen."""

    name: str
    """One of `COUNTS`."""
    last_hour: float
    total: float

    @property
    def word(self) -> str:
        """The things that are counted."""
        return _COUNT_TEXTS[self.name][0]


class Need(NamedTuple):
    """A thing that needs somebody."""

    text: str
    advice: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class FlowView:
    """One flow."""

    name: str
    state: FlowState
    tone: Tone
    reason: str
    trend: Trend
    long_trend: Trend
    """The trend of the last quarter of an hour."""
    seconds: float
    records: float
    is_longer: bool
    """It is behind for longer than `seconds`."""
    rate: float
    """Records a second."""
    byte_rate: float
    streams: int
    partitions: int
    counts: Sequence[Trouble]
    connectors: Sequence[ConnectorView]
    fail_over: FailOver
    history: FlowHistory
    now: Point


_MOVING = (
    FlowState.RUNNING,
    FlowState.CATCHES_UP,
    FlowState.FALLS_BEHIND,
    FlowState.STANDS_STILL,
    FlowState.WAITS_FOR_TARGET,
)
"""The states of a flow that goes somewhere."""
_COUNT_TEXTS: Mapping[str, tuple[str, Tone, events.Event]] = {
    "dropped": ("records not sent", "bad", events.NOT_SENT),
    "gaps": ("gaps in the offsets of the source", "bad", events.GAP),
    "skipped": ("offsets skipped", "notable", events.SKIPPED),
    "quarantined": ("records set aside", "notable", events.REFUSED),
    "failures": ("failures of features", "notable", events.DUTY_FAILED),
}
"""Name of a count -> what is counted, how bad it is, and the event whose advice holds."""
_MEASURES = {
    "dropped": ("mirror", "dropped"),
    "gaps": ("mirror", "gaps"),
    "skipped": ("mirror", "skipped_offsets"),
    "quarantined": ("mirror", "quarantined"),
    "failures": ("duty", "failures"),
}


def point_of(numbers: FlowNumbers, at: float) -> Point:
    """Return a flow as it is now."""
    counts = {name: numbers.summed(*_MEASURES[name]) for name in COUNTS}
    return Point(
        at,
        numbers.summed("mirror", "records"),
        numbers.lag,
        numbers.greatest("mirror", "lag_seconds"),
        counts,
    )


def flow_view(
    name: str,
    numbers: FlowNumbers,
    connectors: Sequence[ConnectorView],
    history: FlowHistory,
    state: State,
    now: float,
) -> FlowView:
    """Return what is shown of a flow; `now` is in monotonic seconds."""
    point = point_of(numbers, now)
    trend = history.trend(point)
    found, reason = _state(name, numbers, connectors, trend, state)
    last_hour = history.last_hour(point)
    counts = [Trouble(each, last_hour[each], point.counts[each]) for each in COUNTS]
    caught_up = numbers.greatest("mirror", "caught_up_seconds")
    if trend.course is Course.CATCHES_UP and caught_up > 0:
        trend = trend._replace(seconds=caught_up)
    return FlowView(
        name=name,
        state=found,
        tone=_tone(found, counts, point),
        reason=reason,
        trend=trend if found in _MOVING else Trend(Course.UNKNOWN),
        long_trend=history.long_trend(point) if found in _MOVING else Trend(Course.UNKNOWN),
        seconds=point.seconds,
        records=point.lag,
        is_longer=not math.isnan(numbers.greatest("mirror", "lag_is_longer")),
        rate=numbers.rate("mirror", "records"),
        byte_rate=numbers.rate("consumer", "received_bytes"),
        streams=len(numbers.streams),
        partitions=int(known(numbers.partitions, 0)),
        counts=counts,
        connectors=connectors,
        fail_over=fail_over(numbers),
        history=history,
        now=point,
    )


def _state(
    name: str, numbers: FlowNumbers, connectors: Sequence[ConnectorView], trend: Trend, state: State
) -> tuple[FlowState, str]:
    """Return the state of a flow, and why it is no better one."""
    copying = next((each for each in connectors if each.does_copy), connectors[0] if connectors else None)
    reported = ReportedState.RUNNING if copying is None else copying.state
    if state.phase is Phase.STOPPING:
        return FlowState.STOPPING, str(state.phase.value)
    if reported is ReportedState.STOPPED:
        return FlowState.STOPPED, "it was stopped here"
    if reported is ReportedState.PAUSED:
        return FlowState.PAUSED, "it was paused here"
    if reported is ReportedState.FAILED or name in state.failed:
        return FlowState.FAILED, state.failed.get(name, "" if copying is None else copying.status.connector.trace)
    if state.phase is Phase.STARTING or reported is ReportedState.UNASSIGNED:
        return FlowState.STARTING, ""
    if not numbers.streams:
        is_idle = copying is not None and not copying.does_copy
        return (FlowState.RUNNING if is_idle else FlowState.STARTING), ""
    if outside := [each for each in numbers.streams if not each.is_member]:
        names = ", ".join(each.client_id for each in outside)
        if not any(each.rebalances > 0 for each in outside):
            return FlowState.STARTING, f"{names} has no assignment yet"
        return FlowState.OUT_OF_GROUP, f"{names} is no member of its group"
    if trend.course is Course.STANDS_STILL:
        if state.unwritable:
            return FlowState.WAITS_FOR_TARGET, "its records wait for topics that cannot be written"
        return FlowState.STANDS_STILL, "there is a lag, and nothing is copied"
    if trend.course is Course.CATCHES_UP:
        return FlowState.CATCHES_UP, ""
    if trend.course is Course.FALLS_BEHIND:
        return FlowState.FALLS_BEHIND, "more arrives than is copied"
    return FlowState.RUNNING, ""


def _tone(state: FlowState, counts: Sequence[Trouble], point: Point) -> Tone:
    if state.tone == "off":
        return "off"
    found = [state.tone, *(_COUNT_TEXTS[each.name][1] for each in counts if each.last_hour)]
    if point.seconds > _LATE_SECONDS:
        found.append("notable")
    return max(found, key=("good", "notable", "bad").index)


def needs(flows: Sequence[FlowView], state: State) -> list[Need]:
    """Return what needs somebody, the worst first; none if all is well."""
    found = [
        Need(f"{flow.name} {flow.state.word}: {flow.reason}", _advice_for(flow.state), "bad")
        for flow in flows
        if flow.state in (FlowState.FAILED, FlowState.OUT_OF_GROUP, FlowState.STANDS_STILL)
    ]
    for topic, why in sorted(state.unwritable.items()):
        text = f"Topic {topic} cannot be written at the target ({why})"
        found.append(Need(text, advice(events.TOPIC_WAITS.text), "notable"))
    for flow in flows:
        for count in flow.counts:
            if count.last_hour:
                text, tone, event = _COUNT_TEXTS[count.name]
                said = f"{flow.name}: {count.last_hour:,.0f} {text} in the last hour"
                found.append(Need(said, advice(event.text), tone))
    return sorted(found, key=lambda need: need.tone != "bad")


def _advice_for(state: FlowState) -> str:
    match state:
        case FlowState.FAILED:
            return advice(events.FLOW_FAILED.text)
        case FlowState.OUT_OF_GROUP:
            return advice(events.LOST.text)
    return "Look at the events, and whether source and target answer."
