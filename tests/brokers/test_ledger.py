"""`legacy-mm ledger` on real brokers, as a user runs it: exit codes and words."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, wait_for_count
from legacy_mm.audit.load import load
from legacy_mm.cli.legacy_mm import main
from tests.fixtures import signals

pytestmark = pytest.mark.brokers
PRODUCE = (sys.executable, "-m", "legacy_mm.cli.legacy_mm", "ledger", "produce")


@pytest.fixture
def common(source: Any, tmp_path: Path) -> list[str]:
    """The words that name a ledger and the source cluster."""
    config = tmp_path / "client.properties"
    config.write_text(f"bootstrap.servers={source.bootstrap}\n", encoding="utf-8")
    return ["--config", str(config), "--file", str(tmp_path / "ledger")]


def test_produce_and_check(
    source: Any, common: list[str], topic: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The source against its own ledger is equal; with one foreign record, or against nothing, it is not."""
    name = topic("ledger")
    create_topic(source.bootstrap, name)
    done = subprocess.run([*PRODUCE, *common, "--topic", name, "--records", "3000"], check=True, stdout=subprocess.PIPE)
    assert b"3000 records acknowledged, 0 refused" in done.stdout
    assert main(["ledger", "check", *common]) == 0
    assert "3000 records in the ledger, 3000 at the target: 0 lost" in capsys.readouterr().out
    # behind --, a mirror's line: its consumer file to write, its producer file to judge
    more, files = ["--file", f"{common[-1]}2"], ["--consumer.config", common[1], "--producer.config", common[1]]
    line = ["--", "kafka-mirror-maker.sh", *files, "--whitelist", "x"]
    create_topic(source.bootstrap, second := topic("by-line"))
    assert main(["ledger", "produce", *more, "--topic", second, "--records", "10", *line]) == 0
    assert main(["ledger", "check", *more, *line]) == 0
    assert "10 records in the ledger, 10 at the target" in capsys.readouterr().out
    load(source.bootstrap, name, 1, 20)
    assert main(["ledger", "check", *common]) == 2
    assert "unexpected: 1 records, target partition" in capsys.readouterr().out
    assert main(["ledger", "check", *common, "--topic", topic("nothing")]) == 1
    assert ": it refuses: Broker: Unknown topic or partition" in capsys.readouterr().err


def test_produce_is_stopped(
    source: Any, common: list[str], topic: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Everything that was acknowledged is in the ledger."""
    name = topic("ledger")
    create_topic(source.bootstrap, name)
    endless = [*PRODUCE, *common, "--topic", name, "--records", "1000000", "--rate", "300"]
    with subprocess.Popen(endless, stdout=subprocess.PIPE, text=True, preexec_fn=signals.taken) as producing:
        wait_for_count(source.bootstrap, name, 200, 30.0)  # some of them are not acknowledged yet
        producing.send_signal(signal.SIGTERM)
        said, _ = producing.communicate(timeout=30)
    assert producing.returncode == 143
    acknowledged, _, rest = said.partition(" ")
    assert rest.startswith("records acknowledged, then stopped")
    assert int(acknowledged) >= 100
    assert main(["ledger", "check", *common]) == 0
    assert f"{acknowledged} records in the ledger" in capsys.readouterr().out


def test_what_cannot_be_read_is_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "client.properties"
    config.write_text("bootstrap.servers=127.0.0.1:1\n", encoding="utf-8")
    assert main(["ledger", "check", "--config", str(config), "--file", str(tmp_path / "none")]) == 1
    assert capsys.readouterr().err == f"legacy-mm: {tmp_path}/none cannot be read: No such file or directory\n"
