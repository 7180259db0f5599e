"""`legacy-mm`: our own command beside `kafka-mirror-maker.sh`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import groupby

from legacy_mm import __version__
from legacy_mm.cli.argument_tree import PROGRAM, run_command
from legacy_mm.cli.command import unknown_word
from legacy_mm.cli.commands import COMMANDS
from legacy_mm.cli.exit_code import ExitCode

_VERSION = "--version"
HELP = ("--help", "-h", "help")
_NEAR = 0.7
"""The likeness, from 0 to 1, at which an unknown word has a hint: `explan` is like a command, `copy` is not."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 1 if there is no such command."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:  # `legacy-mm quirks | head`; what is still to be written at the end goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code


def _run(words: Sequence[str]) -> int:
    name = words[0] if words else ""
    if name in HELP and words[1:2] and words[1] in COMMANDS:
        return _run([words[1], "--help"])
    if name in HELP:
        sys.stdout.write(usage())
    elif name == _VERSION:
        from legacy_mm.cli.version import commit

        sys.stdout.write(f"legacy_mm {__version__} (commit {commit()})\n")
    elif name in COMMANDS:
        return run_command(name, words[1:])
    else:
        sys.stderr.write(_unknown(name) if name else usage())
        return ExitCode.FAILED
    return ExitCode.DONE


def _unknown(name: str) -> str:
    near = get_close_matches(name, [*COMMANDS, *HELP, _VERSION], 1, _NEAR)
    said = unknown_word(name, "command", near[0] if near else "")
    return f"{PROGRAM}: {said}\n{PROGRAM} --help lists the commands.\n"


def usage() -> str:
    """Return the help: the commands by group, with an example for each."""
    lines = [f"usage: {PROGRAM} COMMAND ...", ""]
    for group, rows in groupby(COMMANDS.values(), lambda row: row.group):
        lines.append(f"{group}:")
        for row in rows:
            lines += [f"  {row.name:<12} {row.help}", f"  {'':<12}   {PROGRAM} {row.example}"]
        lines.append("")
    lines += [
        "COMMAND LINE is that of your mirror: kafka-mirror-maker.sh and its arguments, or the arguments alone;",
        "or connect-mirror-maker.sh FILE, or legacy-mm connect FILE FILE. --flow 'A->B' names one of several flows.",
        "legacy-mm COMMAND --help has more; legacy-mm --version names the version and the commit.",
        "Exit code: 0 done, and as hoped; 1 no answer, or wrong words; 2 differences, changes, or things left undone.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
