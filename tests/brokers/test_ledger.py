"""`legacy-mm ledger` on real brokers, as a user runs it: exit codes and words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.cli.legacy_mm import main
from legacy_mm.testbed.load import load
from legacy_mm.testbed.records import create_topic

pytestmark = pytest.mark.brokers


def test_produce_and_check(
    source: Any, topic: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The source against its own ledger is equal; with one foreign record, or against nothing, it is not."""
    name = topic("ledger")
    create_topic(source.bootstrap, name)
    config, file = tmp_path / "client.properties", tmp_path / "ledger"
    config.write_text(f"bootstrap.servers={source.bootstrap}\n", encoding="utf-8")
    common = ["--config", str(config), "--file", str(file)]
    assert main(["ledger", "produce", *common, "--topic", name, "--records", "3000"]) == 0
    assert "3000 records acknowledged, 0 refused" in capsys.readouterr().out
    assert main(["ledger", "check", *common]) == 0
    assert "3000 records in the ledger, 3000 at the target: 0 lost" in capsys.readouterr().out
    load(source.bootstrap, name, 1, 20)
    assert main(["ledger", "check", *common]) == 2
    assert "unexpected: 1 records, target partition" in capsys.readouterr().out
    assert main(["ledger", "check", *common, "--topic", topic("nothing")]) == 1
    assert "KafkaException" in capsys.readouterr().err


def test_what_cannot_be_read_is_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "client.properties"
    config.write_text("bootstrap.servers=127.0.0.1:1\n", encoding="utf-8")
    assert main(["ledger", "check", "--config", str(config), "--file", str(tmp_path / "none")]) == 1
    assert "cannot be read as a ledger" in capsys.readouterr().err
