"""Literals as Connect writes them back; tests/brokers/test_transforms.py asks the real classes."""

from __future__ import annotations

import pytest

from legacy_mm.policies.connect_literals import written

KEPT = [
    "DC1",
    "",
    "a b",
    "true",
    "false",
    "NULL",
    "a,b:c",
    '"12"',
    "10.0.0.1",
    "2024-01-01-dc",
    "5a",
    "-",
    ".5",
    "1_000",
]


@pytest.mark.parametrize("literal", KEPT)
def test_text_stays(literal: str) -> None:
    assert written(literal) == literal


def test_null_is_no_text() -> None:
    assert written("null") is None


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ("7", "7"), ("007", "7"), ("+5", "5"), ("-5", "-5"), ("-0", "0"), ("9" * 20, "9" * 20), ("1.0", "1"),
        ("1.", "1"), ("-2.00", "-2"), ("1.10", "1.1"), ("00.50", "0.5"), ("-.5", "-0.5"), ("0.001", "0.001"),
        ("123.456", "123.456"),
    ],
)  # fmt: skip
def test_numbers_are_written_anew(literal: str, text: str) -> None:
    assert written(literal) == text


@pytest.mark.parametrize(
    ("literal", "named"),
    [
        ("[1]", "an array or a map"), ("{}", "an array or a map"), ("1e3", "exponent"), ("2024-01-31", "a date"),
        ("12:30", "only the number or the time"), ("1,2", "only the number"), ("3.14159265", "not exact"),
        ("0.0001", "not exact"), ("12345678.5", "not exact"), ("\u0661", "a number"),
    ],
)  # fmt: skip
def test_what_connect_reads_otherwise_is_refused(literal: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        written(literal)
