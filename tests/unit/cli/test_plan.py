"""`legacy-mm plan` and `apply` where no cluster is reached: what is refused, and with which code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.cli import plan
from legacy_mm.cli.cluster_inspection import FlowPlan
from legacy_mm.cli.legacy_mm import main
from legacy_mm.policies.changes import Change, ChangeOutcome, CreateTopic, Inspection

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


ONE, OTHER = CreateTopic("one", 1, -1), CreateTopic("other", 1, -1)


class FakeClusters:
    """Two clusters between which a plan finds what it is told to find; the target may refuse it."""

    def __init__(self) -> None:
        self.found = FlowPlan("f", {})
        self.error = ""
        self.applied: list[Change] = []

    def find(self, *changes: Change) -> None:
        self.found = FlowPlan("f", {"duty": Inspection(changes)})

    def inspect(self) -> FlowPlan:
        return self.found

    def apply(self, changes: Sequence[Change]) -> Iterator[ChangeOutcome]:
        self.applied += changes
        return (ChangeOutcome(change, self.error) for change in changes)


@pytest.fixture
def clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeClusters:
    """Those of `legacy-mm plan` and `apply`, in a folder with the two files."""
    made = FakeClusters()
    monkeypatch.chdir(tmp_path)
    for name in ("c.properties", "p.properties"):
        (tmp_path / name).write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    monkeypatch.setattr(plan, "FlowClusters", lambda settings, names, jvm: made)
    monkeypatch.setattr(plan, "java_for", lambda home: nullcontext())
    return made


def called(*words: str) -> int:
    return main((*words, "--", *LINE, "--include", "t"))


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ({"inspections": {"duty": Inspection(notes=("a note",))}}, 0),
        ({"inspections": {"duty": Inspection((ONE,))}}, 2),
        ({"inspections": {}, "moves": {"group": ["group continues at t-0=5"]}}, 2),
        ({"inspections": {"duty": Inspection((ONE,), ("trouble",))}}, 1),
    ],
    ids=["nothing", "a change", "a group", "trouble"],
)
def test_the_exit_code_says_what_a_plan_has_found(
    clusters: FakeClusters, found: dict[str, Any], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    clusters.found = FlowPlan("f", **found)
    assert called("plan") == code
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("1 marked as trouble, so the exit code is 1. The plan is whole") == (code == 1)


@pytest.mark.parametrize(("error", "code"), [("", 0), ("it is refused", 1)], ids=["done", "refused"])
def test_the_exit_code_says_whether_all_was_done(clusters: FakeClusters, error: str, code: int) -> None:
    clusters.find(ONE)
    called("plan", "--output", "plan.json")
    clusters.error = error
    assert called("apply", "plan.json") == code
    assert clusters.applied == [ONE]


@pytest.mark.parametrize(
    ("now", "said"),
    [((ONE, OTHER), f"only now: {OTHER.text}"), ((), f"only in the plan: {ONE.text}")],
    ids=["more", "less"],
)
def test_a_plan_that_the_clusters_have_outgrown_is_refused(
    clusters: FakeClusters, now: Sequence[Change], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    clusters.find(ONE)
    called("plan", "--output", "plan.json")
    clusters.find(*now)
    assert called("apply", "plan.json") == 1
    assert said in capsys.readouterr().err
    assert not clusters.applied
