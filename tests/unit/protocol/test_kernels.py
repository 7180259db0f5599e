"""The kernels give the same answers compiled and uncompiled, also on hostile bytes; and a file that does not load."""

from __future__ import annotations

import importlib
import mmap
import os
import shutil
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat.laboratory.checkout import CHECKOUT
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import CorruptRecords, StreamFailure
from legacy_mm.protocol import message_set as messages
from legacy_mm.protocol import record_fields, records
from legacy_mm.protocol.compression import Codec
from legacy_mm.protocol.kernels import WHY_UNCOMPILED, load_source, record_kernels
from legacy_mm.protocol.message_set import message_set
from legacy_mm.protocol.record_batch import CONTROL_BIT, HEADER_SIZE, Header, RecordBatch, assemble
from legacy_mm.protocol.records import Placement, first_key, measure, regroup, sizes, survey
from tests.unit.protocol.batches import NOW, Row, build, decompress_little, records_of, rows
from tests.unit.protocol.test_fuzz import LOGS, MESSAGES, MOST_RECORDS, SECONDS, SMALL, Change, changes, fuzz, mutated

SOURCE = load_source()
LONGEST = (1 << 63) - 1
no_compiler = not (os.environ.get("CC") or any(map(shutil.which, ("cc", "gcc", "clang"))))
compiled = pytest.mark.skipif(bool(WHY_UNCOMPILED) and no_compiler, reason="this host has no C compiler")


@contextmanager
def using(kernels: ModuleType) -> Iterator[None]:
    with (
        mock.patch.object(records, "kernels", kernels),
        mock.patch.object(record_fields, "kernels", kernels),
        mock.patch.object(messages, "kernels", kernels),
    ):
        yield


def answers(header: Header, data: memoryview) -> list[object]:
    """What all kernels say of these records: values, or our error."""
    asked: list[Callable[[], object]] = [
        lambda: first_key(header, data),
        lambda: survey(header, data, 1, 3),
        lambda: measure(header, data, header.base_offset + 1),
        lambda: list(sizes(header, data)),
        lambda: plain(header, data, Placement.by_key_spreading(3, first=2), 1_000_000),
        lambda: plain(header, data, Placement.all_to(1), 200),
        lambda: list(record_fields.fields(header, data, from_offset=header.base_offset + 1, most=3, most_bytes=100)),
        lambda: read_and_written(header, data),
        lambda: bytes(message_set(assemble(header, data), decompress_little, 0)),
        lambda: bytes(message_set(assemble(header, data), decompress_little, 1)),
    ]
    found: list[object] = []
    for ask in asked:
        try:
            found.append(ask())
        except (StreamFailure, OverflowError) as error:
            found.append(str(error) if isinstance(error, StreamFailure) else OverflowError)
    return found


def plain(header: Header, data: memoryview, placement: Placement, limit: int) -> list[object]:
    made = regroup(header, data, placement, from_offset=header.base_offset + 1, codec=Codec.NONE, limit=limit)
    return [(one.partition, bytes(one.batch.buffer), list(one.source_offsets)) for one in made]


def read_and_written(header: Header, data: memoryview) -> list[object]:
    """Records as tuples; as they are written each twice, for three topics; and placed by wishes."""
    survey(header, data, 0, 0, repeats=True)
    kernels: Any = vars(records)["kernels"]  # the ones in use
    base, at = header.base_offset, 0
    rows: list[tuple[Any, ...]] = []
    while at < len(data):
        found, at = kernels.read_rows(
            records.batch_records(header, data, repeats=True), at, 3, 1, base, "t", 4, 1, tuple
        )
        rows += found
    targets: list[Any] = []
    for number, (_, _, _, _, time, key, value, headers) in enumerate(rows):
        for each in (None if number % 4 == 0 else time, time):
            targets.append((f"t{number % 3}", key, value, headers, number % 5 or None, each))
    ends = [2 * (number + 1) for number in range(len(rows))]
    writers: dict[str, Any] = {}
    kernels.write_targets(targets, ends, rows, base, NOW, NOW + 5, 1, writers)
    written: list[object] = [rows]
    for topic, writer in writers.items():
        counted = (writer.count, writer.base_timestamp, writer.max_timestamp)
        memory, wishes = writer.memory[: writer.size], memoryview(array("q", writer.wishes))
        made = Header.new(*counted)._replace(base_offset=base, last_offset_delta=header.last_offset_delta)
        placement = Placement.by_key(3, null_keys_to=2)
        placed = regroup(made, memory, placement, wishes=wishes, repeats=True, limit=300)
        written.append((topic, counted, bytes(memory), writer.wishes))
        written += [(one.partition, bytes(one.batch.buffer), list(one.source_offsets)) for one in placed]
    return written


class Named(NamedTuple):
    """A tuple that is no plain one."""

    topic: str
    key: bytes
    value: bytes
    headers: tuple[()]
    partition: int | None
    timestamp: int


@pytest.mark.parametrize("kernels", [SOURCE, pytest.param(record_kernels, marks=compiled)])
def test_rows_are_handled_until_one_fails(kernels: Any) -> None:
    def handle(row: int) -> list[str]:
        if row == 3:
            raise ValueError("bad")
        return ["x"] * row

    targets: list[str] = []
    ends: list[int] = []
    with pytest.raises(ValueError, match="bad"):
        kernels.handle_rows(handle, [2, 0, 1, 3, 4], targets, ends)
    assert (targets, ends) == (["x"] * 3, [2, 2, 3])


@pytest.mark.parametrize("kernels", [SOURCE, pytest.param(record_kernels, marks=compiled)])
def test_a_target_is_of_the_type_that_is_asked_for(kernels: Any) -> None:
    record = ("t", 1, 7, 1, NOW, b"k", b"v", ())
    made = kernels.target_of(record, "u", Named)
    assert (type(made), made) == (Named, ("u", b"k", b"v", (), None, NOW))


@pytest.mark.parametrize("kernels", [SOURCE, pytest.param(record_kernels, marks=compiled)])
def test_what_is_no_record_is_not_read(kernels: Any) -> None:
    wrong: Any
    for wrong in ((), ("t",) * 7, ["t"] * 8, None):
        with pytest.raises(TypeError, match="has not the fields of a record"):
            kernels.target_of(wrong, "u", Named)
    for wrong in ((), ("t", b"k", b"v", (), None), None, tuple.__new__(Named, ("t",))):
        with pytest.raises(TypeError, match="has not the fields of a record"):
            kernels.write_targets([wrong], [1], [("t", 1, 7)], 0, NOW, NOW, -1, {})
    with pytest.raises(TypeError):
        kernels.target_of(("t",) * 8, "u", list)


def same_both_ways(header: Header, data: memoryview) -> None:
    with using(SOURCE):
        slow = answers(header, data)
    with using(record_kernels):
        assert answers(header, data) == slow


@compiled
def test_these_are_two_modules() -> None:
    assert record_kernels.COMPILED, WHY_UNCOMPILED
    assert not SOURCE.COMPILED


@compiled
@given(rows(holes=True))
def test_sound_records(made: list[Row]) -> None:
    batch = build(made)
    same_both_ways(batch.header, records_of(batch))


@fuzz
@given(
    st.sampled_from(SMALL),
    changes,
    st.integers(-1, 2) | st.integers(0, MOST_RECORDS),
    st.none() | st.sampled_from([LONGEST, -LONGEST - 1, -1, 0]),
)
@example(SMALL[0], [], 0, LONGEST)
@example(SMALL[0], [], 0, -LONGEST - 1)
def changed_records(batch: RecordBatch, made: list[Change], more: int, base: int | None) -> None:
    header = batch.header._replace(records=min(batch.header.records + more, MOST_RECORDS))
    if base is not None:
        header = header._replace(base_timestamp=base)
    same_both_ways(header, memoryview(mutated(bytes(records_of(batch)), made)))


@fuzz
@given(st.sampled_from(LOGS), changes, st.sampled_from([0, 100, 4_096]), st.integers(HEADER_SIZE, 4_096))
def changed_record_sets(log: bytes, made: list[Change], checked: int, room: int) -> None:
    data = memoryview(mutated(log[: 4 * mmap.PAGESIZE], made))
    found = []
    for kernels in (SOURCE, record_kernels):
        out, table = memoryview(bytearray(room)), kernels.FoundBatches(5)
        number, after = kernels.find_batches(data, 0, Codec.NONE, 4_096, CONTROL_BIT, checked, 9_999, table)
        answer = kernels.join_found(data, table, number, out)
        rows = [column[:number].tolist() for column in table.columns]
        found.append((kernels.skip_batches(data), number, after, rows, answer, bytes(out[HEADER_SIZE : answer[-1]])))
    assert found[0] == found[1]


@fuzz
@given(st.sampled_from(MESSAGES), changes, st.booleans(), st.booleans(), st.sampled_from([0, 500, 1 << 20]))
def changed_messages(log: bytes, made: list[Change], check: bool, keeps_append_time: bool, most_bytes: int) -> None:
    data = memoryview(mutated(log[: 4 * mmap.PAGESIZE], made))
    found: list[list[object]] = []
    for kernels in (SOURCE, record_kernels):
        told: list[object] = []
        with using(kernels):
            try:
                told.append(messages.whole_messages(data))
                sets = messages.MessageSets(check_crcs=check, keeps_append_time=keeps_append_time)
                for batch, codec in sets.batches(data[: kernels.skip_messages(data)[0]], most_bytes):
                    told.append((bytes(batch.buffer), codec))
            except CorruptRecords as error:
                told.append(str(error))
        found.append(told)
    assert found[0] == found[1]


@compiled
@pytest.mark.parametrize("changed", [changed_records, changed_record_sets, changed_messages])
def test_hostile_bytes(changed: Callable[[], None]) -> None:
    """For as long as half of the fuzz test, all parameters together."""
    over = Deadline.after(SECONDS / 6)
    while not over.expired():
        changed()


@pytest.mark.parametrize("broken", [True, False], ids=["does not load", "is missing"])
def test_without_a_compiled_file_the_source_runs_and_the_reason_is_known(tmp_path: Path, broken: bool) -> None:
    shutil.copytree(
        CHECKOUT / "legacy_mm", tmp_path / "legacy_mm", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    if broken:
        (tmp_path / "legacy_mm/protocol" / f"record_kernels{suffix}").write_bytes(b"made for another machine")
    code = "from legacy_mm.protocol.kernels import WHY_UNCOMPILED, record_kernels\n"
    code += "from legacy_mm.protocol.records import murmur2\nprint(murmur2(b'21'))\nprint(WHY_UNCOMPILED)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    hashed, why = done.stdout.splitlines()
    assert int(hashed) == records.murmur2(b"21")
    assert why.startswith("the compiled file cannot be loaded:" if broken else "the installation had no C compiler")
