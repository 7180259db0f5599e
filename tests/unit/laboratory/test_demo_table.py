"""The table that compares two clusters topic by topic."""

from __future__ import annotations

import dataclasses

import pytest

from compat.laboratory.demo_table import TopicResult, contents, table
from legacy_mm.audit.record_comparison import ObservedRecord

FIRST = ObservedRecord("orders.eu", 0, 0, 1, 1_000, b"key", b"value", (("trace", b"1"), ("trace", None)))
SECOND = ObservedRecord("orders.eu", 1, 0, 1, 2_000, None, None)


def test_contents_are_added_up() -> None:
    found = contents([FIRST, SECOND])
    assert (found.records, found.null_keys, found.tombstones, found.headers, found.size) == (2, 1, 1, 2, 8)


def test_place_and_order_do_not_count() -> None:
    moved = dataclasses.replace(FIRST, partition=3, offset=99)
    assert contents([FIRST, SECOND]) == contents([SECOND, moved])


@pytest.mark.parametrize(
    "other",
    [
        dataclasses.replace(FIRST, key=b"kez"),
        dataclasses.replace(FIRST, value=b"valuf"),
        dataclasses.replace(FIRST, key=b"keyv", value=b"alue"),
        dataclasses.replace(FIRST, timestamp=1_001),
        dataclasses.replace(FIRST, headers=FIRST.headers[::-1]),
        dataclasses.replace(FIRST, headers=(("trace", b"1"), ("trace", b""))),
    ],
    ids=["key", "value", "border", "timestamp", "order of headers", "null header"],
)
def test_every_part_of_a_record_counts(other: ObservedRecord) -> None:
    assert contents([FIRST]).checksum != contents([other]).checksum


@pytest.mark.parametrize(
    ("mirrored", "target", "differences", "verdict", "right"),
    [
        (True, [FIRST], [], "equal", True),
        (True, [FIRST, FIRST], [], "DIFFERENT", False),
        (True, [FIRST], ["orders.eu-0: order is lost"], "DIFFERENT", False),
        (True, None, [], "DIFFERENT", False),
        (False, None, [], "not copied", True),
        (False, [FIRST], [], "COPIED", False),
    ],
)
def test_the_verdict(
    mirrored: bool, target: list[ObservedRecord] | None, differences: list[str], verdict: str, right: bool
) -> None:
    found = None if target is None else contents(target)
    result = TopicResult("orders.eu", mirrored, contents([FIRST]), found, differences)
    assert (result.verdict, result.right) == (verdict, right)
    lines = table([result])
    assert lines[2].endswith(verdict)
    assert lines[3:] == [f"! {line}" for line in differences]


def test_numbers_stand_below_each_other() -> None:
    sums = dataclasses.replace(contents([FIRST]), records=130_000, checksum=255)
    head, source, target = table([TopicResult("orders.eu", True, sums, sums, [])])
    assert source == "orders.eu  source   130,000          0           0        2      8  00000000000000ff"
    assert target == "           target   130,000          0           0        2      8  00000000000000ff  equal"
    assert head.index("records") + len("records") == source.index("130,000") + len("130,000")
