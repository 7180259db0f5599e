"""Flows of one process that would copy a topic in a circle do not copy it, and say so once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from legacy_mm.compat.client_properties.apply import Translated
from legacy_mm.compat.client_properties.rule import PropertyReading
from legacy_mm.dedicated.circle_guard import Circles
from legacy_mm.dedicated.driver_file import Pair
from legacy_mm.dedicated.flow_translation import FlowRun
from legacy_mm.errors import ConfigurationError
from legacy_mm.features.naming.policy_names import DEFAULT, IDENTITY
from legacy_mm.logs.events import CIRCLE
from tests.unit.flow_settings import flow_settings

THERE, BACK = Pair("A", "B"), Pair("B", "A")


class Pattern:
    """A Java pattern that Python reads as well."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(filter(self._pattern.fullmatch, names))


def run(pair: Pair, policy: str = IDENTITY, pattern: str = ".*", streams: int = 1, *, filters: bool = False) -> FlowRun:
    settings = flow_settings()
    naming = replace(settings.features.naming, policy=policy, source_alias=pair.source, target_alias=pair.target)
    features = replace(settings.features, naming=naming)
    topics = replace(settings.topics, pattern=pattern)
    changed = replace(settings, features=features, topics=topics, streams=streams)
    untold = Translated({}, PropertyReading("consumer", {}), (), {}, {})
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
        run(BACK, policy=DEFAULT),
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
    assert vars(caplog.records[0])["fields"] == {"topic": "orders", "flow": THERE, "source": "A", "way": "A->B, B->A"}


def test_java_is_not_asked_before_a_topic_is() -> None:
    """The guard is made before Java runs."""

    def no_java() -> type[Pattern]:
        raise AssertionError

    Circles([run(THERE)], no_java)
