"""Records that are not in a batch, through a handler that wants batches."""

from __future__ import annotations

from legacy_mm.handlers.api import CREATE_TIME, LOG_APPEND_TIME, Record, TargetRecord
from legacy_mm.handlers.batches import PythonBatches
from legacy_mm.handlers.single_records import Answers, handle_records


def record(topic: str, partition: int, offset: int, kind: int = CREATE_TIME, time: int = 5) -> Record:
    return Record(topic, partition, offset, kind, time, b"k", None, (("h", None), ("h", b"\xff")))


def test_a_handler_sees_what_was_given_whatever_its_order() -> None:
    """A quarantine holds records of many partitions; offsets may go back, and kinds of time change."""
    given = [
        record("a", 0, 7),
        record("a", 0, 9, LOG_APPEND_TIME, 1_700_000_000_000),
        record("a", 0, 8),
        record("a", 1, 9, time=-1),
        record("\u00e4", 1, 2**40),
    ]
    seen: list[Record] = []

    def handle(each: Record) -> list[TargetRecord]:
        seen.append(each)
        return [each.to("one"), each.to("two")]

    found = handle_records(PythonBatches(handle), given)
    assert seen == given
    assert [target[0] for target in found.targets] == ["one", "two"] * 5
    assert found.ends == [2, 4, 6, 8, 10]
    assert {target[3] for target in found.targets} == {(("h", None), ("h", b"\xff"))}


def test_nothing_is_handled_behind_a_failure() -> None:
    seen: list[int] = []

    def handle(each: Record) -> list[TargetRecord]:
        seen.append(each.offset)
        return [each.to("one")] if each.partition == 0 else [each.to("one"), 1 // 0]  # type: ignore[list-item]

    given = [record("a", 0, 1), record("a", 1, 2), record("a", 0, 3)]
    found = handle_records(PythonBatches(handle), given)
    assert (len(found.targets), found.ends, seen) == (1, [1], [1, 2])
    assert found.error == "ZeroDivisionError: integer division or modulo by zero"


def test_a_wish_is_for_the_partition_of_the_source() -> None:
    given = [record("a", 4, 1), record("b", 5, 1)]
    made = PythonBatches(lambda each: [each.to("t")])
    found = handle_records(made, given, lambda place: place.partition if place.topic == "a" else -1)
    assert [target[4] for target in found.targets] == [4, None]


def test_no_record_has_no_answer() -> None:
    assert handle_records(PythonBatches(lambda each: [each.to("t")]), []) == Answers()
