"""Every recorded run of the start scripts of 15 releases, against ours.

What is compared: exit code, what the script itself prints, the words that reach the tool, the Java options that the
variables ask for, and the files made. Java options nobody asked for are not (difference: java-defaults).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.explain.differences import DIFFERENCES
from legacy_mm.words.legacy_tool import environment
from tests.structure.source_tree import CHECKOUT
from tests.structure.stand_in import TO_PYTHON, make_checkout, run, words_given

CASES = json.loads((CHECKOUT / "compat" / "recorded" / "scripts" / "of-15-releases.json").read_text())["cases"]
CLASS = "kafka.tools.MirrorMaker"
FIRST = {"0.8.2.2"}
NOT_QUOTED = FIRST | {"0.9.0.0"}
BEFORE_DEBUG = NOT_QUOTED | {"0.9.0.1"}
BEFORE_EMPTY_CHECK = BEFORE_DEBUG | {"0.10.0.0", "0.11.0.2"}
ANSWERS_VERSION = {"2.0.1", "2.2.2"}
BEFORE_LOG_SIZE = BEFORE_EMPTY_CHECK | ANSWERS_VERSION | {"1.1.1", "2.3.0", "2.5.1", "2.6.0"}
BEFORE_RMI_PORT = BEFORE_LOG_SIZE | {"2.8.2"}
ALL = {case["version"] for case in CASES}
DEBUG = ("debug", "debug-suspend-port", "debug-opts")
MAKES_NO_FOLDER = {"rc-no-args", "log4j-opts", "log-dir-and-log4j-opts"}  # or does in every release
# (difference, releases, case -> what differs)
OTHERWISE: list[tuple[str, set[str], dict[str, set[str]]]] = [
    ("start-script-of-3.9", NOT_QUOTED, {"plain": {"words"}, "glob": {"words"}}),
    ("start-script-of-3.9", BEFORE_DEBUG, dict.fromkeys(DEBUG, {"says", "java"})),
    ("start-script-of-3.9", BEFORE_RMI_PORT, {"jmx-port": {"java"}}),
    ("start-script-of-3.9", BEFORE_LOG_SIZE, {"rc-name-loggc": {"java"}}),
    ("start-script-of-3.9", FIRST, dict.fromkeys({case["case"] for case in CASES} - MAKES_NO_FOLDER, {"files"})),
    ("start-script-of-3.9", FIRST, {"rc-loggc-with-opts": {"complains"}, "rc-daemon-name": {"complains"}}),
    ("start-script-of-3.9", ANSWERS_VERSION, {"version": {"words"}}),
    ("no-libs-folder", ALL - BEFORE_EMPTY_CHECK, {"rc-no-libs": {"exit", "says", "words"}}),
]


@dataclass(frozen=True)
class Outcome:
    """What one run of a script came to; paths are relative to the installation."""

    exit: int
    says: str
    complains: str
    words: tuple[str, ...] | None
    java: tuple[str, ...]
    files: frozenset[str]


def recorded(case: dict[str, Any], performance: set[str]) -> Outcome:
    """The old script's, without the options that no variable asked for."""
    lines = [plain(line) for line in case["stdout"].splitlines()]
    begins = next((at for at, line in enumerate(lines) if line.startswith("-")), len(lines))
    java, words = lines[begins:], None
    if java:
        class_at = next(at for at, line in enumerate(java) if line.startswith("kafka."))
        java, words = java[:class_at], tuple(java[class_at:])
        class_path = java.index("-cp")
        del java[class_path : class_path + 2]
    env = case["env"]
    unasked = {"-Xmx256M"} if "KAFKA_HEAP_OPTS" not in env else set()
    unasked |= performance if "KAFKA_JVM_PERFORMANCE_OPTS" not in env else set()
    if not {"KAFKA_JMX_OPTS", "JMX_PORT"} & set(env):
        unasked |= {line for line in java if line.startswith("-Dcom.sun.management.jmxremote")}
    kept = [line for line in java if line not in unasked and not line.startswith(("-Dkafka.logs.dir", "-Dlog4j."))]
    says = "".join(f"{line}\n" for line in lines[:begins])
    complains = plain(case["stderr"].replace("to-stderr\n", ""))
    return Outcome(case["exit"], says, complains, words, tuple(kept), frozenset(case["files_made"]))


def ours(case: dict[str, Any], folder: Path) -> Outcome:
    """The same call of our script and what `environment.py` makes of the variables."""
    make_checkout(folder)
    for name in ("c.properties", "p.properties"):
        (folder / name).touch()
    before = set(files_in(folder))
    done = run(f"bin/{case['script']}", *case["argv"], cwd=folder, environment=case["env"])
    given = words_given(done.stdout)
    words = tuple(given[len(TO_PYTHON) :]) if given else None
    says = "" if given else done.stdout
    java: tuple[str, ...] = ()
    if given:
        gc_log = re.search(r"^gc (.+)$", done.stdout, re.MULTILINE)
        found = environment.read({**case["env"], "KAFKA_GC_LOG_OPTS": gc_log[1] if gc_log else ""})
        says = f"{found.debug}\n" if found.debug else ""
        java = tuple(plain(option.replace(str(folder), "<INSTALL>")) for option in found.jvm.options)
    made = frozenset(set(files_in(folder)) - before)
    return Outcome(done.returncode, says, plain(done.stderr.replace(str(folder), "<INSTALL>")), words, java, made)


def files_in(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        yield str(path.relative_to(folder)) + ("/" if path.is_dir() else "")


def plain(text: str) -> str:
    """Without line numbers of a script, and with one way to write its paths."""
    text = re.sub(r"(?<=kafka-run-class\.sh: )line \d+: ", "", text)
    text = re.sub(r"(?:<INSTALL>/)?bin/\.\./", "<INSTALL>/", text)
    return re.sub(r"^-Dcom\.sun\.management\.jmxremote$", r"\g<0>=true", text)


def differences(old: Outcome, new: Outcome) -> set[str]:
    return {name for name in Outcome.__dataclass_fields__ if getattr(old, name) != getattr(new, name)}


def expected(case: dict[str, Any]) -> dict[str, str]:
    """What may differ, and the difference that says so."""
    return {
        what: difference
        for difference, releases, cases in OTHERWISE
        if case["version"] in releases
        for what in cases.get(case["case"], ())
    }


@pytest.fixture(scope="module")
def performance() -> dict[str, set[str]]:
    """Release -> the performance options that its script adds unasked."""
    starts = ("-XX", "-server", "-Djava.awt")
    return {
        case["version"]: {line for line in case["stdout"].splitlines() if line.startswith(starts)}
        for case in CASES
        if case["case"] == "plain"
    }


@pytest.fixture(scope="module")
def counts() -> Iterator[Counter[str]]:
    counted: Counter[str] = Counter()
    yield counted
    by_row = ", ".join(f"{row} {number}" for row, number in sorted(counted.items()) if row != "equal")
    print(f"\nrecorded runs of start scripts: {counted.total()}: equal {counted['equal']}, known differences: {by_row}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['version']}-{case['case']}")
def test_recorded_case(
    case: dict[str, Any], tmp_path: Path, performance: dict[str, set[str]], counts: Counter[str]
) -> None:
    """Difference: start-script-of-3.9, java-defaults, no-libs-folder."""
    old, new = recorded(case, performance[case["version"]]), ours(case, tmp_path / "install")
    allowed = expected(case)
    assert differences(old, new) == set(allowed), f"\nold: {old}\nours: {new}"
    counts[min(allowed.values(), default="equal")] += 1


def test_every_row_named_here_is_a_known_difference() -> None:
    assert {difference for difference, _, _ in OTHERWISE} <= {row.id for row in DIFFERENCES}
