"""Counts and ages of what is copied: from headers of batches, and from single records."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Measured
from legacy_mm.dataplane import partition_meters
from legacy_mm.dataplane.partition_meters import PartitionMeters, Sized, Times
from legacy_mm.protocol.record_batch import Header

A, B = TopicPartition("a", 0), TopicPartition("b", 3)
NOW = 10_000
LOG_APPEND, DELETE_HORIZON = 0x08, 0x40


@pytest.fixture
def meters(monkeypatch: pytest.MonkeyPatch) -> Iterator[PartitionMeters]:
    """At a time that stands still, and always due."""
    monkeypatch.setattr(partition_meters, "SAMPLE_INTERVAL", -1.0)
    monkeypatch.setattr(partition_meters, "epoch_ms", lambda: NOW)
    yield PartitionMeters([A])


def row(meters: PartitionMeters, safe: int = 0) -> Measured:
    statistics = meters.statistics_when_due({A: safe, B: safe})
    assert statistics is not None
    assert (statistics.client, [each.name for each in statistics.measured]) == ("job", ["a-0"])
    return statistics.measured[0]


@pytest.mark.parametrize(
    ("attributes", "first", "newest", "begin", "times"),
    [
        (0, 1_000, 4_000, 50, Times(4, 10_000, 1_000, 4_000)),
        (0, 4_000, 4_000, 50, Times(4, 16_000, 4_000, 4_000)),
        (0, 0, 4_000, 50, Times(4, 16_000, 4_000, 4_000)),
        (LOG_APPEND, 1_000, 4_000, 50, Times(4, 16_000, 4_000, 4_000)),
        (DELETE_HORIZON, 1_000, 4_000, 50, Times(4, 16_000, 4_000, 4_000)),
        (0, 1_000, 4_000, 52, Times(2, 8_000, 4_000, 4_000)),
        (0, -1, -1, 50, None),
        (0, 0, 0, 50, None),
    ],
)
def test_what_a_header_tells(attributes: int, first: int, newest: int, begin: int, times: Times | None) -> None:
    """The first record's time only where it is in the header, and the record is among those concerned."""
    header = Header.new(4, first, newest)._replace(base_offset=50, attributes=attributes)
    assert Times.of_batch(header, begin) == times


def test_reading_and_arriving(meters: PartitionMeters) -> None:
    meters.read(A, 4, Sized(Times(4, 10_000, 1_000, 4_000), 70))
    meters.read(B, 4, Sized(Times(4, 10_000, 1_000, 4_000), 70))
    assert row(meters) == Measured(
        "partition",
        "a-0",
        {"records": 0, "value_bytes": 70, "estimated_bytes": 0},
        {"last_age_ms": 6_000, "uncopied_seconds": 9.0},
        {"age_ms": (30_000, 4, 9_000, 6_000)},
        {},
    )
    meters.read(A, 6, Sized(None, 12, estimated=True))
    meters.acknowledged(A, 4, Times(4, 10_000, 1_000, 4_000))
    meters.acknowledged(A, 2, None)
    meters.acknowledged(B, 2, None)
    assert row(meters, safe=6) == Measured(
        "partition",
        "a-0",
        {"records": 6, "value_bytes": 82, "estimated_bytes": 12},
        {"last_age_ms": 6_000, "last_latency_ms": 6_000},
        {"latency_ms": (30_000, 4, 9_000, 6_000)},
        {},
    )


def test_the_lag_is_that_of_the_first_record_that_waits(meters: PartitionMeters) -> None:
    for offset, time in ((5, 7_000), (9, 2_000), (11, 8_000)):
        meters.read(A, offset, Sized(Times(1, time, time, time), 0))
    assert row(meters, safe=4).gauges["uncopied_seconds"] == 3.0
    assert row(meters, safe=5).gauges["uncopied_seconds"] == 8.0
    meters.passed(A, 9)
    assert row(meters).gauges["uncopied_seconds"] == 2.0
    meters.restart(A)
    assert "uncopied_seconds" not in row(meters).gauges


def test_nothing_is_reported_before_it_is_due() -> None:
    assert PartitionMeters([A]).statistics_when_due({}) is None
