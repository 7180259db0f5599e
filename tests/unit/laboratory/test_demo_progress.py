"""Progress of a mirror as numbers and as lines."""

from __future__ import annotations

import io

import pytest

from compat.laboratory.demo_progress import Progress, ProgressDisplay, Written, progress, progress_line

WRITTEN = {"orders.eu": Written(1_000, 500_000), "audit": Written(200, 20_000)}


class Terminal(io.StringIO):
    """Says that it is one."""

    def isatty(self) -> bool:
        return True


def test_nothing_has_arrived() -> None:
    assert progress(WRITTEN, {}, 1.5) == Progress(1.5, 0, 0.0, 1_200)


def test_bytes_follow_from_the_records_of_each_topic() -> None:
    assert progress(WRITTEN, {"orders.eu": 500, "audit": 200}, 2.0) == Progress(2.0, 700, 270_000.0, 500)


def test_speed_is_that_since_the_line_before() -> None:
    line = progress_line(Progress(2.0, 100_000, 5e7, 200_000), Progress(4.0, 150_000, 8e7, 150_000))
    assert line == "  4.0 s   50%   150,000 records    25,000/s   15.0 MB/s   lag 150,000"


def test_a_file_gets_a_line_per_second() -> None:
    out = io.StringIO()
    display = ProgressDisplay(out)
    assert not display.due(0.9)
    assert display.due(1.0)
    display.show(Progress(1.0, 10, 1e6, 90))
    assert not display.due(1.9)
    display.close()
    assert out.getvalue() == "    1.0 s   10%        10 records        10/s    1.0 MB/s   lag 90\n"


def test_a_terminal_gets_one_line_that_is_rewritten() -> None:
    out = Terminal()
    display = ProgressDisplay(out)
    assert display.due(0.25)
    display.show(Progress(0.5, 1, 0.0, 9))
    display.show(Progress(1.0, 10, 0.0, 0))
    display.close()
    assert out.getvalue().count("\n") == 1
    assert out.getvalue().count("\r") == 2
    assert out.getvalue().endswith("lag 0\x1b[K\n")


def test_a_narrow_terminal_gets_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that goes on in the next one cannot be rewritten."""
    monkeypatch.setenv("COLUMNS", "60")
    out = Terminal()
    display = ProgressDisplay(out)
    display.show(Progress(1.0, 123_456, 1e7, 176_544))
    display.show(Progress(2.0, 234_567, 2e7, 65_433))
    shown = out.getvalue().replace("\x1b[K", "").split("\r")[1:]
    assert [len(line) for line in shown] == [59, 59]
