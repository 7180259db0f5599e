"""What becomes of a batch that user code handles: whole results up to the first record that it fails on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from legacy_mm.handlers.api import CREATE_TIME, LOG_APPEND_TIME, NO_TIMESTAMP, Record, TargetRecord
from legacy_mm.handlers.batches import PythonBatches, kind_of_times
from legacy_mm.handlers.single_records import Answers, handle_records
from legacy_mm.protocol.record_batch import Header
from tests.unit.protocol.batches import NOW
from tests.unit.source_records import Row, row

Handle = Callable[[Record], Sequence[Any]]


def batch(*values: bytes) -> list[Row]:
    """Of partitions 0 and 1 in turn."""
    return [row(value, number, number % 2) for number, value in enumerate(values)]


def handled(handle: Handle, *values: bytes, legal_topics: bool = False) -> Answers:
    """What became of records of one partition."""
    records = [row(value, number) for number, value in enumerate(values)]
    return handle_records(PythonBatches(handle, legal_topics=legal_topics), records)


def twice_or_never(record: Record) -> list[TargetRecord]:
    """`b` gives two records, `n` none."""
    return [record.to("copy")] * {b"b": 2, b"n": 0}.get(record.value or b"", 1)


def values(found: Answers) -> list[bytes | None]:
    return [target[2] for target in found.targets]


def test_each_record_knows_how_many_targets_it_made() -> None:
    found = handled(twice_or_never, b"a", b"b", b"n", b"c")
    assert (values(found), list(found.ends), found.error) == ([b"a", b"b", b"b", b"c"], [1, 3, 3, 4], None)


@pytest.mark.parametrize(
    ("times", "epoch", "kind"),
    [((NOW, NOW), 3, CREATE_TIME), ((-1, -1), 3, CREATE_TIME), ((-1, -1), -1, NO_TIMESTAMP)],
)
def test_the_kind_of_times(times: tuple[int, int], epoch: int, kind: int) -> None:
    header = Header.new(1, *times)._replace(leader_epoch=epoch)
    assert kind_of_times(header) == kind
    assert kind_of_times(header.with_append_time(NOW)) == LOG_APPEND_TIME


def test_no_records() -> None:
    assert handle_records(PythonBatches(twice_or_never), []) == Answers([], [])


def failing(record: Record) -> list[TargetRecord]:
    if record.value == b"bad":
        raise KeyError("x")
    return twice_or_never(record)


def test_what_came_before_a_failure_counts_and_nothing_of_the_failed_one() -> None:
    found = handled(failing, b"b", b"bad", b"a")
    assert (values(found), list(found.ends), found.error) == ([b"b", b"b"], [2], "KeyError: 'x'")
    assert handled(failing, b"bad") == Answers([], [], "KeyError: 'x'")


def half_way(record: Record) -> Any:
    yield record.to("copy")
    if record.value == b"bad":
        raise ValueError("late")


def test_a_generator_that_fails_half_way_leaves_no_half() -> None:
    found = handled(half_way, b"a", b"bad")
    assert (values(found), list(found.ends), found.error) == ([b"a"], [1], "ValueError: late")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda record: None, "TypeError: 'NoneType' object is not iterable"),
        (lambda record: record, "handle answered str, not TargetRecord"),
        (lambda record: [record], "handle answered Record, not TargetRecord"),
        (lambda record: b"ab", "handle answered int, not TargetRecord"),
        (lambda record: 1 // 0, "ZeroDivisionError: integer division or modulo by zero"),
    ],
    ids=["None", "the record itself", "a record in a list", "bytes", "an error"],
)
def test_an_answer_of_another_kind_is_an_error_of_its_record(answer: Handle, said: str) -> None:
    found = handled(
        lambda record: answer(record) if record.value == b"bad" else [record.to("copy")], b"a", b"bad", b"c"
    )
    assert (values(found), list(found.ends), found.error) == ([b"a"], [1], said)


class Mine(TargetRecord):
    """A user's own kind."""


def test_a_subclass_is_a_target_record() -> None:
    assert handled(lambda record: [Mine("copy", None, b"x")], b"a").error is None


@pytest.mark.parametrize(("code", "ends_with"), [(None, 0), (0, 0), (3, 3), ("words", 1)])
def test_a_handler_that_ends_the_program(code: Any, ends_with: int) -> None:
    def handle(record: Record) -> list[TargetRecord]:
        if record.value == b"end":
            raise SystemExit(code)
        return [record.to("copy")]

    found = handled(handle, b"a", b"end", b"c")
    assert (values(found), list(found.ends), found.exit_code, found.error) == ([b"a"], [1], ends_with, None)


def ends_half_way(record: Record) -> Any:
    yield record.to("copy")
    if record.value == b"end":
        raise SystemExit(3)


def test_a_generator_that_ends_the_program_half_way_leaves_no_half() -> None:
    found = handled(ends_half_way, b"a", b"end")
    assert (values(found), list(found.ends), found.exit_code) == ([b"a"], [1], 3)


def named(*topics: str) -> Answers:
    """A record for each of these topics, two of the second source record."""
    made = {b"0": topics[:1], b"1": topics[1:3], b"2": topics[3:]}
    return handled(lambda record: [record.to(name) for name in made[record.value or b""]], *made, legal_topics=True)


@pytest.mark.parametrize(
    ("topics", "kept"),
    [(("a", "b", "c d", "e"), 1), (("a", "", "c", "d"), 1), (("/", "b", "c", "d"), 0), (("a", "b", "c", ".."), 3)],
)
def test_a_name_that_no_topic_can_have_cuts_before_its_record(topics: tuple[str, ...], kept: int) -> None:
    found = named(*topics)
    assert len(found.targets) == kept
    assert str(found.error).startswith("topic '")


def test_of_several_illegal_names_the_first_one_counts() -> None:
    for _ in range(5):  # names are a set
        found = named("a", "b", "c d", "e f")
        assert (len(found.targets), str(found.error).split(":")[0]) == (1, "topic 'c d'")


def test_a_name_is_refused_each_time() -> None:
    made = PythonBatches(lambda record: [record.to("a"), record.to("c d")], legal_topics=True)
    for _ in range(2):
        assert str(handle_records(made, batch(b"x")).error).startswith("topic 'c d'")


def test_a_target_keeps_the_partition_where_the_topic_does_and_the_handler_names_none() -> None:
    made = PythonBatches(lambda record: [record.to("copy"), record.to("copy")._replace(partition=9)])
    found = handle_records(made, batch(b"a", b"b"), lambda place: place.partition)
    assert [target[4] for target in found.targets] == [0, 9, 1, 9]


def test_elsewhere_the_key_decides() -> None:
    found = handle_records(PythonBatches(twice_or_never), batch(b"a", b"b"))
    assert {target[4] for target in found.targets} == {None}
