"""The counters of a client over our own sockets: totals since the start, measures since the last report."""

from __future__ import annotations

import threading

import pytest

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import SAMPLE_INTERVAL, LogPosition, Measured, Statistics
from legacy_mm.clients.net import traffic
from legacy_mm.clients.net.traffic import Spread, Traffic, TrafficKind

HERE, THERE = TopicPartition("t", 0), TopicPartition("u", 1)


class Counted:
    """A client's counters, and a clock that the test moves."""

    def __init__(self, client: TrafficKind) -> None:
        self.traffic = Traffic(client, lambda reason: None)
        self._reports = 0

    def report(self, monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], Measured]:
        """What is measured when the interval is over, by level and name."""
        return {(each.level, each.name): each for each in self.tell(monkeypatch).measured}

    def tell(self, monkeypatch: pytest.MonkeyPatch) -> Statistics:
        """What is told when the interval is over."""
        now = monotonic() + SAMPLE_INTERVAL * (self._reports + 1)
        self._reports += 1
        monkeypatch.setattr(traffic, "monotonic", lambda: now)
        found = self.traffic.statistics_when_due()
        assert found is not None
        assert self.traffic.statistics_when_due() is None, "not due twice"
        return found


def test_a_spread_is_taken_once() -> None:
    spread = Spread()
    found = [spread.take()]
    for value in (3.0, -1.0, 2.0):
        spread.add(value)
    spread.add_many(10.0, 4, 7.0, 0.5)
    found += [spread.take() for _ in range(2)]
    spread.add(5.0)
    found += [spread.take()]
    assert found == [None, (14.0, 7, 7.0, -1.0), None, (5.0, 1, 5.0, 5.0)], "the old maximum is gone"


def test_requests_count_for_their_node_and_for_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted("producer")
    counted.traffic.connections = lambda: (5, 2)
    counted.traffic.metadata_age = lambda: 1.5
    counted.traffic.gauges = lambda: {"queued": 4}
    counted.traffic.exchanged(1, 100, 10, 0.5, 0)
    counted.traffic.exchanged(2, 200, 20, 0.25, 30)
    counted.traffic.exchanged(1, 1, 1, 0.125, 0)
    found = counted.report(monkeypatch)
    client = found["client", ""]
    assert client.counters["produces"] == client.counters["requests"] == client.counters["responses"] == 3
    assert client.counters["exchanges"] == 6
    assert (client.counters["request_bytes"], client.counters["response_bytes"]) == (301, 31)
    assert (client.counters["connects"], client.counters["disconnects"]) == (5, 3)
    assert client.gauges == {"connections": 2, "queued": 4}
    assert client.ages == {"metadata": 1.5}
    assert client.spreads == {"latency_ms": (875.0, 3, 500.0, 125.0), "throttle_ms": (30, 3, 30, 0)}
    assert found["node", "1"].counters["request_bytes"] == 101
    assert found["node", "2"].spreads["latency_ms"] == (250.0, 1, 250.0, 250.0)


def test_a_member_counts_its_own_totals_and_no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted("member")
    counted.traffic.counters = lambda: {"heartbeats": 3}
    counted.traffic.exchanged(1, 100, 10, 0.5, 0)
    client = counted.report(monkeypatch)["client", ""]
    assert client.counters.keys() == {
        *("requests", "request_bytes", "responses", "response_bytes"),
        *("exchanges", "connects", "disconnects", "heartbeats"),
    }
    assert (client.counters["requests"], client.counters["heartbeats"]) == (1, 3)


def test_totals_go_on_and_measures_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted("producer")
    counted.traffic.exchanged(1, 100, 10, 0.5, 0)
    counted.traffic.carried(HERE, 3, 30)
    counted.report(monkeypatch)
    counted.traffic.carried(HERE, 1, 5)
    client = counted.report(monkeypatch)["client", ""]
    assert client.counters["requests"] == 1
    assert (client.counters["sent_records"], client.counters["sent_bytes"]) == (4, 35)
    assert client.spreads == {"batch_bytes": (5, 1, 5, 5), "batch_records": (1, 1, 1, 1)}
    assert client.ages == {}


def test_topics_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted("consumer")
    counted.traffic.carried(HERE, 3, 30, 3)
    counted.traffic.carried(TopicPartition("t", 1), 1, 10, 1)
    counted.traffic.carried(THERE, 2, 20, 2)
    found = counted.report(monkeypatch)
    assert found["topic", "t"].counters == {"received_records": 4, "received_bytes": 40}
    assert found["topic", "u"].counters == {"received_records": 2, "received_bytes": 20}
    assert "batch_bytes" not in found["client", ""].spreads, "a fetch has no batches of our making"


@pytest.mark.parametrize(
    ("log", "position", "gauges"),
    [
        ((10, 100), 40, {"lag": 60, "lead": 30}),
        ((10, 100), 100, {"lag": 0, "lead": 90}),
        ((10, 100), 120, {"lag": 0, "lead": 110}),
        ((-1, 100), 40, {"lag": 60}),
        ((10, -1), 40, {"lead": 30}),
    ],
)
def test_lag_and_lead_of_a_partition(
    log: tuple[int, int], position: int, gauges: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted("consumer")
    counted.traffic.passed(HERE, position)
    counted.traffic.note_log(HERE, *log)
    assert counted.report(monkeypatch)["partition", "t-0"].gauges == gauges
    assert (counted.traffic.log_begin(HERE), counted.traffic.log_begin(THERE)) == (log[0], -1)


def test_what_is_carried_and_not_at_the_target_yet_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lag of Kafka's consumers is that of reading; that in seconds is of what the target has."""
    counted, third = Counted("consumer"), TopicPartition("v", 0)
    for partition, end in ((HERE, 100), (THERE, 50), (third, -1)):
        counted.traffic.passed(partition, 40)
        counted.traffic.note_log(partition, 10, end)
    counted.traffic.first_missing = lambda: {HERE: 25}
    assert counted.tell(monkeypatch).positions == [LogPosition(*HERE, 25, 100), LogPosition(*THERE, 40, 50)]
    counted.traffic.first_missing = dict
    assert counted.tell(monkeypatch).positions[0] == LogPosition(*HERE, 40, 100)
    assert counted.report(monkeypatch)["partition", "t-0"].gauges["lag"] == 60


def test_threads_lose_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted("producer")

    def count() -> None:
        for _ in range(2_000):
            counted.traffic.exchanged(1, 1, 1, 0.0, 0)
            counted.traffic.carried(HERE, 1, 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counters = counted.report(monkeypatch)["client", ""].counters
    assert (counters["requests"], counters["sent_records"]) == (8_000, 8_000)
