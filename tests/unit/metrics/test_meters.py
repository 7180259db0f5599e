"""Measures of one place: totals outlive the clients that count them, present values do not."""

from __future__ import annotations

import math

from legacy_mm.base.reports import Measured
from legacy_mm.metrics.meters import Age, Counter, Gauge, LatencySpread, Meters


def row(level: str = "client", **values: float) -> Measured:
    return Measured(level, "", {"sent": values["sent"]}, {"queued": values["queued"]}, {}, {})


def test_only_the_growth_of_a_source_is_added() -> None:
    counter = Counter()
    for total in (5.0, 7.0, 7.0):
        counter.observe("a", total, 100.0)
    counter.observe("b", 3.0, 100.0)
    assert counter.read(100.0).value == 10.0


def test_a_sum_that_falls_has_lost_a_broker_or_begun_again() -> None:
    sums, restarts = Counter(), Counter()
    for total in (5.0, 2.0):
        sums.observe("a", total, 100.0)
        restarts.observe("a", total, 100.0, restarts=True)
    assert (sums.read(100.0).value, restarts.read(100.0).value) == (5.0, 7.0)


def test_a_source_that_begins_again_counts_from_zero() -> None:
    counter = Counter()
    counter.observe("a", 5.0, 100.0)
    counter.forget("a")
    counter.observe("a", 5.0, 100.0)
    assert counter.read(100.0).value == 10.0


def test_a_gauge_is_the_sum_of_what_its_sources_say_now() -> None:
    gauge = Gauge()
    assert math.isnan(gauge.read(100.0).value)
    for source, value in (("a", 1.0), ("b", 2.0), ("a", 4.0)):
        gauge.observe(source, value, 100.0)
    assert gauge.read(100.0).value == 6.0
    gauge.forget("a")
    assert gauge.read(100.0).value == 2.0


def test_measurements_that_were_added_up_elsewhere() -> None:
    spread = LatencySpread()
    spread.observe(30.0, 10.0, 9.0, 1.0, 100.0)
    found = spread.read(100.0)
    assert (found.average(), found.maximum, found.minimum) == (3.0, 9.0, 1.0)


def test_an_age_grows_from_the_latest_event() -> None:
    age = Age()
    assert age.read(100.0).value == math.inf
    age.observe(2.0, 100.0)
    age.observe(50.0, 101.0)
    assert age.read(103.0).value == 5.0


def test_counts_of_a_client_that_has_ended_stay() -> None:
    meters = Meters()
    meters.observe("a", row(sent=5.0, queued=3.0), 100.0)
    meters.forget("a")
    found = meters.read(100.0)
    assert found["sent"].value == 5.0 and math.isnan(found["queued"].value)
    meters.observe("a", row(sent=1.0, queued=1.0), 101.0)
    assert meters.read(101.0)["sent"].value == 6.0


def test_only_the_counters_of_a_broker_begin_again() -> None:
    meters = Meters()
    for sent in (5.0, 2.0):
        meters.observe("a", row("node", sent=sent, queued=0.0), 100.0)
    assert meters.read(100.0)["sent"].value == 7.0
