"""Every command ends with 1 where its words are wrong: 2 says something about clusters."""

from __future__ import annotations

import pytest

from legacy_mm.cli.legacy_mm import main


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("explain", "--help"), ("explain", "-h")], ids=" ".join)
def test_who_asks_for_help_gets_it(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    said = capsys.readouterr()
    assert (said.out.startswith("usage: legacy-mm "), said.err) == (True, "")


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "--topics", "t"),
        ("verify", "--source-config", "s", "--target-config", "t", "--topic", "t"),
        ("ledger",),
        ("ledger", "check", "--file", "f"),
        ("ledger", "produce", "--topic", "t", "--file", "f", "--config", "c", "--records", "many"),
        ("selftest", "--source", "s"),
        ("selftest", "--source", "s", "--target", "t", "--scenarios", "copy,none"),
        ("plan", "--output"),
        ("translate", "--group"),
        ("cutover",),
        ("adopt",),
        ("redrive", "--file"),
        ("handler",),
        ("handler", "test"),
        ("install",),
        ("uninstall", "--home", "/"),
        ("clusters", "--nope"),
        ("heartbeats", "--timeout", "soon"),
        ("checkpoints", "--sources", "a"),
        ("features", "--nope"),
        ("options", "--nope"),
        ("quirks", "--nope"),
    ],
    ids=" ".join,
)
def test_one(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("legacy-mm: ")
    assert f"usage: legacy-mm {words[0]}" in said.err
