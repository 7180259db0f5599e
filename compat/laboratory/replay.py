"""Recorded calls of the real tool, run again on another one, and what is different.

The records are in `compat/recorded`. Compared are exit status, stdout and stderr. Left out of both
sides, each for a row of the ledger: stack frames, the NullPointerExceptions that followed every error,
and the lines of Java's own clients. A case that is still not equal must be named in `KNOWN`.
"""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import OLD
from compat.laboratory.tools import LAUNCHER
from legacy_mm.audit.java_files import write_log_configuration
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.runtime.jvm.java_home import find_java

RECORDED = CHECKOUT / "compat" / "recorded"
STARTED = 143
"""Exit code of a runner for a tool that would mirror, if it does not let it: as after SIGTERM."""

_FRAME = re.compile(r"\t(?:at |\.\.\. )")
_LOG_LINE = re.compile(r"\[[^\]]*\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ")
_NULL_POINTER = re.compile(r'(?:Exception in thread "\w+" )?java\.lang\.NullPointerException(?::|$)')
_LOGGER = re.compile(r"\(([\w.$]+)\)$")
_PLAIN = ("WARNING: ", "Exception in thread ")
_TOOL = "kafka.tools.MirrorMaker$"
_THREAD = "kafka.tools.MirrorMaker$MirrorMakerThread"
_SECONDS = 60.0
_FIRST_FAILURE = re.compile("Connection refused|could not be established")
_HOOK = "Start clean shutdown."


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded call."""

    release: str
    id: str
    argv: Sequence[str]
    files: Mapping[str, str]
    """In the working directory."""
    level: str
    """Root level of log4j."""
    code: int
    """Exit status as a shell shows it."""
    stdout: str
    stderr: str
    signal: str | None = None
    """Ended it, after it had tried to connect."""

    def write_files(self, folder: Path) -> None:
        """Write the files that the case names."""
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="iso-8859-1")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The same of another tool."""

    code: int
    stdout: str
    stderr: str


Runner = Callable[[Case, Path], Outcome]


@dataclass(frozen=True, slots=True)
class Different:
    """Recorded cases that differ on purpose."""

    difference: str
    """The id of the ledger's row."""
    cases: tuple[str, ...]
    releases: tuple[str, ...] = ()
    """Empty: all."""

    def names(self, case: Case) -> bool:
        """Return True if the case is one of them."""
        return case.id in self.cases and case.release in (self.releases or (case.release,))


_BEFORE_2_0 = ("0.8.2.2", "0.9.0.1", "0.10.2.2", "1.1.1")
_SINCE_0_9 = ("0.9.0.1", "0.10.2.2", "1.1.1", "2.0.1", "2.8.2")
KNOWN = (
    Different(
        "handler-checked-at-start",
        (
            "handler-missing-class", "handler-ok", "handler-ok-args", "handler-no-string-ctor",
            "handler-no-noarg-ctor", "handler-ctor-throws", "handler-wrong-type", "handler-empty-name",
            "handler-non-public-ctor",
        ),
    ),
    Different("handler-checked-at-start", ("handler-missing",), _SINCE_0_9),
    Different(
        "listener-made-last",
        ("listener-ok-args", "listener-missing-class", "listener-empty-name"),
    ),
    Different("listener-made-last", ("listener-missing",), _SINCE_0_9),
    Different("transactional-id-refused", ("transactional-id",)),
    Different("thread-dump", ("sigquit-then-killed-later-by-harness",)),
    Different("no-zookeeper", ("blacklist-zk", "zk-unreachable"), _BEFORE_2_0),
    Different("no-zookeeper", ("zk-and-bootstrap",), ("0.8.2.2", "0.9.0.1")),
    Different("pattern-hang", ("invalid-regex-star",), ("0.9.0.1",)),
    Different("log-on-stderr", ("producer-type-sync-info", "overrides-info", "streams-zero-info"), ("0.8.2.2",)),
    Different("version-by-script", ("version",), ("2.0.1", "2.1.1", "2.2.2")),
    Different("empty-group-id", ("no-group",), ("0.10.0.1", "0.10.1.1", "0.11.0.3", "1.0.2", "2.1.1")),
)  # fmt: skip


DECIDED_BY_JAVA = ("include-invalid-regex-star", "invalid-regex-star")
"""The ids of patterns that only a compiler of Java's regular expressions refuses."""


def recorded_cases() -> list[Case]:
    """Return all recorded cases, the newest release first."""
    cases = [case for path in sorted(RECORDED.glob("*.json")) for case in _read(path)]
    return sorted(cases, key=lambda case: tuple(map(int, case.release.split("."))), reverse=True)


def _read(path: Path) -> Iterable[Case]:
    for row in json.loads(path.read_text()).get("cases", ()):
        ended = "SIGTERM" if row.get("sigterm_after_4s") else row.get("signal")
        yield Case(
            release=row.get("version", OLD),
            id=row["id"],
            argv=row["argv"],
            files=row["files"],
            level=row["log4j_root"],
            code=row["exit"] if row["exit"] >= 0 else 128 - row["exit"],
            stdout=row["stdout"],
            stderr=row["stderr"],
            signal=ended,
        )


def tool_lines(text: str) -> list[str]:
    """Return the tool's own output: its log lines without time, their exceptions, and plain lines."""
    lines: list[str] = []
    foreign = False
    for line in text.split("\n"):
        if _FRAME.match(line) or _NULL_POINTER.match(line):
            continue
        if _LOG_LINE.match(line):
            logger = _LOGGER.search(line)
            foreign = logger is None or not logger[1].startswith(_TOOL)
            line = re.sub(r"^\[[^\]]*\]", "[TS]", line)
        elif line.startswith(_PLAIN) or not line:
            foreign = False
        if not foreign:
            lines.append(line)
    return lines


def startup_lines(lines: Sequence[str]) -> list[str]:
    """Remove the lines of its threads and its shutdown hook, which come in any order."""
    ends = (place for place, line in enumerate(lines) if f"({_THREAD})" in line or _HOOK in line)
    return [line for line in lines[: next(ends, len(lines))] if line]


def difference(case: Case, outcome: Outcome) -> str:
    """Empty when equal, else what differs first."""
    if outcome.code != case.code:
        return f"exit {outcome.code}, recorded {case.code}: {outcome.stderr.strip()[-300:]}"
    if outcome.stdout != case.stdout:
        return f"stdout {outcome.stdout[:300]!r}, recorded {case.stdout[:300]!r}"
    said, recorded = tool_lines(outcome.stderr), tool_lines(case.stderr)
    if case.signal or case.id in DECIDED_BY_JAVA:
        said, recorded = startup_lines(said), startup_lines(recorded)
    if said != recorded:
        return f"stderr {_first_difference(said, recorded)}"
    return ""


def _first_difference(said: Sequence[str], recorded: Sequence[str]) -> str:
    for ours, theirs in zip(said, recorded, strict=False):
        if ours != theirs:
            return f"{ours!r}, recorded {theirs!r}"
    longer = "more" if len(said) > len(recorded) else "less"
    rest = list(said if longer == "more" else recorded)[min(len(said), len(recorded)) :]
    return f"{longer}: {rest[:5]}"


@dataclass
class Tally:
    """The cases of one release."""

    equal: int = 0
    ledger: int = 0

    def __str__(self) -> str:
        return f"{self.equal} equal, {self.ledger} by the ledger"


def replay(cases: Iterable[Case], runner: Runner, folder: Path) -> tuple[dict[str, Tally], list[str]]:
    """Run them; the count by release, and a sentence for each case that contradicts the ledger."""
    tallies: dict[str, Tally] = {}
    wrong: list[str] = []
    for number, case in enumerate(cases):
        home = folder / str(number)
        home.mkdir()
        case.write_files(home)
        different = difference(case, runner(case, home))
        tally = tallies.setdefault(case.release, Tally())
        rows = [row.difference for row in KNOWN if row.names(case)]
        if different and rows:
            tally.ledger += 1
        elif different:
            wrong.append(f"{case.release} {case.id}: {different}")
        elif rows:
            wrong.append(f"{case.release} {case.id}: equal, though the ledger says {rows[0]}")
        else:
            tally.equal += 1
    return tallies, wrong


def run_script(case: Case, folder: Path) -> Outcome:
    """Run our command as its own process; a signal is sent when it has tried to connect."""
    environment = {"LEGACY_MM_LEGACY_RELEASE": case.release, "LEGACY_MM_LOG_LEVEL": case.level}
    return _run([str(LAUNCHER)], case, folder, environment)


def run_old(case: Case, folder: Path) -> Outcome:
    """Run the real tool of 3.9.1: it must repeat its recorded output, or the harness is wrong."""
    log = write_log_configuration(folder / "log4j.properties", generation=1, level=case.level, file=None)
    return _run([str(find_java()), log, "-cp", f"{kafka_jars(OLD)}/*", _TOOL.removesuffix("$")], case, folder, {})


def _run(tool: Sequence[str], case: Case, folder: Path, environment: Mapping[str, str]) -> Outcome:
    stderr = folder / "stderr"
    command = ["/bin/sh", "-c", f'exec "$0" "$@" 2>{stderr.name}', *tool, *case.argv]
    with ToolProcess(command, folder, environment) as process:
        if case.signal:
            # a mirror that refuses the line may have ended before it tried to connect
            wait_until(
                lambda: _FIRST_FAILURE.search(_text(stderr)) is not None or not process.running(),
                _SECONDS,
                "a connection to fail",
            )
            if process.running():
                process.signal(signal.Signals[case.signal])
        code = process.wait(_SECONDS)
    return Outcome(code, process.output(), _text(stderr))


def _text(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
