"""What is drawn, and that it goes forward only and leaves nothing."""

from __future__ import annotations

import io

from legacy_mm.cli.output import ProgressBar


def test_it_goes_forward_in_one_line() -> None:
    out = io.StringIO()
    bar = ProgressBar(out)
    for done in (0.0, 0.5, 0.25, 1.2):
        bar.show(done)
    bar.clear()
    steps = out.getvalue().split("\r")[1:]
    assert [step.split()[-1] for step in steps[:4]] == ["0%", "50%", "50%", "100%"]
    assert [step.count("#") for step in steps[:4]] == [0, 20, 20, 40]
    assert steps[4] == "\x1b[K" and "\n" not in out.getvalue()
