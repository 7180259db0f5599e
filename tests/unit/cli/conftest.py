"""`legacy-mm explain` of a line with its two files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from legacy_mm.cli.legacy_mm import main

CONSUMER = "bootstrap.servers=127.0.0.1:1\ngroup.id=g\n"
PRODUCER = "bootstrap.servers=127.0.0.1:2\n"
OLD_LINE = ("kafka-mirror-maker.sh", "--consumer.config", "c.properties", "--producer.config", "p.properties")
Explain = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Explain:
    """Writes the two files and explains a command line; exit code and standard output."""
    monkeypatch.chdir(tmp_path)
    for variable in ("JAVA_HOME", "CLASSPATH"):
        monkeypatch.delenv(variable, raising=False)

    def explained(
        *words: str, consumer: str = CONSUMER, producer: str = PRODUCER, flags: tuple[str, ...] = ("--offline",)
    ) -> tuple[int, str]:
        (tmp_path / "c.properties").write_text(consumer)
        (tmp_path / "p.properties").write_text(producer)
        code = main(["explain", *flags, "--", *words])
        return code, capsys.readouterr().out

    return explained
