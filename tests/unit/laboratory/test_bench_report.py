"""Windows, percentiles, medians, ratios and tables of the bench, and the choice of what it runs."""

from __future__ import annotations

import json

import pytest

from compat.laboratory.bench_profiles import PROFILES, choose_profiles, choose_tools
from compat.laboratory.bench_report import (
    Row,
    Sample,
    case_table,
    cautions,
    host_seconds,
    json_line,
    latency,
    medians,
    percentile,
    ratios,
    steady,
    table,
)
from legacy_mm.base.errors import UsageError


def test_the_window_leaves_start_and_end_out() -> None:
    # Slow and costly up to 20 %, then 100 records/s at 1 ms each, then slow again.
    samples = [Sample(0, 0, 5), Sample(10, 200, 9), Sample(17, 900, 9.7), Sample(30, 1000, 20)]
    found = steady(samples, 1_000)
    assert found["records_per_s"] == pytest.approx(100)
    assert found["mb_per_s"] == pytest.approx(0.1)
    assert found["cpu_s_per_million"] == pytest.approx(1_000)
    assert found["cpu_s_per_gb"] == pytest.approx(1_000)
    assert found["window_s"] == pytest.approx(7)


def test_the_window_ends_between_samples() -> None:
    samples = [Sample(1, 0, 0), Sample(2, 500, 1, 5, 3, 2), Sample(3, 1000, 3, 6, 4, 2)]
    found = steady(samples, 10)
    # 20 % lie at 1.4 s with 0.4 s of CPU, 90 % at 2.8 s with 2.6 s.
    assert found["window_s"] == pytest.approx(1.4)
    assert found["records_per_s"] == pytest.approx(500)
    assert found["cpu_s_per_million"] == pytest.approx(2.2 / 700 * 1e6)
    assert found["broker_cores"] == pytest.approx((5.8 - 2.0) / 1.4)
    assert found["other_cores"] == pytest.approx((3.8 - 1.2) / 1.4)
    assert found["stolen_cores"] == pytest.approx((2.0 - 0.8) / 1.4)


def test_a_run_that_was_cut_short_has_the_window_of_what_it_copied() -> None:
    samples = [Sample(0, 0, 0), Sample(60, 600, 6)]
    assert steady(samples, 1)["records_per_s"] == pytest.approx(10)


def test_a_window_without_length_has_no_rates() -> None:
    found = steady([Sample(1, 0, 1), Sample(1, 1000, 1)], 100)
    assert found["records_per_s"] is None
    assert found["window_s"] == 0


def test_the_time_of_the_host_has_interrupts_in_it_and_no_waiting() -> None:
    """Brokers on loopback have a tenth of a core of them: without, strangers used less than nothing."""
    stat = "cpu  1000 200 300 9000 500 10 40 70 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n"
    assert host_seconds(stat, 100) == (15.5, 0.7)


@pytest.mark.parametrize(("share", "expected"), [(0.5, 50), (0.99, 99), (0.999, 100), (1, 100), (0, 1)])
def test_percentiles_are_values_that_occurred(share: float, expected: int) -> None:
    assert percentile(list(range(100, 0, -1)), share) == expected


def test_percentile_of_one_and_of_none() -> None:
    assert percentile([7.0], 0.999) == 7
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_latency_of_nothing_is_unknown() -> None:
    assert latency([]) == {"latency_p50_ms": None, "latency_p99_ms": None, "latency_p999_ms": None}
    assert latency([1.0, 2.0, 3.0])["latency_p50_ms"] == 2


def test_medians_leave_unknown_values_out() -> None:
    runs = [{"a": 1.0, "b": None}, {"a": 9.0, "b": None}, {"a": 2.0, "b": None, "c": 4.0}]
    assert medians(runs) == {"a": 2, "b": None, "c": 4}
    assert medians([]) == {}


def test_ratios_need_both_sides() -> None:
    mine = {"records_per_s": 30.0, "peak_mb": 5.0, "mb_per_s": 1.0, "window_s": 9.0}
    base = {"records_per_s": 10.0, "peak_mb": None, "mb_per_s": 0.0, "window_s": 3.0}
    assert ratios(mine, base) == {"records_per_s": 3}


LEGACY = Row("1KB", 1, "legacy", {"records_per_s": 1000.0, "peak_mb": 400.0}, [{}])
OURS = Row("1KB", 1, "ours", {"records_per_s": 2000.0, "peak_mb": None}, [{"records_per_s": 2e3}])
MM2 = Row("1KB", 1, "mm2", {"records_per_s": 100.0, "peak_mb": 900.0}, [{}])


def test_the_table_of_a_case() -> None:
    assert case_table([LEGACY, OURS], [LEGACY]).splitlines() == [
        "             records/s  peak MB",
        "legacy           1,000      400",
        "ours             2,000        -",
        "ours/legacy      2.00x",
    ]


def test_ratios_to_mirror_maker_2_come_after_those_to_the_old_tool() -> None:
    assert case_table([LEGACY, OURS, MM2], [LEGACY, MM2]).splitlines()[4:] == [
        "ours/legacy      2.00x",
        "mm2/legacy       0.10x    2.25x",
        "ours/mm2        20.00x",
    ]


def test_a_case_without_the_old_tool_has_no_ratios() -> None:
    assert len(case_table([OURS], []).splitlines()) == 2
    assert json.loads(json_line(OURS, {"legacy": None}, {}))["ratio_to_legacy"] is None


def test_a_case_in_which_every_run_failed() -> None:
    assert case_table([Row("1KB", 1, "ours", {}, [])], []).split() == ["ours"]


def test_one_json_line_has_it_all() -> None:
    line = json_line(OURS, {"legacy": LEGACY, "mm2": MM2}, {"failed": 1})
    assert "\n" not in line
    found = json.loads(line)
    assert found["tool"] == "ours"
    assert found["records_per_s"] == 2000
    assert found["ratio_to_legacy"] == {"records_per_s": 2}
    assert found["ratio_to_mm2"] == {"records_per_s": 20}
    assert found["runs"] == [{"records_per_s": 2000}]
    assert found["failed"] == 1


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert table([["", "b"], ["long", "1,000"]]) == "          b\nlong  1,000"


def test_profiles_and_tools_are_chosen_by_name() -> None:
    assert [profile.name for profile in choose_profiles("1KB, 100B")] == ["1KB", "100B"]
    assert choose_profiles(None) == list(PROFILES)
    assert choose_tools("mm2,legacy") == ["legacy", "mm2"]
    with pytest.raises(UsageError, match="no profile is called '2KB'"):
        choose_profiles("2KB")
    with pytest.raises(UsageError, match="no tool is called 'kafka'"):
        choose_tools("kafka")


def test_profiles_of_one_topic_have_the_same_data() -> None:
    data: dict[str, tuple[int, int, str, int]] = {}
    for profile in PROFILES:
        shape = (profile.records, profile.size, profile.codec, profile.partitions)
        assert data.setdefault(profile.topic, shape) == shape


def test_the_producer_file_of_a_profile() -> None:
    settings = {profile.name: profile.producer_settings for profile in PROFILES}
    assert settings["1KB"] == {}
    assert settings["10KB-zstd"] == {"compression.type": "zstd"}
    assert settings["long-line-explicit"] == {
        "max.in.flight.requests.per.connection": "1",
        "batch.size": "16384",
    }


def test_cautions_look_at_the_worst_run() -> None:
    good = {"window_s": 5.0, "other_cores": 0.1, "stolen_cores": 0.0, "copied_share": 1.0, "latency_missing": 0.0}
    bad = {"window_s": 4.0, "other_cores": 1.25, "stolen_cores": 0.75, "copied_share": 0.5, "latency_missing": 2.0}
    assert cautions(Row("1KB", 1, "ours", good, [good, good])) == []
    found = "; ".join(cautions(Row("1KB", 1, "ours", good, [good, bad])))
    for words in ("1.25 cores", "withheld up to 0.75 cores", "4.0 s", "50% of the records", "2 records of the latency"):
        assert words in found
    assert cautions(Row("1KB", 1, "ours", {}, [])) == []
