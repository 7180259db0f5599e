"""Windowed numbers, as Kafka's `Rate`, `Avg` and `Max` with two samples of 30 s give them."""

from __future__ import annotations

import math

import pytest

from legacy_mm.metrics.window import Window


def test_a_first_record_is_spread_over_one_sample() -> None:
    window = Window()
    window.record(60.0, 100.0)
    assert window.read(0.0, 101.0).rate() == 2.0


def test_a_rate_is_over_the_time_that_the_samples_span() -> None:
    window = Window()
    for second in range(0, 50, 10):
        window.record(10.0, 100.0 + second)
    assert window.read(0.0, 150.0).rate() == pytest.approx(50.0 / 50.0)


def test_old_samples_are_forgotten() -> None:
    window = Window()
    window.record(7.0, 100.0)
    window.record(3.0, 130.0)
    assert window.read(0.0, 159.9).maximum == 7.0
    reading = window.read(0.0, 160.0)
    assert (reading.amount, reading.maximum, reading.minimum) == (3.0, 3.0, 3.0)
    assert window.read(0.0, 190.0).rate() == 0.0


def test_average_and_extremes() -> None:
    window = Window()
    window.record(1.0, 100.0)
    window.record_many(11.0, 3, 6.0, 2.0, 101.0)
    reading = window.read(5.0, 102.0)
    assert (reading.value, reading.average(), reading.maximum, reading.minimum) == (5.0, 3.0, 6.0, 1.0)


def test_nothing_recorded_is_not_a_number() -> None:
    """Kafka's averages and maxima are NaN then, its rates 0."""
    reading = Window().read(0.0, 1.0)
    assert math.isnan(reading.average())
    assert math.isnan(reading.maximum)
    assert reading.rate() == 0.0
