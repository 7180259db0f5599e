"""Messages of the legacy tool when no mirror starts, in the form of its release."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable

from legacy_mm.base.errors import ConfigurationError, InvalidPattern, LegacyMMError, StreamFailure, UsageError
from legacy_mm.base.redaction import Secrets
from legacy_mm.words.legacy_tool import messages
from legacy_mm.words.legacy_tool.console import say
from legacy_mm.words.legacy_tool.releases import Grammar

_FIRST_THREAD = "[mirrormaker-thread-0] "


class PlainRefusal(ConfigurationError):
    """The tool says this one sentence and ends; no exception was thrown."""


def report(error: LegacyMMError, grammar: Grammar) -> int:
    """Say why there is no mirror, and what of ours may help; the exit code."""
    if isinstance(error, UsageError):
        say(sys.stderr, f"{error}\n{grammar.option_table()}")
    elif isinstance(error, PlainRefusal) and not grammar.refusals_logged:
        say(sys.stdout, f"{error}\n")
    elif isinstance(error, PlainRefusal):
        _log(logging.ERROR, messages.TOOL, str(error))
    elif isinstance(error, StreamFailure):
        _report_thread(error, grammar)
    elif grammar.catches_errors:
        _log(logging.ERROR, messages.TOOL, messages.START_FAILED.text, str(error))
    else:
        say(sys.stderr, f'Exception in thread "main" {Secrets().hidden(str(error))}\n')
    _say_last(error.last_words)
    for line in getattr(error, "__notes__", ()):
        _log(logging.WARNING, messages.OWN, line)
    logging.getLogger(messages.TOOL).debug("", exc_info=error)
    return error.exit_code


def report_nothing_to_do() -> None:
    """Print the hook's lines: there was no stream to start, so the hook that ends the process is all there is."""
    _say_last(messages.HOOK)


def _say_last(texts: Iterable[str]) -> None:
    for text in texts:
        _log(logging.INFO, messages.TOOL, text)


def _report_thread(error: StreamFailure, grammar: Grammar) -> None:
    """Report the error as the first thread would, which would have ended at once, and the tool with it."""
    cause: object = error
    if isinstance(error, InvalidPattern):
        _log(logging.ERROR, messages.TOOL, str(error))
        cause = error.__cause__
    _log(grammar.fatal_level, messages.THREAD, f"{_FIRST_THREAD}Mirror maker thread failure due to ", str(cause))
    exited = "Mirror maker thread exited abnormally, stopping the whole mirror maker."
    _log(grammar.fatal_level, messages.THREAD, f"{_FIRST_THREAD}{exited}")


def _log(level: int, logger: str, text: str, detail: str | None = None) -> None:
    logging.getLogger(logger).log(level, "%s", text, extra={"detail": detail})
