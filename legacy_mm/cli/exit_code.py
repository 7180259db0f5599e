"""The exit codes of `legacy-mm`, and the two ways to come by one: an answer, or an error in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import IntEnum

from legacy_mm.base.errors import LegacyMMError, UsageError, printed_error


class ExitCode(IntEnum):
    """Codes that scripts ask for. A signal n ends a command with 128 + n; `redrive` and `handler` end as a mirror.

    `ctl` says FAILED where something does not run, and 2 for wrong words.
    """

    DONE = 0
    """All that was asked for was done, and clusters are as hoped: equal, nothing to change, every scenario passed."""
    FAILED = 1
    """There is no answer: wrong words, a file that cannot be used, a cluster that does not answer or refuses."""
    FOUND = 2
    """The answer is the other one: differences, changes to be made, groups left where they were, a failed scenario."""


def reported(run: Callable[[], int], *, as_mirror: bool = False, wrong_words: int = ExitCode.FAILED) -> int:
    """Run it and return its exit code; an error is printed, and the code is FAILED, or the one a mirror ends with.

    `wrong_words` is the code of a UsageError instead.
    """
    try:
        return run()
    except LegacyMMError as error:
        print(f"legacy-mm: {printed_error(error)}", file=sys.stderr)
        if as_mirror:
            return error.exit_code
        return wrong_words if isinstance(error, UsageError) else ExitCode.FAILED
