"""Flows of one process that would copy a topic in a circle do not copy it, and say so once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features.heartbeats.feature import HEARTBEATS
from legacy_mm.features.heartbeats.flags import HeartbeatSettings
from legacy_mm.features.naming.flags import NamingSettings
from legacy_mm.features.naming.policy_names import DEFAULT, IDENTITY
from legacy_mm.logs.events import CIRCLE
from legacy_mm.words.java_clients.client_properties.apply import Translated
from legacy_mm.words.java_clients.client_properties.native import NativeProperties
from legacy_mm.words.java_clients.client_properties.rule import PropertyReading
from legacy_mm.words.mirror_maker_2.circle_guard import Circles
from legacy_mm.words.mirror_maker_2.driver_file import Pair
from legacy_mm.words.mirror_maker_2.flow_translation import FlowRun
from tests.unit.flow_settings import flow_settings

THERE, BACK = Pair("A", "B"), Pair("B", "A")


class Pattern:
    """A Java pattern that Python reads as well."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(filter(self._pattern.fullmatch, names))


def run(
    pair: Pair,
    policy: str = IDENTITY,
    pattern: str = ".*",
    streams: int = 1,
    *,
    separator: str = ".",
    heartbeats: HeartbeatSettings | None = None,
    filters: bool = False,
) -> FlowRun:
    """A flow of MirrorMaker 2's file."""
    settings = flow_settings()
    naming = NamingSettings(policy, pair.source, pair.target, separator, copies_own_names=True)
    features = replace(settings.features, naming=naming).having(HEARTBEATS, heartbeats)
    topics = replace(settings.topics, pattern=pattern)
    changed = replace(settings, features=features, topics=topics, streams=streams)
    untold = Translated({}, PropertyReading("consumer", {}), (), {}, NativeProperties())
    return FlowRun(pair, changed, (), (), ("MirrorSourceConnector",), untold, untold, filters)


def circles(*runs: FlowRun) -> Circles:
    return Circles(runs, lambda: Pattern)


def test_a_topic_that_comes_back_under_its_name_is_left_out_by_both() -> None:
    guard = circles(run(THERE), run(BACK))
    assert guard.closed_by(THERE, "orders")
    assert guard.closed_by(BACK, "orders")


@pytest.mark.parametrize(
    "back",
    [
        run(BACK, policy=DEFAULT, pattern="orders"),
        run(BACK, pattern="other"),
        run(BACK, streams=0),
        run(BACK, filters=True),
        run(Pair("B", "C")),
    ],
    ids=["renamed on its way", "not mirrored back", "copies nothing", "filters records", "elsewhere"],
)
def test_what_does_not_come_back_is_copied(back: FlowRun) -> None:
    assert not circles(run(THERE), back).closed_by(THERE, "orders")


def test_a_flow_that_cannot_run_closes_no_circle_and_stops_no_other() -> None:
    guard = Circles([run(THERE), run(BACK, pattern="[")], lambda: compiled)
    assert not guard.closed_by(THERE, "orders")


def compiled(pattern: str) -> Pattern:
    if pattern == "[":
        raise ConfigurationError("no pattern")
    return Pattern(pattern)


def test_it_is_said_once_with_the_way(caplog: pytest.LogCaptureFixture) -> None:
    guard = circles(run(THERE), run(BACK))
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: guard.closed_by(THERE, "orders"), range(40))) == {True}
    assert [vars(line)["event"] for line in caplog.records] == [CIRCLE]
    assert "orders is not mirrored by A->B, because it would come back to A as itself by A->B, B->A:" in caplog.text


DOTTED = Pair("dc1.prod", "dc2.prod"), Pair("dc2.prod", "dc1.prod")
EMITTED = HeartbeatSettings(interval=1.0, replication_factor=1, replicated=True)
UNTOLD = HeartbeatSettings(interval=None, replication_factor=1, replicated=True)


def refusal(*runs: FlowRun) -> str:
    """Why the first flow is refused."""
    try:
        circles(*runs).check(runs[0].pair)
    except ConfigurationError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("separator", [".", "-"])
@pytest.mark.parametrize("policy", [DEFAULT, IDENTITY])
def test_aliases_that_hold_the_separator_are_refused_where_a_topic_would_go_round(policy: str, separator: str) -> None:
    there, back = (Pair(pair.source.replace(".", separator), pair.target.replace(".", separator)) for pair in DOTTED)
    words: dict[str, Any] = {"policy": policy, "separator": separator, "heartbeats": EMITTED}
    runs = run(there, **words), run(back, **words)
    said = refusal(*runs)
    grown = separator.join(("dc2", "prod", "dc1", "prod", "heartbeats"))
    assert said.startswith(f"heartbeats of {there.source} would come back as {grown}, and again under a longer")
    assert (
        "choose aliases that do not hold replication.policy.separator" in said
        and "heartbeats.replication.enabled=false" in said
    )
    assert refusal(*runs[::-1])


def test_any_topic_may_go_round_as_well() -> None:
    said = refusal(*(run(pair, DEFAULT) for pair in DOTTED))
    assert "a topic called topic of dc1.prod would come back as dc2.prod.dc1.prod.topic" in said
    assert "topics.exclude" in said


@pytest.mark.parametrize(
    "runs",
    [
        [run(DOTTED[0], DEFAULT, heartbeats=EMITTED)],
        [run(pair, DEFAULT, heartbeats=EMITTED) for pair in (Pair("dc1", "dc2.prod"), Pair("dc2.prod", "dc1"))],
        [run(pair, DEFAULT, "orders", heartbeats=UNTOLD) for pair in DOTTED],
        [run(pair, DEFAULT, heartbeats=EMITTED, filters=True) for pair in DOTTED],
        [run(DOTTED[0], DEFAULT, heartbeats=EMITTED), run(DOTTED[1], DEFAULT, streams=0, heartbeats=EMITTED)],
        [run(DOTTED[0], IDENTITY), run(DOTTED[1], IDENTITY, "other")],
    ],
    ids=["one way", "one of two", "no copy matches", "filters records", "only heartbeats come back", "kept"],
)
def test_aliases_that_hold_the_separator_run_where_nothing_goes_round(runs: list[FlowRun]) -> None:
    assert not refusal(*runs)


def test_where_one_flow_keeps_names_and_the_other_does_not_they_grow_as_well(caplog: pytest.LogCaptureFixture) -> None:
    guard = circles(run(THERE), run(BACK, DEFAULT))
    guard.check(THERE)
    assert guard.closed_by(THERE, "orders")
    assert "as B.orders, and again under a longer name each time, by A->B, B->A" in caplog.text
    assert "or let names begin with the alias" in caplog.text


def test_a_topic_that_would_go_round_under_longer_names_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    guard = circles(*(run(pair, DEFAULT, ".*orders") for pair in DOTTED))
    guard.check(DOTTED[0])
    assert guard.closed_by(DOTTED[0], "orders") and not guard.closed_by(DOTTED[0], "others")
    assert "come back to dc1.prod as dc2.prod.dc1.prod.orders, and again under a longer name each time," in caplog.text


def test_java_is_not_asked_before_a_topic_is() -> None:
    """The guard is made before Java runs."""

    def no_java() -> type[Pattern]:
        raise AssertionError

    Circles([run(THERE)], no_java).check(THERE)
