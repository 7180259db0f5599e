"""Statistics of a real membership (`statistics.json`: the keys we read, recorded from librdkafka 2.16), reduced."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.errors import ChannelError
from legacy_mm.base.reports import Measured, Statistics
from legacy_mm.clients.librdkafka.statistics import reduce_statistics, statistics_properties

RECORDED = json.loads(Path(__file__).with_name("statistics.json").read_text())["member"]


@pytest.fixture
def rows() -> dict[tuple[str, str], Measured]:
    """By level and name."""
    return {(row.level, row.name): row for row in reduce_statistics(RECORDED)}


def test_the_client_s_own_row(rows: dict[tuple[str, str], Measured]) -> None:
    client = rows["client", ""]
    assert client.counters["joins"] == 2
    assert client.counters["exchanges"] == RECORDED["tx"] + RECORDED["rx"]
    assert client.gauges["connections"] == sum(each["state"] == "UP" for each in RECORDED["brokers"].values())


def test_the_coordinator_s_connection_is_a_node_of_its_own(rows: dict[tuple[str, str], Measured]) -> None:
    """As Kafka's clients number it."""
    assert rows["node", "1"].counters["requests"] == 3
    assert rows["node", "2147483646"].counters["requests"] == 8


def test_times_of_answers_are_milliseconds() -> None:
    answered = copy.deepcopy(RECORDED)
    for broker in answered["brokers"].values():
        if broker["nodeid"] == 1:
            broker["rtt"] = {"sum": 9_000, "cnt": 3, "max": 5_000, "min": 1_500}
    found = {row.name: row.spreads for row in reduce_statistics(answered) if row.level == "node"}
    assert found == {"1": {"latency_ms": (9.0, 3, 5.0, 1.5)}, "2147483646": {}}


def test_there_are_no_rows_of_topics(rows: dict[tuple[str, str], Measured]) -> None:
    """A membership reads and writes nothing."""
    assert {level for level, _ in rows} == {"client", "node"}


def test_the_callback_reports_a_frame() -> None:
    got: list[Statistics] = []
    callback: Any = statistics_properties(got.append)["stats_cb"]
    callback(json.dumps(RECORDED))
    assert [frame.client for frame in got] == ["member"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"brokers": {}}'])
def test_the_callback_never_raises(text: str) -> None:
    """An exception in it would end the membership."""
    told: list[Statistics] = []

    def fail(statistics: Statistics) -> None:
        told.append(statistics)
        raise ChannelError("gone")

    callback: Any = statistics_properties(fail)["stats_cb"]
    callback(text)
    callback(json.dumps(RECORDED))
