"""Runs `bin/test` several times in a row, because a test that fails once in ten runs is a fault.

`bin/test repeat 10`: the last two runs have two busy processes beside them. Each run's output goes to
`reports/repeat-N.log`. The exit code is 0 if none has failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

from compat.laboratory.checkout import CHECKOUT, COMMANDS
from legacy_mm.audit.spawn import spawn

LOGS = CHECKOUT / "reports"
_BUSY = (sys.executable, "-c", "while True: pass")
_LOADED = 2
"""The number of the last runs with busy processes beside them, and the number of those processes."""


def main(words: Sequence[str]) -> int:
    """Run, and print a line for each run."""
    parser = argparse.ArgumentParser(prog="bin/test repeat", description=__doc__)
    parser.add_argument("count", type=int, help="how many runs")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="words for bin/test")
    asked = parser.parse_args(words)
    LOGS.mkdir(exist_ok=True)
    runs = [
        _run(number, asked.words, loaded=asked.count - number < _LOADED < asked.count)
        for number in range(1, asked.count + 1)
    ]
    print(f"{runs.count(0)} runs passed, {len(runs) - runs.count(0)} failed")
    return 0 if not any(runs) else 1


def _run(number: int, words: Sequence[str], *, loaded: bool) -> int:
    """Return the exit code of one run."""
    log = LOGS / f"repeat-{number}.log"
    begin = time.monotonic()
    busy = [spawn(_BUSY, folder=LOGS, output=LOGS / "busy.log") for _ in range(_LOADED if loaded else 0)]
    try:
        with log.open("wb") as output:
            command = [str(COMMANDS / "test"), *words]
            code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    finally:
        for process in busy:
            process.kill()
            process.wait()
    last = log.read_text("utf-8", errors="replace").strip().rpartition("\n")[2]
    beside = ", beside busy processes" if loaded else ""
    print(f"run {number}: exit code {code}, {time.monotonic() - begin:.0f} s{beside}: {last}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
