"""`legacy-mm plan` and `apply` where no cluster is reached: what is refused, and with which code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from legacy_mm.cli.legacy_mm import main

LINE = ("kafka-mirror-maker.sh", "--consumer.config", "c.properties", "--producer.config", "p.properties")
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs one of our commands in a folder with the two files; exit code and standard error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.properties").write_text("bootstrap.servers=nowhere.invalid:1\ngroup.id=g\n")
    (tmp_path / "p.properties").write_text("bootstrap.servers=nowhere.invalid:2\n")

    def called(*words: str) -> tuple[int, str]:
        code = main(words)
        said = capsys.readouterr()
        assert not said.out
        return code, said.err

    return called


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("plan",), "behind -- comes the command line of a mirror that runs"),
        (("plan", "--output"), "argument --output: expected one argument"),
        (("plan", "--no.such.flag", "1", "--", *LINE, "--include", "t"), "no.such.flag"),
        (("plan", "--topic.creation", "perhaps", "--", *LINE, "--include", "t"), "topic.creation"),
        (("plan", "--", *LINE, "--include", "t"), "No resolvable bootstrap urls"),
        (("plan", "--", *LINE, "--help"), "behind -- comes the command line of a mirror that runs"),
        (("apply",), "the following arguments are required: plan"),
        (("apply", "nowhere.json", "--", *LINE), "nowhere.json cannot be read: No such file or directory"),
    ],
)
def test_what_is_refused(run: Run, words: tuple[str, ...], said: str) -> None:
    code, told = run(*words)
    assert code == 1
    assert told.startswith("legacy-mm: ") and said in told


CHANGE = {"change": "add-partitions", "topic": "t", "old": 1, "new": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no plan"),
        ("[]", "is no plan"),
        ('{"format": 1}', "is no plan"),
        ('{"format": 1, "flows": [{"flow": "f", "duties": [{"duty": "d"}]}]}', "is no plan"),
        ('{"format": 2, "flows": []}', "was saved by another version"),
        (
            json.dumps(
                {"format": 1, "flows": [{"flow": "f", "duties": [{"duty": "d", "changes": [{**CHANGE, "x": 1}]}]}]}
            ),
            "this is no change",
        ),
    ],
)
def test_what_is_no_plan(run: Run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    code, told = run("apply", "plan.json", "--", *LINE, "--include", "t")
    assert code == 1
    assert said in told
