"""The only place where a result or an exception becomes an exit code and the process ends."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from legacy_mm.base.errors import LegacyMMError
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.words.legacy_tool import messages, startup
from legacy_mm.words.legacy_tool.console import say
from legacy_mm.words.legacy_tool.releases import CURRENT


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
