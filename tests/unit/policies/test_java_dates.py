"""Patterns of SimpleDateFormat; tests/brokers/test_transforms.py asks the real one."""

from __future__ import annotations

import pytest

from legacy_mm.policies.java_dates import JavaDate

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
