"""`legacy-mm options` and `quirks`: every row is printed, and nothing but text."""

from __future__ import annotations

import pytest

from legacy_mm.cli.legacy_mm import main
from legacy_mm.explain.differences import DIFFERENCES
from legacy_mm.features.rows import FLAGS, WITHOUT_EFFECT
from legacy_mm.words.options.option_catalogue import OPTIONS


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([name]) == 0
    out, error = capsys.readouterr()
    assert not error
    return out


def test_each_option_of_ours_is_listed_once_with_its_variable(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed("options", capsys)
    for row in (*OPTIONS, *(feature.option for feature in FLAGS), *WITHOUT_EFFECT.values()):
        assert out.count(f"  --{row.name} <") == 1, row.name
        assert row.environment_variable in "".join(out.split()), row.name


def test_each_difference_is_listed_with_both_sides_and_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = printed("quirks", capsys).split("\n  concerns:    ")
    assert len(blocks) == len(DIFFERENCES) + 1
    for row, block in zip(DIFFERENCES, blocks[1:], strict=True):
        lines = block.split("\n")
        assert lines[0] and "`" not in lines[0], row.id
        assert lines[1:4] == [
            f"  legacy tool: {row.legacy}",
            f"  legacy_mm:   {row.ours}",
            f"  reason:      {row.reason}",
        ]
