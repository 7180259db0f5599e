"""What `legacy-mm exactly-once status` prints; `tests/brokers/test_exactly_once.py` runs all of it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.cli import bundle_positions
from legacy_mm.cli.legacy_mm import main
from legacy_mm.exactly_once.transaction_version import TransactionVersion

LINE = ("--", "--consumer.config", "c.properties", "--producer.config", "p.properties", "--include", "t")


def test_status_names_the_transaction_version_of_the_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def positions(settings: Any, deadline: Any) -> Any:
        flow = SimpleNamespace(positions_topic="pos")
        return SimpleNamespace(rows=list, transaction_version=lambda: TransactionVersion.TWO, flow=flow)

    monkeypatch.chdir(tmp_path)
    for name in "cp":
        (tmp_path / f"{name}.properties").write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    monkeypatch.setattr(bundle_positions, "PositionChanges", positions)
    assert main(["exactly-once", "status", *LINE]) == 0
    assert capsys.readouterr().out.startswith("positions topic pos\ntransaction version 2\n")
    assert main(["exactly-once", "status", "--json", *LINE]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "positions_topic": "pos",
        "transaction_version": 2,
        "partitions": [],
    }
