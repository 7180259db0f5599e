"""Statistics of three real clients (`statistics.json`: the keys we read, recorded from librdkafka 2.16), reduced."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.clients.librdkafka.statistics import ClientKind, reduce_statistics, statistics_properties
from legacy_mm.control_channel.frames import Measured, Statistics
from legacy_mm.errors import ChannelError

RECORDED = json.loads(Path(__file__).with_name("statistics.json").read_text())


@pytest.fixture
def recorded() -> Any:
    """A copy that a test may change."""
    return copy.deepcopy(RECORDED)


def rows(client: ClientKind, stats: Any, end_offset: str = "hi_offset") -> dict[tuple[str, str], Measured]:
    """By level and name."""
    return {(row.level, row.name): row for row in reduce_statistics(client, stats, end_offset)}


def test_a_copying_consumer(recorded: Any) -> None:
    found = rows("consumer", recorded["consumer"])
    client = found["client", ""]
    assert client.counters["fetches"] == 13
    assert client.counters["received_records"] == 5000
    assert client.counters["exchanges"] == 18 + 17
    assert client.gauges["connections"] == 2
    assert list(client.spreads["latency_ms"]) == pytest.approx([1010.472, 2, 506.576, 503.896])
    assert list(client.spreads["throttle_ms"]) == [0, 2, 0, 0]
    assert found["topic", "orders.v1"].counters == {"received_records": 1662, "received_bytes": 186144}
    assert found["partition", "orders.v1-0"].gauges == {"lag": 0, "lead": 1662}
    assert ("partition", "orders.v1--1") not in found


def test_the_coordinator_s_connection_is_a_node_of_its_own(recorded: Any) -> None:
    """As Kafka's clients number it."""
    found = rows("member", recorded["member"])
    assert found["node", "1"].counters["requests"] == 3
    assert found["node", "2147483646"].counters["requests"] == 8
    assert found["client", ""].counters["joins"] == 2


def test_a_producer(recorded: Any) -> None:
    found = rows("producer", recorded["producer"])
    assert found["client", ""].counters["sent_records"] == 5000
    assert found["client", ""].gauges["buffer_bytes"] == 1 << 30
    assert found["client", ""].ages == {"metadata": 5.975}
    assert found["topic", "orders.v1"].counters == {"sent_records": 1612, "sent_bytes": 180544}
    assert not [place for place in found if place[0] == "partition"]


def partition(recorded: Any, **values: object) -> Any:
    recorded["consumer"]["topics"]["orders.v1"]["partitions"]["0"].update(values)
    return recorded["consumer"]


def test_lag_ends_where_the_isolation_level_ends(recorded: Any) -> None:
    stats = partition(recorded, hi_offset=1700, ls_offset=1690)
    assert rows("consumer", stats)["partition", "orders.v1-0"].gauges["lag"] == 38
    assert rows("consumer", stats, "ls_offset")["partition", "orders.v1-0"].gauges["lag"] == 28


def test_what_is_fetched_but_not_read_is_lag(recorded: Any) -> None:
    stats = partition(recorded, fetchq_cnt=62, app_offset=1600)
    assert rows("consumer", stats)["partition", "orders.v1-0"].gauges["lag"] == 62


def test_control_records_at_the_end_are_no_lag(recorded: Any) -> None:
    stats = partition(recorded, app_offset=1661)
    assert rows("consumer", stats)["partition", "orders.v1-0"].gauges["lag"] == 0


@pytest.mark.parametrize(
    "unknown", [{"fetch_state": "stopped"}, {"hi_offset": -1001}, {"fetchq_cnt": 1, "app_offset": -1001}]
)
def test_an_unknown_lag_is_absent(recorded: Any, unknown: dict[str, object]) -> None:
    assert ("partition", "orders.v1-0") not in rows("consumer", partition(recorded, **unknown))


def test_an_unknown_lead_is_absent(recorded: Any) -> None:
    assert "lead" not in rows("consumer", partition(recorded, lo_offset=-1001))["partition", "orders.v1-0"].gauges


def test_the_callback_reports_a_frame() -> None:
    got: list[Statistics] = []
    callback: Any = statistics_properties("producer", got.append)["stats_cb"]
    callback(json.dumps(RECORDED["producer"]))
    assert [frame.client for frame in got] == ["producer"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"brokers": {}}'])
def test_the_callback_never_raises(text: str) -> None:
    """An exception in it would lose the records that `consume` holds."""

    def fail(_: Statistics) -> None:
        raise ChannelError("gone")

    callback: Any = statistics_properties("consumer", fail)["stats_cb"]
    callback(text)
    callback(json.dumps(RECORDED["consumer"]))
