"""`legacy-mm ledger produce`, ended by a signal; no Kafka."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from legacy_mm.audit.ledger import Ledger, LedgerEntry
from legacy_mm.audit.stop_signals import StoppedBySignal
from legacy_mm.cli import ledger as command
from legacy_mm.cli.legacy_mm import main


def test_a_signal_while_a_record_is_noted_leaves_it_out_of_the_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only what is in the file will be looked for at the target."""

    def produce(ledger: Ledger, *_: object) -> int:
        first, second = ledger.reserve(2)
        ledger.note(LedgerEntry(first, 0, 0, 1, 1, ()))
        ledger._keep(LedgerEntry(second, 0, 1, 1, 1, ()))
        raise StoppedBySignal(signal.SIGTERM)

    monkeypatch.setattr(command, "produce", produce)
    monkeypatch.setattr(command, "_require_answer", lambda *_: None)
    config, noted = tmp_path / "c.properties", tmp_path / "noted"
    config.write_text("bootstrap.servers=127.0.0.1:1\n", encoding="utf-8")
    assert main(("ledger", "produce", "--config", str(config), "--topic", "t", "--file", str(noted))) == 143
    assert capsys.readouterr().out == f"1 records acknowledged, then stopped; ledger: {noted}\n"
    assert Ledger.load(noted).acknowledged == 1
