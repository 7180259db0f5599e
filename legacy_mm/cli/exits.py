"""The only place where a result or an exception becomes an exit code and the process ends."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import NoReturn

from legacy_mm.base.errors import LegacyMMError, printed_error
from legacy_mm.words.legacy_tool import messages, startup
from legacy_mm.words.legacy_tool.console import say
from legacy_mm.words.legacy_tool.releases import CURRENT


class ExitCode(IntEnum):
    """Codes that scripts ask for. A signal n ends a command with 128 + n; `redrive` and `handler` end as a mirror."""

    DONE = 0
    """All that was asked for was done, and clusters are as hoped: equal, nothing to change, every scenario passed."""
    FAILED = 1
    """There is no answer: wrong words, a file that cannot be used, a cluster that does not answer or refuses."""
    FOUND = 2
    """The answer is the other one: differences, changes to be made, groups left where they were, a failed scenario."""


def reported(run: Callable[[], int], *, as_mirror: bool = False) -> int:
    """Run it and return its exit code; an error is printed, and the code is FAILED, or the one a mirror ends with."""
    try:
        return run()
    except LegacyMMError as error:
        print(f"legacy-mm: {printed_error(error)}", file=sys.stderr)
        return error.exit_code if as_mirror else ExitCode.FAILED


def exit_with(run: Callable[[], int]) -> NoReturn:
    """Run and end the process with the code it earned, whatever threads are still there."""
    try:
        code = run()
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except LegacyMMError as error:
        code = startup.report(error, CURRENT)
    except Exception as error:  # noqa: BLE001 - a traceback is for debug logging, a line for everybody
        _tool_logger().error("Internal error: %s: %s", type(error).__name__, error)
        _tool_logger().debug("", exc_info=error)
        code = ExitCode.FAILED
    try:
        say(sys.stdout)
        say(sys.stderr)
    finally:
        os._exit(code)


def _tool_logger() -> logging.Logger:
    return logging.getLogger(messages.TOOL)
