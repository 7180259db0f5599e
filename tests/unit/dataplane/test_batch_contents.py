"""Sizes and times of batches that are not opened to be copied: exactly while that is cheap, else by the last ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.dataplane import batch_contents
from legacy_mm.dataplane.batch_contents import BatchContents, times_of
from legacy_mm.dataplane.partition_meters import Sized, Times
from legacy_mm.dataplane.routes import RouteOptions, Router
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.record_batch import RecordBatch
from legacy_mm.protocol.records import Contents
from tests.unit.protocol.batches import NOW, Row, build, changed

A, B = TopicPartition("a", 0), TopicPartition("b", 3)
COMPRESSED = [codec for codec in Codec if codec is not Codec.NONE]
VALUES: Sequence[bytes | None] = [b"x" * 100, None, b"", b"y" * 23]
ROWS = [Row(at, NOW - at * at, b"k" * 9, value, (("h", b"v"),)) for at, value in enumerate(VALUES)]
EXACT = Sized(Times(4, 4 * NOW - 14, NOW - 9, NOW), 123)
UNOPENED = None


def options(codec: Codec | None = None, limit: int = 1 << 20) -> RouteOptions:
    return RouteOptions(codec, None, limit, measure=True)


@dataclass
class Cpu:
    """Of the process, all of it spent by the one thread; to open a batch takes `opening`."""

    now: float = 0.0
    opening: float = 0.0
    opened: int = 0

    def opens(self, batch: RecordBatch) -> Contents:
        self.now += self.opening
        self.opened += 1
        return Router(options()).contents(batch)


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> Cpu:
    made = Cpu()
    for clock in ("process_cpu", "thread_cpu"):
        monkeypatch.setattr(batch_contents, clock, lambda: made.now)
    return made


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_that_goes_on_as_it_is(cpu: Cpu, codec: Codec) -> None:
    batch = build(ROWS, base_offset=50, codec=codec)
    route = Router(options()).route("a", 0, batch, 50, 1, 1, keeps_partition=True)
    assert route.contents is None
    sized = BatchContents(cpu.opens).measure(A, batch, route.contents)
    assert sized == EXACT
    assert times_of(sized, route) == [EXACT.times]


@pytest.mark.parametrize(
    ("way", "times"),
    [
        (options(Codec.ZSTD), [EXACT.times]),
        (options(limit=200), [Times(1, NOW, NOW, NOW), Times(3, 3 * (NOW - 1), NOW - 1, NOW - 1)]),
    ],
    ids=["converted", "divided"],
)
def test_what_is_opened_to_be_copied_is_not_opened_twice(cpu: Cpu, way: RouteOptions, times: list[Times]) -> None:
    batch = build(ROWS, base_offset=50)
    route = Router(way).route("a", 0, batch, 50, 1, 1, keeps_partition=True)
    sized = BatchContents(cpu.opens).measure(A, batch, route.contents)
    assert (sized, cpu.opened) == (EXACT, 0)
    assert times_of(sized, route) == times


def test_only_what_is_copied_of_a_batch_counts(cpu: Cpu) -> None:
    batch = build(ROWS, base_offset=50)
    route = Router(options()).route("a", 0, batch, 52, 1, 1, keeps_partition=True)
    sized = BatchContents(cpu.opens).measure(A, batch, route.contents)
    assert sized == Sized(Times(2, 2 * NOW - 13, NOW - 9, NOW - 4), 23)


@pytest.mark.parametrize("codec", COMPRESSED)
def test_beyond_a_tenth_of_the_cpu_sizes_are_those_of_the_last_one_that_was_opened(cpu: Cpu, codec: Codec) -> None:
    contents = BatchContents(cpu.opens)
    batch = build(ROWS, codec=codec)
    cpu.opening = 2.0
    assert contents.measure(A, batch, UNOPENED) == EXACT
    estimate = Sized(Times(4, 4 * NOW - 0.0, NOW, NOW), 123, estimated=True)
    header = changed(batch, base_timestamp=NOW)
    assert contents.measure(A, header, UNOPENED) == estimate
    twice = build([*ROWS, *(row._replace(offset=row.offset + 4) for row in ROWS)], codec=codec)
    expected = round(123 * len(twice.payload) / len(batch.payload))
    assert contents.measure(A, twice, UNOPENED).value_bytes == expected
    assert cpu.opened == 1
    assert contents.measure(B, batch, UNOPENED) == EXACT, "nothing is known of it"
    assert contents.measure(A, build(ROWS), UNOPENED) == EXACT, "not compressed"
    cpu.now += 36.0
    assert contents.measure(A, batch, UNOPENED) == EXACT, "affordable again"
    assert contents.measure(A, batch, UNOPENED).estimated


def test_not_more_than_half_a_second_is_saved_up(cpu: Cpu) -> None:
    contents = BatchContents(cpu.opens)
    batch = build(ROWS, codec=Codec.LZ4)
    cpu.now, cpu.opening = 1e6, 0.2
    found = [contents.measure(A, batch, UNOPENED).estimated for _ in range(9)]
    assert found == [False] * 4 + [True] * 5, "the first one because nothing is known"


@pytest.mark.parametrize("codec", Codec)
def test_a_batch_that_cannot_be_read_is_left_to_others(cpu: Cpu, codec: Codec) -> None:
    batch = changed(build(ROWS, codec=codec), records=9, last_offset_delta=8)
    sized = BatchContents(cpu.opens).measure(A, batch, UNOPENED)
    assert sized == Sized(Times.of_batch(batch.header), 0, estimated=True)
