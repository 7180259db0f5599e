"""What `legacy-mm verify` prints of differences that were found."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.audit.topic_comparison import ComparisonOutcome, TopicDifference, Totals, Unread
from legacy_mm.cli.legacy_mm import main
from legacy_mm.cli.verify import _lines


@pytest.mark.parametrize(
    ("timestamp", "told"),
    [
        (1_700_000_000_000, "2023-11-14 22:00 UTC"),
        (-1, "1969-12-31 23:00 UTC"),
        (1_700_000_000_000_000, "about 1699999999200 s since 1970"),
        ((1 << 63) - 1, "about 9223372036854000 s since 1970"),
    ],
    ids=["milliseconds", "none", "microseconds", "as late as can be"],
)
def test_the_hour_of_a_difference(timestamp: int, told: str) -> None:
    row = TopicDifference("t", "missing", 2, timestamp // 3_600_000, 1, 5, 5)
    (line,) = _lines(ComparisonOutcome({"t": "t"}, (), (row,)))
    assert line == f"t: 1 records missing, source partition 2, offsets 5 to 5, {told}"


def test_a_hash_has_16_digits() -> None:
    """As in `bin/demo`: two hashes are compared by eye."""
    (line,) = _lines(ComparisonOutcome({"t": "t"}, (Totals("t", "source", 1, 0xF39C),), ()))
    assert line == "t: 1 records at the source, hash 000000000000f39c"


def test_what_was_not_compared_is_told_with_its_partition_and_offsets() -> None:
    maybe = TopicDifference("t", "missing", 1, 0, 3, 6, 8)
    told = list(_lines(ComparisonOutcome({"t": "us.t"}, (), (), (Unread("t", "target", 2, 6, 9),), (maybe,))))
    assert told == [
        "t: 3 records missing, source partition 1, offsets 6 to 8, 1970-01-01 00:00 UTC; perhaps among the offsets "
        "that were not compared",
        "us.t-2: a transaction is open at the target from offset 6 on: offsets 6 to 8 were not compared; compare again "
        "when it has ended",
    ]


@pytest.mark.parametrize("option", ["--source-config", "--rename.topics"])
def test_what_mirror_maker_2_s_file_says_is_not_said_again(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It would have no effect."""
    assert main(["verify", option, "true", "--", "connect-mirror-maker.sh", str(tmp_path / "mm2.properties")]) == 1
    assert f"{option} is for kafka-mirror-maker.sh: MirrorMaker 2's file" in capsys.readouterr().err
