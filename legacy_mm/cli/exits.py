"""The only place where a result or an exception becomes an exit code and the process ends."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from legacy_mm import events
from legacy_mm.compat import messages
from legacy_mm.errors import LegacyMMError, StreamFailure

INTERNAL_ERROR = 1


def exit_with(run: Callable[[], int]) -> NoReturn:
    """Run and end the process with the code it earned, whatever threads are still there."""
    try:
        code = run()
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except LegacyMMError as error:
        _say(error)
        code = error.exit_code
    except Exception as error:  # noqa: BLE001 - a traceback is for debug logging, a line for everybody
        _tool_logger().error("Internal error: %s: %s", type(error).__name__, error)
        _tool_logger().debug("", exc_info=error)
        code = INTERNAL_ERROR
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _say(error: LegacyMMError) -> None:
    if isinstance(error, StreamFailure):
        _tool_logger().error("%s", error)
        events.emit(events.STREAM_FAILED, stream=0, reason=str(error))
        events.emit(events.STREAM_EXITED, stream=0)
    else:
        _tool_logger().error("%s", messages.START_FAILED.text, extra={"detail": str(error)})
    _tool_logger().debug("", exc_info=error)


def _tool_logger() -> logging.Logger:
    return logging.getLogger(messages.TOOL)
