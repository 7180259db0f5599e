"""The exit codes of `legacy-mm`, and the two ways to come by one: an answer, or an error in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import NoReturn

from legacy_mm.compat.legacy_options import ROWS
from legacy_mm.errors import LegacyMMError, UsageError, told
from legacy_mm.options.meant import meant

BEFORE_THE_LINE = "put -- before the command line of the mirror"
_UNKNOWN = "unrecognized arguments: "
"""The beginning of what argparse says of words that it does not know."""
_OF_A_MIRROR = {f"--{row.option.name}" for row in ROWS} - {"--help", "--version"}


class ExitCode(IntEnum):
    """Codes that scripts ask for. A signal n ends a command with 128 + n; `redrive` and `handler` end as a mirror."""

    DONE = 0
    """All that was asked for was done, and clusters are as hoped: equal, nothing to change, every scenario passed."""
    FAILED = 1
    """There is no answer: wrong words, a file that cannot be used, a cluster that does not answer or refuses."""
    FOUND = 2
    """The answer is the other one: differences, changes to be made, groups left where they were, a failed scenario."""


class CommandParser(argparse.ArgumentParser):
    """Parses a command's own words; wrong ones are a UsageError, because argparse's code 2 has a meaning here."""

    def error(self, message: str) -> NoReturn:
        raise UsageError("\n".join([message, *self._hints(message), self.format_usage().rstrip()]))

    def _hints(self, message: str) -> Iterator[str]:
        """Yield what was probably meant by each unknown option."""
        if not message.startswith(_UNKNOWN):
            return
        names = [word.partition("=")[0] for word in message.removeprefix(_UNKNOWN).split() if word.startswith("-")]
        if any(name in _OF_A_MIRROR for name in names):
            yield BEFORE_THE_LINE
        for name in names:
            if probably := meant(name, self.options()):
                yield f"{name} is no option: {probably} was probably meant"

    def options(self) -> Iterator[str]:
        """Yield the options of this command, and of those below it."""
        for action in self._actions:
            yield from action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    yield from command.options()


def reported(run: Callable[[], int], failed: int | None = ExitCode.FAILED) -> int:
    """Run it and return its exit code; an error is printed, and the code is `failed`, or with None the error's own."""
    try:
        return run()
    except LegacyMMError as error:
        print(f"legacy-mm: {told(error)}", file=sys.stderr)
        return error.exit_code if failed is None else failed
