"""`legacy-mm --version` and `legacy-mm --help`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from compat.laboratory.checkout import CHECKOUT
from legacy_mm.cli import version
from legacy_mm.cli.commands import COMMANDS
from legacy_mm.cli.legacy_mm import main


def test_a_checkout_names_its_commit() -> None:
    words = ["git", "-C", str(CHECKOUT), "rev-parse", "HEAD"]
    head = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    assert head.startswith(version.commit())
    assert len(version.commit()) == 12


@pytest.mark.parametrize(
    ("recorded", "commit"), [("0123456789ab\n", "0123456789ab"), ("", "unknown"), (None, "unknown")]
)
def test_an_installation_names_the_commit_that_the_build_has_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, recorded: str | None, commit: str
) -> None:
    package = tmp_path / "legacy_mm"
    package.mkdir()
    if recorded is not None:
        (package / "commit.txt").write_text(recorded)
    monkeypatch.setattr("legacy_mm.__file__", str(package / "__init__.py"))
    assert version.commit() == commit


def test_help_shows_each_command_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert f"  {name} " in text
        assert f"legacy-mm {command.example}\n" in text
        assert command.example.split()[0] == name


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_has_help_of_its_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The table's module and function are there, and no command takes --help for a word of its own."""
    try:
        code = main([name, "--help"])
    except SystemExit as end:
        code = int(end.code or 0)
    assert code == 0
    assert capsys.readouterr().out.startswith(f"usage: legacy-mm {name}")
