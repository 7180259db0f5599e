"""The command behind `bin/kafka-mirror-maker.sh`: words in, exit code out."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from legacy_mm import events, lifecycle, logs, wiring
from legacy_mm.cli.exits import exit_with
from legacy_mm.cli.parser import read_own_options
from legacy_mm.compat import command_line, mbean_names, messages
from legacy_mm.compat.client_properties.rule import Note
from legacy_mm.compat.log4j import configuration
from legacy_mm.compat.translate import Help, NothingToDo, Run, Version, translate
from legacy_mm.config.catalogue import OwnOptions
from legacy_mm.config.log_settings import DEBUG, LEVELS, LogSettings
from legacy_mm.errors import LegacyMMError


def main(argv: Sequence[str]) -> NoReturn:
    """Run the mirror that these words ask for, and end the process."""
    exit_with(lambda: run(argv))


def run(argv: Sequence[str]) -> int:
    """The exit code of the old tool for these words; raises LegacyMMError where it could not start."""
    signals = lifecycle.Signals()
    log_settings = configure_logs(argv, os.environ)
    logging.getLogger(messages.TOOL).warning(messages.DEPRECATED.text)
    events.emit(events.STARTING)
    notes: list[Note] = []
    try:
        outcome = translate(argv, lambda words: read_own_options(words, os.environ), notes, logs.hide)
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
    return _mirror(outcome, signals, quiet=log_settings.level_of(logs.JAVA) > DEBUG)


def configure_logs(argv: Sequence[str], environment: Mapping[str, str]) -> LogSettings:
    """An explicit level wins over the log4j file, the file over our default; all of it before the first line."""
    try:
        options = read_own_options(command_line.parse(argv).own_words, environment)
    except LegacyMMError:
        options = OwnOptions()  # `translate` finds it again, and says it in its turn
    found = configuration.read(environment)
    settings = found.settings
    if options.log_level is not None:
        settings = settings.with_root_level(LEVELS[options.log_level])
    if options.log_format == "json":
        settings = settings.with_json_console()
    logs.configure(settings, messages.WORDING)
    logs.catch_strays()
    for problem in found.problems:
        logging.getLogger("legacy_mm").warning("%s", problem)
    return settings


def _mirror(outcome: Run, signals: lifecycle.Signals, *, quiet: bool) -> int:
    settings = outcome.settings
    logs.hide(outcome.secrets)
    _print(outcome.notes)
    wiring.check_addresses(settings)
    host = wiring.Host(settings.spark, settings.streams, settings.metrics, mbean_names.BEANS, quiet=quiet)
    mirror = wiring.build_mirror(settings, host)
    return lifecycle.run(mirror, host, signals, settings.shutdown_timeout)


def _print(notes: Iterable[Note]) -> None:
    for note in notes:
        if note.logger:
            logging.getLogger(note.logger).log(note.level, "%s", note.text)
        else:
            sys.stderr.write(note.text + "\n")
