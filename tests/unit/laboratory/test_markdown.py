"""Tables in Markdown."""

from __future__ import annotations

from compat.laboratory.markdown import table


def test_a_row_is_a_line_below_the_heads() -> None:
    assert table(["a", "b"], [[1, "x"], [2, "y"]]) == "| a | b |\n| --- | --- |\n| 1 | x |\n| 2 | y |\n"
    assert table(["a"], []) == "| a |\n| --- |\n"
