"""Every command ends with 1 where its words are wrong: 2 says something about clusters."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.audit.ledger import Ledger
from legacy_mm.cli import ledger
from legacy_mm.cli.legacy_mm import main
from tests.unit.cli.conftest import CONSUMER, PRODUCER


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explan",), "legacy-mm: explan is no command: explain was probably meant\n"),
        (("--verison",), "legacy-mm: --verison is no command: --version was probably meant\n"),
        (("xyz",), "legacy-mm: xyz is no command\n"),
        (
            ("verify", "--sourceconfig", "s", "--target-config", "t", "--topics", "t"),
            "\n--sourceconfig is no option: --source-config was probably meant\n",
        ),
        (("ledger", "check", "--file", "f", "--allow-dublicates"), ": --allow-duplicates was probably meant\n"),
        (
            ("verify", "--consumer.config", "c", "--producer.config", "p"),
            "\nput -- before the command line of the mirror\n",
        ),
        (
            ("plan", "--topic.creaton", "true", "--", "--consumer.config", "c", "--producer.config", "p"),
            "\n--topic.creaton is no option: --topic.creation was probably meant.\n",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_was_probably_meant(words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 1
    assert said in capsys.readouterr().err


def test_help_is_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    assert capsys.readouterr().out.startswith("usage: legacy-mm COMMAND")
    assert main(["help", "explain"]) == 0
    assert capsys.readouterr().out.startswith("usage: legacy-mm explain")


def test_a_missing_file_is_said_in_words_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ("--", "--consumer.config", "c.properties", "--producer.config", "p.properties", "--whitelist", "t")
    for words in (("plan", *line), ("verify", *line), ("redrive", "f", *line)):
        assert main(words) == 1
        assert capsys.readouterr().err == f"legacy-mm: c.properties: no such file in {tmp_path}\n"
    assert main(("ledger", "check", "--file", "w.ledger", "--config", "c.properties")) == 1
    assert capsys.readouterr().err == f"legacy-mm: c.properties: no such file in {tmp_path}\n"


@pytest.mark.parametrize(
    ("words", "cluster"),
    [
        (("produce", "--topic", "t", "--file", "new"), "source (127.0.0.1:1)"),
        (("check", "--file", "kept"), "target (127.0.0.1:2)"),
    ],
    ids=["source", "target"],
)
def test_a_cluster_that_is_away_is_named(
    words: tuple[str, ...],
    cluster: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Before anything is written: a producer would try for minutes."""
    monkeypatch.setattr(ledger, "_ASK_TIMEOUT", 0.3)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c").write_text(CONSUMER)
    (tmp_path / "p").write_text(PRODUCER)
    kept = Ledger("t", tmp_path / "kept")
    kept.close()
    line = ("--", "--consumer.config", "c", "--producer.config", "p", "--whitelist", "t")
    assert main(("ledger", *words, *line)) == 1
    assert capsys.readouterr().err.startswith(f"legacy-mm: the {cluster}: listing topics failed: ")
    assert not (tmp_path / "new").exists()
