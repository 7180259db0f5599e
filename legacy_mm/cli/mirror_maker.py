"""The command behind `bin/kafka-mirror-maker.sh`: words in, exit code out."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn

from legacy_mm import lifecycle, logs, wiring
from legacy_mm.cli.exits import exit_with
from legacy_mm.cli.parser import read_own_options
from legacy_mm.compat import command_line, messages
from legacy_mm.compat.client_properties.rule import Note
from legacy_mm.compat.translate import Help, NothingToDo, Run, Version, translate

_DEFAULT_LEVEL = "WARN"


def main(argv: Sequence[str]) -> NoReturn:
    """Run the mirror that these words ask for, and end the process."""
    exit_with(lambda: run(argv))


def run(argv: Sequence[str]) -> int:
    """The exit code of the old tool for these words; raises LegacyMMError where it could not start."""
    signals = lifecycle.Signals()
    logs.configure(_DEFAULT_LEVEL, messages.WORDING)
    logging.getLogger(messages.TOOL).warning(messages.DEPRECATED.text)
    notes: list[Note] = []
    try:
        outcome = translate(argv, lambda words: read_own_options(words, os.environ), notes)
    except Exception:
        _print(notes)
        raise
    if isinstance(outcome, Help):
        sys.stderr.write(command_line.usage())
        return 1
    if isinstance(outcome, Version):
        sys.stdout.write(f"{messages.VERSION}\n")
        return 0
    if isinstance(outcome, NothingToDo):
        _print(notes)
        return 0
    return _mirror(outcome, signals)


def _mirror(outcome: Run, signals: lifecycle.Signals) -> int:
    settings, level = outcome.settings, outcome.options.log_level
    logs.configure(level, messages.WORDING, outcome.secrets)
    _print(outcome.notes)
    wiring.check_addresses(settings)
    host = wiring.Host(settings.spark, settings.streams, quiet=level not in ("DEBUG", "TRACE"))
    mirror = wiring.build_mirror(host.with_stores(settings), host)
    return lifecycle.run(mirror, host, signals, settings.shutdown_timeout)


def _print(notes: Iterable[Note]) -> None:
    for note in notes:
        if note.logger:
            logging.getLogger(note.logger).log(note.level, "%s", note.text)
        else:
            sys.stderr.write(note.text + "\n")
