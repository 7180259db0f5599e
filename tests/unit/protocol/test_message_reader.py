"""Reading a message's bytes: what is there, and never a byte more, whatever the lengths inside say."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import CorruptRecords
from legacy_mm.protocol.message_reader import FlexibleReader, MessageReader
from legacy_mm.protocol.message_writer import FLEXIBLE, OLDER


def reader(*parts: bytes) -> MessageReader:
    return MessageReader(memoryview(b"".join(parts)))


def test_fields_follow_each_other() -> None:
    read = reader(
        struct.pack(">hiq", -2, 1 << 30, -(1 << 62)),
        OLDER.string("größe"),
        OLDER.string(None),
        struct.pack(">i", 2),
        b"ab",
    )
    assert (read.int16(), read.int32(), read.int64()) == (-2, 1 << 30, -(1 << 62))
    assert (read.text(), read.text(), bytes(read.data())) == ("größe", None, b"ab")
    with pytest.raises(CorruptRecords, match="should have"):
        read.int16()


@given(text=st.none() | st.text(max_size=200))
def test_a_string_is_read_as_it_was_written(text: str | None) -> None:
    assert reader(OLDER.string(text)).text() == text


def test_bytes_stay_where_they_are() -> None:
    """A fetch holds megabytes of records, which are not copied."""
    body = memoryview(bytearray(struct.pack(">i", 3) + b"abc"))
    data = MessageReader(body).data()
    body[4:5] = b"x"
    assert bytes(data) == b"xbc"


def test_null_is_empty() -> None:
    minus_one = struct.pack(">i", -1)
    assert (bytes(reader(minus_one).data()), reader(minus_one).count(), list(reader(minus_one).names())) == (b"", 0, [])


def test_the_caller_reads_the_rest_of_each_entry() -> None:
    read = reader(struct.pack(">i", 2), OLDER.string("a"), b"\x00\x01", OLDER.string(None), b"\x00\x02")
    assert [(name, read.int16()) for name in read.names()] == [("a", 1), ("", 2)]


def test_a_name_that_is_no_utf_8_is_still_a_name() -> None:
    """A broker of another kind must not end the mirror; the topic is none that was asked for."""
    assert reader(struct.pack(">h", 2), b"a\xff").text() == "a\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b"", MessageReader.int16),
        (b"\x00\x00\x00", MessageReader.int32),
        (bytes(7), MessageReader.int64),
        (b"\x00\x05abcd", MessageReader.text),
        (b"\x00\x00\x00\x05abcd", MessageReader.data),
        (b"\x7f\xff\xff\xff", MessageReader.data),
        (b"\x7f\xff\xff\xff", MessageReader.count),
        (b"\x00\x00\x00\x02x", MessageReader.count),
    ],
)
def test_what_the_bytes_do_not_suffice_for_is_corrupt(body: bytes, read: Callable[[MessageReader], object]) -> None:
    with pytest.raises(CorruptRecords):
        read(reader(body))


@given(body=st.binary(max_size=40), steps=st.lists(st.sampled_from(["int16", "text", "data", "count"]), max_size=9))
def test_nothing_is_read_outside(body: bytes, steps: list[str]) -> None:
    read = reader(body)
    taken = 0
    try:
        for step in steps:
            found = getattr(read, step)()
            taken += len(found.tobytes()) if isinstance(found, memoryview) else 0
    except CorruptRecords:
        return
    assert taken <= len(body)


# The encoding of flexible versions


def flexible(*parts: bytes) -> FlexibleReader:
    return FlexibleReader(memoryview(b"".join(parts)))


@given(text=st.none() | st.text(max_size=200))
def test_a_flexible_string_is_read_as_it_was_written(text: str | None) -> None:
    assert flexible(FLEXIBLE.string(text)).text() == text


def test_tagged_fields_are_skipped() -> None:
    unknown = b"\x02" + b"\x00\x03abc" + b"\x81\x01\x00"  # tags 0 and 129
    read = flexible(FLEXIBLE.count(1), FLEXIBLE.string("a"), unknown, FLEXIBLE.end, b"\x00\x07")
    for name in read.names():
        assert name == "a"
        read.end_structure()
    read.end_structure()
    assert read.int16() == 7


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b"\xff\xff\xff\xff\xff\x01", FlexibleReader.end_structure),
        (b"\xff\xff\xff\xff\x0f", FlexibleReader.end_structure),
        (b"\x01\x00\x05ab", FlexibleReader.end_structure),
        (b"\xff\xff\xff\xff\x0f", FlexibleReader.count),
        (b"\x06abcd", FlexibleReader.text),
        (b"\x80", FlexibleReader.data),
    ],
)
def test_what_flexible_bytes_do_not_suffice_for_is_corrupt(
    body: bytes, read: Callable[[FlexibleReader], object]
) -> None:
    with pytest.raises(CorruptRecords):
        read(flexible(body))
