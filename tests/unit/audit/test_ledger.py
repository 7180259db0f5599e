"""The ledger against logs that are wrong in one way each: an oracle must be seen to find what it looks for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from legacy_mm.audit.ledger import Ledger, LedgerEntry, checksum
from legacy_mm.audit.ledger_check import KINDS, Arrival, Verdict, judge
from legacy_mm.base.errors import HostError

HEADERS = (("trace", b"1"), ("null", None))
COUNT = 6


def filled(path: Path | None = None) -> tuple[Ledger, list[Arrival]]:
    """Six records in two partitions, and a target that holds just them."""
    ledger = Ledger("orders", path)
    arrivals = []
    for sequence in ledger.reserve(COUNT):
        partition, offset = sequence % 2, sequence // 2
        key, value = b"key-%d" % partition, ledger.identity(sequence) + b"text"
        ledger.note(LedgerEntry(sequence, partition, offset, checksum(key, value), 1_000 + sequence, HEADERS))
        arrivals.append(Arrival(partition, offset, key, value, HEADERS, 1_000 + sequence))
    return ledger, arrivals


def test_a_true_copy_has_no_differences() -> None:
    ledger, arrivals = filled()
    verdict = judge(ledger, arrivals)
    assert verdict.differences(allow_duplicates=False) == []
    assert (verdict.acknowledged, verdict.arrived, verdict.moved) == (COUNT, COUNT, 0)


def without_the_second(arrivals: list[Arrival]) -> list[Arrival]:
    return arrivals[:1] + arrivals[2:]


def twice_the_last(arrivals: list[Arrival]) -> list[Arrival]:
    return [*arrivals, dataclasses.replace(arrivals[-1], offset=3)]


def two_swapped(arrivals: list[Arrival]) -> list[Arrival]:
    return [arrivals[2], arrivals[0], *arrivals[1:2], *arrivals[3:]]


def a_foreign_one(arrivals: list[Arrival]) -> list[Arrival]:
    return [*arrivals, dataclasses.replace(arrivals[0], offset=9, value=b"ledger someone else")]


def changed(**fields: object) -> Callable[[list[Arrival]], list[Arrival]]:
    def change(arrivals: list[Arrival]) -> list[Arrival]:
        return [dataclasses.replace(arrivals[0], **fields), *arrivals[1:]]  # type: ignore[arg-type]

    return change


WRONG = [
    (without_the_second, "lost", "source partition 1, offsets 0"),
    (twice_the_last, "duplicated", "target partition 1, offsets 3"),
    (two_swapped, "reordered", "target partition 0, offsets 0"),
    (a_foreign_one, "unexpected", "target partition 0, offsets 9"),
    (changed(key=None), "altered", "key or value"),
    (changed(key=b""), "altered", "key or value"),
    (changed(headers=HEADERS[::-1]), "altered", "headers"),
    (changed(timestamp=7), "altered", "timestamp"),
]


@pytest.mark.parametrize(("spoil", "kind", "words"), WRONG)
def test_each_fault_is_found_and_no_other(
    spoil: Callable[[list[Arrival]], list[Arrival]], kind: str, words: str
) -> None:
    ledger, arrivals = filled()
    verdict = judge(ledger, spoil(arrivals))
    assert {each: verdict.count(each) for each in KINDS} == {each: int(each == kind) for each in KINDS}
    (line,) = verdict.differences(allow_duplicates=False)
    assert line.startswith(f"{kind}: 1 records") and words in line
    assert verdict.differences(allow_duplicates=True) == ([] if kind == "duplicated" else [line])


def test_the_targets_own_timestamps_are_no_alteration() -> None:
    ledger, arrivals = filled()
    assert judge(ledger, changed(timestamp=None)(arrivals)).differences(allow_duplicates=False) == []


def test_what_was_never_acknowledged_may_be_there_or_not() -> None:
    ledger, arrivals = filled()
    (sequence,) = ledger.reserve(1)
    stray = dataclasses.replace(arrivals[0], offset=3, value=ledger.identity(sequence) + b"text")
    verdict = judge(ledger, [*arrivals, stray])
    assert verdict.differences(allow_duplicates=False) == []
    assert (verdict.unacknowledged, verdict.acknowledged) == (1, COUNT)


def test_records_in_another_partition_are_counted() -> None:
    ledger, arrivals = filled()
    assert judge(ledger, changed(partition=5)(arrivals)).moved == 1


def test_records_without_a_key_have_no_order_and_no_place() -> None:
    ledger = Ledger("orders")
    arrivals = []
    for sequence in ledger.reserve(3):
        value = ledger.identity(sequence) + b"text"
        ledger.note(LedgerEntry(sequence, 0, sequence, checksum(None, value), 1_000, ()))
        arrivals.append(Arrival(1, 3 - sequence, None, value, (), 1_000))
    verdict = judge(ledger, arrivals[::-1])
    assert (verdict.differences(allow_duplicates=False), verdict.moved) == ([], 0)


def test_offsets_are_told_as_ranges() -> None:
    offsets = [*range(5), 9, *range(20, 60, 2)]
    (line,) = Verdict(0, 0, offsets={"lost": {0: offsets}}).differences(allow_duplicates=False)
    assert line.endswith("offsets 0-4, 9, 20, 22, 24, 26, 28, 30, 32, 34 and 12 more ranges")


def test_a_file_holds_all_of_it_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "orders.ledger"
    ledger, arrivals = filled(path)
    ledger.close()
    again = Ledger.load(path)
    assert judge(again, arrivals).differences(allow_duplicates=False) == []
    assert [again.entry(n) for n in range(COUNT)] == [ledger.entry(n) for n in range(COUNT)]
    for first in (COUNT, COUNT + 3):  # what was reserved is never given out again, acknowledged or not
        ledger = Ledger("orders", path)
        assert ledger.reserve(3) == range(first, first + 3)
        ledger.close()


@pytest.mark.parametrize("text", ["", "{}", "not json", '{"ledger":1}', '{"ledger":1,"run":"r","topic":"t"}\n[1,2]'])
def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(HostError, match="ledger"):
        Ledger.load(path)


def test_a_ledger_goes_on_with_its_own_topic_alone(tmp_path: Path) -> None:
    filled(tmp_path / "ledger")[0].close()
    with pytest.raises(HostError, match="is the ledger of topic orders, not of invoices"):
        Ledger("invoices", tmp_path / "ledger")
