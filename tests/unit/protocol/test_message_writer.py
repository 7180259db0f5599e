"""Lengths and strings in both encodings, byte by byte."""

from __future__ import annotations

import pytest

from legacy_mm.protocol.message_writer import FLEXIBLE, OLDER


@pytest.mark.parametrize(
    ("number", "older", "flexible"),
    [(-1, "ffffffff", "00"), (0, "00000000", "01"), (126, "0000007e", "7f"), (127, "0000007f", "8001")],
)
def test_a_count(number: int, older: str, flexible: str) -> None:
    assert (OLDER.count(number).hex(), FLEXIBLE.count(number).hex()) == (older, flexible)


@pytest.mark.parametrize(
    ("text", "older", "flexible"),
    [
        (None, "ffff", "00"),
        ("", "0000", "01"),
        ("ö", "0002c3b6", "03c3b6"),
        ("a" * 127, "007f" + "61" * 127, "8001" + "61" * 127),
    ],
)
def test_a_string(text: str | None, older: str, flexible: str) -> None:
    assert (OLDER.string(text).hex(), FLEXIBLE.string(text).hex()) == (older, flexible)


def test_only_flexible_structures_have_an_end() -> None:
    assert (OLDER.end, FLEXIBLE.end) == (b"", b"\0")
