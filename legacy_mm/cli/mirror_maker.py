"""The command behind `bin/kafka-mirror-maker.sh`: words in, exit code out."""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from legacy_mm import events, lifecycle, logs, wiring
from legacy_mm.cli.exits import exit_with
from legacy_mm.cli.parser import read_own_options
from legacy_mm.compat import messages, startup
from legacy_mm.compat.client_properties.rule import Note
from legacy_mm.compat.command_line import early_value
from legacy_mm.compat.releases import grammar_of
from legacy_mm.compat.translate import Help, NothingToDo, Run, Version, translate
from legacy_mm.errors import LegacyMMError

_DEFAULT_LEVEL = "WARN"
_STDOUT = 1
Start = Callable[[Run, lifecycle.Signals], int]


def main(argv: Sequence[str]) -> NoReturn:
    """Run the mirror that these words ask for, and end the process."""
    exit_with(lambda: run(argv))


def run(argv: Sequence[str], mirror: Start | None = None) -> int:
    """The exit code of the old tool for these words; `mirror` does the mirroring."""
    signals = lifecycle.Signals()
    faulthandler.register(signal.SIGQUIT, file=_STDOUT)
    level = early_value("log.level", argv, os.environ)
    logs.configure(level if level in logs.LEVELS else _DEFAULT_LEVEL, messages.WORDING)
    grammar = grammar_of(early_value("legacy.release", argv, os.environ) or messages.VERSION)
    if grammar.deprecated:
        logging.getLogger(messages.TOOL).warning(messages.DEPRECATED.text)
    events.emit(events.STARTING)
    notes: list[Note] = []
    try:
        outcome = translate(argv, lambda words: read_own_options(words, os.environ), notes, grammar)
        if isinstance(outcome, Run):
            wiring.check_addresses(outcome.settings)
    except LegacyMMError as error:
        _print(notes)
        return startup.report(error, grammar)
    if isinstance(outcome, Help):
        (sys.stderr if outcome.exit_code else sys.stdout).write(outcome.text)
        return outcome.exit_code
    if isinstance(outcome, Version):
        sys.stdout.write(f"{outcome.text}\n")
        return 0
    _print(notes)
    if isinstance(outcome, NothingToDo):
        startup.report_nothing_to_do()
        return 0
    logs.configure(outcome.options.log_level, messages.wording(grammar.fatal_level), outcome.secrets)
    return (mirror or _mirror)(outcome, signals)


def _mirror(outcome: Run, signals: lifecycle.Signals) -> int:
    settings, level = outcome.settings, outcome.options.log_level
    host = wiring.Host(settings.spark, settings.streams, quiet=level not in ("DEBUG", "TRACE"))
    mirror = wiring.build_mirror(settings, host)
    return lifecycle.run(mirror, host, signals, settings.shutdown_timeout)


def _print(notes: Iterable[Note]) -> None:
    for note in notes:
        if note.logger:
            logging.getLogger(note.logger).log(note.level, "%s", note.text)
        else:
            sys.stderr.write(note.text + "\n")
