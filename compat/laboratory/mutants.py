"""Plants the faults of `tests/mutants`, each in a copy of its module, and sees that the tests named beside it find it.

`bin/test mutants [PART OF A NAME ...]` tries all, or those of these names or files. The exit code is 0 if each is
found. `--report` writes `compat/reports/mutants.md`. `--search` runs all unit tests against a fault that no named test
finds. A unit test that hangs has found its fault.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.markdown import table
from compat.laboratory.planted_copy import plant

FAULTS = CHECKOUT / "tests" / "mutants"
REPORT = CHECKOUT / "compat" / "reports" / "mutants.md"
FOUND, HANGS, MISSED, BROKEN = "found", "found, it hangs", "MISSED", "BROKEN"
_UNIT_SECONDS, _BROKER_SECONDS = 120, 480
_NO_TESTS_FAILED, _TESTS_FAILED = 0, 1
_HEAD = """\
# Planted faults, and the tests that find them

Made by `bin/test mutants --report`, do not edit. Each fault of `tests/mutants` was planted in a copy of its module, and
the tests beside it ran.

"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A row of a file in `tests/mutants`."""

    area: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def needs_brokers(self) -> bool:
        """Return True if a test of it starts clusters."""
        return any(not test.startswith(("tests/unit", "tests/structure")) for test in self.tests)

    def planted(self) -> str:
        """Return the text of the file with the fault; ValueError if its place is not there exactly once."""
        text = (CHECKOUT / self.file).read_text("utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.area}: {self.name}: its old text is {text.count(self.old)} times in {self.file}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True, slots=True)
class Trial:
    """The outcome of one fault."""

    fault: Fault
    result: str
    finders: tuple[str, ...]
    seconds: float
    output: str


def read_faults(folder: Path = FAULTS) -> list[Fault]:
    """Read all faults, in the order of their files."""
    return [
        Fault(file.stem, row["name"], row["file"], row["old"], row["new"], tuple(row["tests"]))
        for file in sorted(folder.glob("*.toml"))
        for row in tomllib.loads(file.read_text("utf-8"))["fault"]
    ]


def try_fault(fault: Fault, tests: Sequence[str]) -> Trial:
    """Run these tests against one fault in a copy of the checkout."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "checkout"
        python = plant(copy, fault.file, fault.planted())
        (Path(folder) / "shared").symlink_to(CHECKOUT.parent / "shared")
        command = [str(python), "-P", "-m", "pytest", "-x", "-q", "-m", "", "-p", "no:cacheprovider"]
        command += ["--basetemp", f"{folder}/tmp", "--rootdir", str(copy), *tests]
        limit = _BROKER_SECONDS if fault.needs_brokers else _UNIT_SECONDS
        code, output = _run(command, copy, limit)
    if code is None:
        result, finders = BROKEN if fault.needs_brokers else HANGS, tuple(tests)
    else:
        result = {_NO_TESTS_FAILED: MISSED, _TESTS_FAILED: FOUND}.get(code, BROKEN)
        finders = tuple(dict.fromkeys(re.findall(r"^(?:FAILED|ERROR) (\S+?)(?:\[| |$)", output, re.MULTILINE)))
    return Trial(fault, result, finders, time.monotonic() - begin, output)


def main(words: Sequence[str]) -> int:
    """Try the faults that are asked for."""
    parser = argparse.ArgumentParser(prog="bin/test mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of areas or names; all faults without")
    parser.add_argument("--report", action="store_true", help=f"write {REPORT.relative_to(CHECKOUT)}")
    parser.add_argument("--search", action="store_true", help="run all unit tests where no named test finds a fault")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args(words)
    faults = [each for each in read_faults() if _is_asked_for(each, asked.names)]

    def tried(fault: Fault) -> Trial:
        trial = try_fault(fault, fault.tests) if fault.tests else Trial(fault, MISSED, (), 0.0, "no test is named")
        if asked.search and trial.result in (MISSED, BROKEN):
            trial = try_fault(fault, ["tests/unit"])
        print(f"{trial.result}: {fault.area}: {fault.name} ({trial.seconds:.0f} s, {', '.join(trial.finders)})")
        if trial.result == BROKEN:
            print(trial.output[-2000:])
        sys.stdout.flush()
        return trial

    with ThreadPoolExecutor(asked.processes) as pool:
        trials = list(pool.map(tried, faults))
    counts = Counter(trial.result for trial in trials)
    if asked.report:
        REPORT.write_text(rendered(trials), encoding="utf-8")
    missed = counts[MISSED] + counts[BROKEN]
    print(f"{len(trials) - missed} found, {missed} missed")
    return 1 if missed or not trials else 0


def rendered(trials: Sequence[Trial]) -> str:
    """Format the report: a line for each fault."""
    counts = Counter(trial.result for trial in trials)
    rows = [
        [trial.fault.area, trial.fault.name, trial.result, "<br>".join(trial.finders), f"{trial.seconds:.0f}"]
        for trial in trials
    ]
    sums = ", ".join(f"{count} {result}" for result, count in counts.most_common())
    return f"{_HEAD}{len(trials)} faults: {sums}.\n\n" + table(["area", "fault", "result", "by", "seconds"], rows)


def _is_asked_for(fault: Fault, names: Sequence[str]) -> bool:
    return not names or any(name in f"{fault.area} {fault.name}" for name in names)


def _run(command: Sequence[str], folder: Path, limit: float) -> tuple[int | None, str]:
    """Return the exit code and the output; None as code after `limit` seconds."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        return None, process.communicate()[0]
    return process.returncode, output


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
