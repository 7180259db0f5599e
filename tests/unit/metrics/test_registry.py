"""What streams tell, and what the snapshot makes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import LogPosition, Measured, Progress, Statistics, TransactionTotals
from legacy_mm.metrics.metric_catalogue import LABELS
from legacy_mm.metrics.registry import Registry, Scope, StreamMetrics
from legacy_mm.metrics.window import WindowReading

MIRROR = Scope("mirror")
PRODUCER = Scope("producer", (("client_id", "producer-1"),))
A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


class Bench:
    """A registry with a hand-turned clock and two streams."""

    def __init__(self) -> None:
        self.now = 100.0
        self.registry = Registry("x->y", "producer-1", {"version": "1"}, lambda: self.now)
        self.streams = [self.registry.stream(index, f"g-{index}") for index in range(2)]

    def read(self, scope: Scope, measure: str) -> WindowReading:
        return self.registry.snapshot().readings[scope][measure]

    def lags(self) -> dict[str, float]:
        found = self.registry.snapshot().readings.items()
        return {scope.labels[-1][1]: each["lag"].value for scope, each in found if scope.level == "consumer_partition"}


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    for scope in made.registry.snapshot().readings:
        assert tuple(name for name, _ in scope.labels) == LABELS.get(scope.level, ()), "as the reference page says"


def consumer(index: int) -> Scope:
    return Scope("consumer", (("client_id", f"g-{index}"),))


def client(name: str, counters: dict[str, float], gauges: dict[str, float] | None = None) -> Statistics:
    return Statistics(name, [Measured("client", "", counters, gauges or {}, {}, {})])


def lag(stream: StreamMetrics, **partitions: int) -> None:
    rows = [
        Measured("partition", f"a-{name[1:]}", {}, {"lag": value, "lead": 10 - value}, {}, {})
        for name, value in partitions.items()
    ]
    stream.statistics(Statistics("consumer", rows))


def test_everything_that_has_a_bean_is_there_from_the_start(bench: Bench) -> None:
    assert set(bench.registry.snapshot().readings) == {MIRROR, PRODUCER, consumer(0), consumer(1)}


def test_totals_survive_a_copy_job(bench: Bench) -> None:
    stream = bench.streams[0]
    for records in (10, 25):
        stream.progress(Progress({}, records, {"t": 1}, False))
    stream.copy_ended()
    stream.progress(Progress({}, 5, {}, False))
    assert bench.read(MIRROR, "records").value == 30
    assert bench.read(MIRROR, "dropped").value == bench.read(PRODUCER, "errors").value == 1


def test_transactions_are_counted_where_there_are_some(bench: Bench) -> None:
    transactions = Scope("transactions", (("client_id", "g-0"),))
    stream, other = bench.streams
    other.progress(Progress({}, 1, {}, False))
    stream.progress(Progress({}, 1, {}, False, transactions=TransactionTotals(5, 1, 2, 3, 0.5, 0.7)))
    stream.copy_ended()
    stream.progress(Progress({}, 1, {}, False, transactions=TransactionTotals(4, 0, 0, 3, 0.1, 0.2)))
    assert bench.read(transactions, "committed").value == 9
    assert bench.read(transactions, "given_up").value == 1
    assert bench.read(transactions, "open_seconds").value == 0.2
    found = {scope for scope in bench.registry.snapshot().readings if scope.level == "transactions"}
    assert found == {transactions}, "a stream that copies at least once has none"


def test_the_membership_counts_on_when_a_copy_job_ends(bench: Bench) -> None:
    stream = bench.streams[0]
    stream.statistics(client("member", {"requests": 7}))
    stream.copy_ended()
    stream.statistics(client("member", {"requests": 9}))
    assert bench.read(consumer(0), "requests").value == 9


def test_membership_and_copying_client_are_one_consumer(bench: Bench) -> None:
    stream = bench.streams[0]
    stream.statistics(client("member", {"requests": 2}, {"connections": 1}))
    stream.statistics(client("consumer", {"requests": 40}, {"connections": 2}))
    assert bench.read(consumer(0), "requests").value == 42
    assert bench.read(consumer(0), "connections").value == 3
    stream.copy_ended()
    assert bench.read(consumer(0), "connections").value == 1


def test_the_producers_of_all_streams_are_one(bench: Bench) -> None:
    for index, stream in enumerate(bench.streams):
        stream.statistics(client("producer", {"sent_records": 10 + index}, {"requests_in_flight": 1}))
        stream.progress(Progress({}, 0, {}, index == 0))
    assert bench.read(PRODUCER, "sent_records").value == 21
    assert bench.read(PRODUCER, "requests_in_flight").value == 2
    assert bench.read(PRODUCER, "waiting").value == 1


def test_several_producers_of_one_copy_job_add_up_and_begin_anew_with_the_next(bench: Bench) -> None:
    stream = bench.streams[0]
    for _ in range(2):
        for number in (0, 1, 2):
            told = client("producer", {"sent_records": 10 + number}, {"connections": 1})
            stream.statistics(replace(told, number=number))
        assert bench.read(PRODUCER, "connections").value == 3
        stream.copy_ended()
    assert bench.read(PRODUCER, "sent_records").value == 66


def test_partitions_come_and_go_with_the_assignment(bench: Bench) -> None:
    first, second = bench.streams
    first.assigned(frozenset({A0, A1}))
    lag(first, p0=4, p1=2, p7=1)
    assert bench.lags() == {"0": 4, "1": 2}
    first.owns(frozenset({A1}))
    second.assigned(frozenset({A0}))
    lag(second, p0=3)
    assert bench.lags() == {"1": 2, "0": 3}
    assert bench.read(consumer(0), "assigned").value == 1
    assert bench.read(consumer(0), "rebalances").value == 1


def test_a_consumer_has_the_extremes_of_its_partitions(bench: Bench) -> None:
    stream = bench.streams[0]
    stream.assigned(frozenset({A0, A1}))
    lag(stream, p0=4, p1=2)
    assert (bench.read(consumer(0), "lag").maximum, bench.read(consumer(0), "lead").minimum) == (4, 6)


def test_the_lag_is_unknown_until_a_new_copy_job_tells_it(bench: Bench) -> None:
    stream = bench.streams[0]
    stream.assigned(frozenset({A0}))
    lag(stream, p0=4)
    stream.copy_ended()
    assert math.isnan(bench.lags()["0"])


def test_a_flow_is_behind_as_its_last_partition(bench: Bench) -> None:
    """Numbers of partitions that are not the stream's, or of a job that is over, are no news."""
    first, second = bench.streams
    first.assigned(frozenset({A0}))
    second.assigned(frozenset({A1}))
    lag_names = ("lag_seconds", "lag_is_longer", "caught_up_seconds")

    def told(**places: tuple[int, int]) -> dict[str, dict[str, float]]:
        for stream, name in ((first, "p0"), (second, "p1")):
            rows = [LogPosition("a", int(each[1]), *places[each]) for each in places]
            stream.statistics(Statistics("consumer" if name in places else "member", [], positions=rows))
        return shown()

    def shown() -> dict[str, dict[str, float]]:
        found = bench.registry.snapshot().readings.items()
        return {
            dict(scope.labels).get("partition", "flow"): {name: each[name].value for name in lag_names if name in each}
            for scope, each in found
            if scope.level in {"mirror", "partition"}
        }

    assert shown() == {"flow": {}}
    idle = {"lag_seconds": 0.0}
    assert told(p0=(5, 5)) == {"flow": {**idle, "caught_up_seconds": 0.0}, "0": idle}
    late = {"lag_seconds": 0.0, "lag_is_longer": 1.0}
    assert told(p0=(5, 5), p1=(2, 90)) == {"flow": late, "0": idle, "1": late}
    bench.now += 8
    late["lag_seconds"] = 8.0
    assert told(p0=(5, 5), p1=(12, 90)) == {"flow": {**late, "caught_up_seconds": 62.4}, "0": idle, "1": late}
    second.copy_ended()
    bench.now += 2
    late["lag_seconds"] = 10.0
    assert shown() == {"flow": {**late, "caught_up_seconds": 60.4}, "0": idle, "1": late}
    second.owns(frozenset())
    assert shown() == {"flow": {**idle, "caught_up_seconds": 0.0}, "0": idle}


def test_commits_are_counted_and_timed(bench: Bench) -> None:
    stream = bench.streams[0]
    for seconds in (0.5, 0.1):
        stream.commit_sent()
        bench.now += seconds
        stream.commit_settled()
    stream.commit_settled()
    assert bench.read(consumer(0), "commits").value == 2
    assert bench.read(consumer(0), "commit_ms").average() == pytest.approx(300.0)


def test_an_age_grows_by_itself(bench: Bench) -> None:
    bench.streams[0].assigned(frozenset({A0}))
    bench.now += 12
    assert bench.read(consumer(0), "rebalance").value == 12


def test_brokers_and_topics_have_labels(bench: Bench) -> None:
    rows = [Measured(level, name, {"requests": 1}, {}, {}, {}) for level, name in (("node", "1"), ("topic", "a.b"))]
    bench.streams[0].statistics(Statistics("producer", rows))
    readings = bench.registry.snapshot().readings
    assert Scope("producer_node", (("client_id", "producer-1"), ("node_id", "node-1"))) in readings
    assert Scope("producer_topic", (("client_id", "producer-1"), ("topic", "a.b"))) in readings


def test_a_total_never_falls_when_a_broker_leaves_the_cluster(bench: Bench) -> None:
    """librdkafka drops what it counted of it: its sums fall, and the broker begins at 0 when it is back."""
    node = Scope("consumer_node", (("client_id", "g-0"), ("node_id", "node-1")))
    for connects, requests in ((9, 70), (4, 3), (6, 5)):
        rows = [Measured("client", "", {"connects": connects}, {}, {}, {})]
        rows.append(Measured("node", "1", {"requests": requests}, {}, {}, {}))
        bench.streams[0].statistics(Statistics("consumer", rows))
    assert (bench.read(consumer(0), "connects").value, bench.read(node, "requests").value) == (11, 75)
    assert bench.read(node, "requests").minimum >= 0


def test_what_duties_did_is_added_up(bench: Bench) -> None:
    for changes, failures in ((2, 1), (0, 0), (1, 0)):
        bench.registry.duty("topic-creation", changes, failures)
    scope = Scope("duty", (("duty", "topic-creation"),))
    assert (bench.read(scope, "changes").value, bench.read(scope, "failures").value) == (3, 1)


def test_a_stream_that_is_made_again_goes_on_counting(bench: Bench) -> None:
    """Changed key stores: the totals stay, and its new clients begin at 0."""
    bench.streams[0].statistics(client("member", {"requests": 7}))
    bench.registry.stream(0, "g-0").statistics(client("member", {"requests": 2}))
    assert bench.read(consumer(0), "requests").value == 9
