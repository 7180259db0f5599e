"""Java is begun early: after what its own threads would falsify, and ended where the line cannot run."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.cli import mirror_maker, mirror_start
from legacy_mm.flow import client_checks

WORDS = ("--consumer.config", "c", "--producer.config", "p", "--whitelist", "t")


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Stands for the class that starts Java."""
    (tmp_path / "c").write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    (tmp_path / "p").write_text("bootstrap.servers=127.0.0.1:2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mirror_start, "SparkHost", made := Mock())
    return made


def refusing(*_: object) -> None:
    raise ConfigurationError("not here")


def test_a_limit_on_tasks_is_read_before_java_has_threads(java: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_start, "check_task_limit", refusing)
    assert mirror_maker.run(WORDS) == 1
    java.assert_not_called()


@pytest.mark.parametrize("check", ["check_addresses", "check_logins"])
def test_a_line_that_cannot_run_leaves_no_java(java: Mock, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_checks, check, refusing)
    assert mirror_maker.run(WORDS) == 1
    java.assert_called_once()
    java.return_value.stop.assert_called_once()
