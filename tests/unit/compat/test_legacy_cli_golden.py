"""Every recorded call of 3.9.1, as far as parsing and translation decide its outcome.

Quirk null-pointer-lines is shown here: those lines are not compared.

Compared: the exit status and the first real line - the exception or its root cause, the usage text,
or the version - and the plain partition assignment line. A recorded run that only a signal ended
must come out as `Run`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.cli.parser import read_own_options
from legacy_mm.compat.client_properties.rule import Note
from legacy_mm.compat.command_line import option_table, usage
from legacy_mm.compat.messages import ASSIGNMENT_WARNING, VERSION
from legacy_mm.compat.translate import Help, NothingToDo, Run, Version, translate
from legacy_mm.errors import LegacyMMError, UsageError

DIFFERENT = {
    # quirk handler-refused
    "handler-missing-class": "handlers are refused at start",
    "handler-ok": "handlers are refused at start",
    "handler-ok-args": "handlers are refused at start",
    "handler-no-string-ctor": "handlers are refused at start",
    "handler-no-noarg-ctor": "handlers are refused at start",
    "handler-ctor-throws": "handlers are refused at start",
    "handler-wrong-type": "handlers are refused at start",
    "handler-empty-name": "handlers are refused at start",
    "handler-non-public-ctor": "handlers are refused at start",
    # quirk listener-refused
    "listener-ok-args": "listeners are refused at start",
    "listener-wrong-type": "listeners are refused at start",
    "listener-missing-class": "same exit, another sentence: listeners are refused at start",
    "listener-empty-name": "same exit, another sentence: listeners are refused at start",
    # quirk transactional-id-refused
    "transactional-id": "transactional.id is refused",
}
DECIDED_LATER = {"include-invalid-regex-star"}
"""A pattern that only Java's compiler refuses, in the core: exit 255 there."""
KINDS = {
    "decided": "recorded outcomes that parsing and translation decide",
    "started": "recorded runs that a signal ended; here only: it would start",
    "later": "a pattern handed to the core, which refuses it; here only: it would start",
}
_EXCEPTION = re.compile(r"^(?:Caused by: )?((?:[a-z]+\.)+[A-Za-z$]+: .*)$", re.MULTILINE)


def outcome(case: dict[str, Any], folder: Path, notes: list[Note]) -> tuple[int, str]:
    """Exit status and the line that explains it; 143 for a mirror that would run."""
    for name, text in case["files"].items():
        (folder / name).write_text(text, encoding="iso-8859-1")
    try:
        result = translate(case["argv"], lambda words: read_own_options(words, {}), notes)
    except UsageError as error:
        return error.exit_code, f"{error}\n{option_table()}"
    except LegacyMMError as error:
        return error.exit_code, str(error)
    if isinstance(result, Help):
        return 1, usage()
    if isinstance(result, Version):
        return 0, f"{VERSION}\n"
    if isinstance(result, NothingToDo):
        return 0, ""
    assert isinstance(result, Run)
    return 143, ""


def explains(case: dict[str, Any], text: str) -> bool:
    """Our text stands in the record: as the exception's line or its root cause's, or whole."""
    if case["exit"] == 0:
        return bool(case["stdout"] == text)
    exceptions = [
        line
        for line in _EXCEPTION.findall(case["stderr"])
        if not line.startswith("java.lang.NullPointerException")
    ]
    if exceptions and ": " in text and text[0].islower():
        return text in exceptions
    return text in case["stderr"]


def kind_of(case: dict[str, Any]) -> str:
    """Who decides the recorded outcome."""
    if case["id"] in DECIDED_LATER:
        return "later"
    return "started" if case.get("signal") else "decided"


def difference(case: dict[str, Any], folder: Path) -> str:
    """Empty when equal, else what differs."""
    notes: list[Note] = []
    status, text = outcome(case, folder, notes)
    wanted = case["exit"] if kind_of(case) == "decided" else 143
    if status != wanted:
        return f"exit {status}, recorded {wanted}: {text}"
    if kind_of(case) == "decided" and not explains(case, text):
        return f"text {text!r} is not in the record"
    warned = any(note.text == ASSIGNMENT_WARNING for note in notes)
    if warned != (ASSIGNMENT_WARNING in case["stderr"]):
        return "the partition assignment line"
    overridden = [note.text for note in notes if " is overridden to " in note.text]
    if case["log4j_root"] != "WARN" and any(line not in case["stderr"] for line in overridden):
        return f"override lines {overridden}"
    return ""


def test_recorded_outcome(
    cli_golden: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    different = {}
    for case in cli_golden["cases"]:
        folder = tmp_path_factory.mktemp("case")
        monkeypatch.chdir(folder)
        said = difference(case, folder)
        if said:
            different[case["id"]] = said
    for kind, what in KINDS.items():
        ids = [case["id"] for case in cli_golden["cases"] if kind_of(case) == kind]
        equal = [name for name in ids if name not in different]
        print(f"\n{len(equal)} of {len(ids)} equal: {what}", end="")
    print("\nnot equal:", *(f"{name}: {said}" for name, said in different.items()), sep="\n  ")
    assert set(different) == set(DIFFERENT)


def test_override_lines(
    cli_golden: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = (case for case in cli_golden["cases"] if case["id"] == "overrides-info")
    monkeypatch.chdir(tmp_path)
    notes: list[Note] = []
    outcome(case, tmp_path, notes)
    names = {10: "DEBUG", 20: "INFO", 30: "WARN"}
    lines = [f"[TS] {names[note.level]} {note.text} ({note.logger})" for note in notes]
    said: Callable[[str], bool] = lambda line: any(  # noqa: E731
        word in line for word in ("overridden", "disabled", "supplied")
    )
    recorded_lines = [line for line in case["stderr"].splitlines() if said(line)]
    assert [line for line in lines if said(line)] == recorded_lines


def test_usage_text(cli_golden: dict[str, Any]) -> None:
    (case,) = (case for case in cli_golden["cases"] if case["id"] == "no-args")
    assert case["stderr"].split("\n", 1)[1] == usage()
