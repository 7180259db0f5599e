"""`legacy-mm features`: the ladder in its order, and all flags as JSON."""

from __future__ import annotations

import json

import pytest

from legacy_mm.cli.legacy_mm import main
from legacy_mm.features.rows import FLAGS, WITHOUT_EFFECT


def test_the_ladder_is_in_its_order_and_every_flag_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["features"]) == 0
    told = capsys.readouterr().out
    steps = sorted((row for row in FLAGS if row.is_feature), key=lambda row: row.step)
    places = [told.index(f"{row.step}. {row.name}=true") for row in steps]
    assert places == sorted(places)
    assert [row.name for row in FLAGS if row.name not in told] == []
    assert [name for name in WITHOUT_EFFECT if name not in told] == []
    assert "needs preserve.partitions: the records of a partition must stay in one partition" in told


def test_json_has_every_flag_with_its_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["features", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == [row.name for row in FLAGS]
    checkpoints = next(row for row in rows if row["name"] == "emit.checkpoints.enabled")
    assert (checkpoints["step"], checkpoints["needs"]) == (9, ["emit.offset-syncs.enabled"])
    assert next(row for row in rows if row["name"] == "groups")["step"] is None
