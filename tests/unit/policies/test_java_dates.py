"""Patterns of SimpleDateFormat; tests/brokers/test_transforms.py asks the real one."""

from __future__ import annotations

import pytest

from legacy_mm.policies.java_dates import JavaDate, written

TIME = 1_709_210_096_007  # 2024-02-29 12:34:56.007 UTC
MIDNIGHT = 1_709_164_800_000


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("yyyyMMdd", "20240229"),
        ("yyyy-MM-dd", "2024-02-29"),
        ("yy.M.d", "24.2.29"),
        ("y", "2024"),
        ("yyyyy", "02024"),
        ("yyyyMMddHHmmssSSS", "20240229123456007"),
        ("H_m_s_S", "12_34_56_7"),
        ("DDD", "060"),
        ("hh kk KK", "12 12 00"),
        ("'day'-dd''''", "day-29''"),
        ("''", "'"),
        ("'it''s'", "it's"),
        ("", ""),
        ("-_.", "-_."),
    ],
)
def test_a_time(pattern: str, written: str) -> None:
    assert JavaDate(pattern).written(TIME) == written


def test_midnight_by_its_four_hours() -> None:
    assert JavaDate("HH kk KK hh").written(MIDNIGHT) == "00 24 00 12"


@pytest.mark.parametrize(
    ("milliseconds", "written"), [(0, "19700101 000"), (-1, "19691231 999"), (999, "19700101 999")]
)
def test_times_around_1970(milliseconds: int, written: str) -> None:
    assert JavaDate("yyyyMMdd SSS").written(milliseconds) == written


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("YYYYMMdd", r"YYYY is not one of .*\(y was probably meant\)"),
        ("yyyyMMM", r"MMM is not one of .*M at most twice \(MM was probably meant\)"),
        ("yyyy-'x", "a quote has no end"),
        ("EEE", "EEE is not one of"),
        ("z", "z is not one of y, M, d"),
        ("ddTHH", "T is not one of"),
        ("Q", "Q is not one of"),
    ],
)
def test_letters_that_are_not_possible_are_named(pattern: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        JavaDate(pattern)


def test_a_time_beyond_the_last_year() -> None:
    with pytest.raises(OverflowError):
        JavaDate("yyyy").written(1 << 62)


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
