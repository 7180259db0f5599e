"""The command behind `bin/kafka-mirror-maker.sh`: words in, exit code out."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import LegacyMMError
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.exits import exit_with
from legacy_mm.cli.parser import read_own_options
from legacy_mm.flow import lifecycle
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.task_limit import check_task_limit
from legacy_mm.logs import events, root_logger
from legacy_mm.logs.log4j_found import Found
from legacy_mm.logs.log_settings import DEBUG, LEVELS, LogSettings
from legacy_mm.runtime.spark.session import SparkHost
from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool import command_line, environment, java_process, log4j_configuration, messages, startup
from legacy_mm.words.legacy_tool.console import say
from legacy_mm.words.legacy_tool.releases import CURRENT
from legacy_mm.words.legacy_tool.translate import Help, MirrorRun, NothingToDo, Version, translate
from legacy_mm.words.options.option_catalogue import OwnOptions

Start = Callable[[MirrorRun, lifecycle.Signals], int]


def main(argv: Sequence[str], java_words: Sequence[str] = ()) -> NoReturn:
    """Run the mirror that these words ask for, and end the process; `java_words` stood before the class name."""
    exit_with(lambda: run(argv, java_words))


def run(argv: Sequence[str], java_words: Sequence[str] = (), mirror: Start | None = None) -> int:
    """Return the exit code of the legacy tool for these words; `mirror` does the mirroring."""
    variables = environment.read(os.environ, java_words)
    if variables.debug:
        say(sys.stdout, f"{variables.debug}\n")
    signals = lifecycle.Signals(OwnOptions().shutdown_timeout_ms / 1000)
    log_settings = configure_logs(argv, os.environ, java_words)
    grammar = command_line.grammar_asked_for(argv, os.environ)
    if grammar.deprecated:
        logging.getLogger(messages.TOOL).warning(messages.DEPRECATED.text)
    events.emit(events.STARTING)
    notes: list[Note] = []
    java = _EarlyJava()
    try:
        outcome = translate(
            argv, lambda words: read_own_options(words, os.environ), notes, grammar, root_logger.hide, variables
        )
        if isinstance(outcome, MirrorRun):
            root_logger.hide(outcome.secrets)
            check_task_limit(outcome.flows)  # before Java, whose threads would count
            if mirror is None:
                java.start(outcome, quiet=log_settings.level_of(root_logger.JAVA) > DEBUG)
            _check(outcome.flows)
    except LegacyMMError as error:
        java.stop()
        _print(notes)
        return startup.report(error, grammar)
    if isinstance(outcome, Help):
        say(sys.stderr if outcome.exit_code else sys.stdout, outcome.text)
        return outcome.exit_code
    if isinstance(outcome, Version):
        say(sys.stdout, f"{outcome.text}\n")
        return ExitCode.DONE
    _print(notes)
    if isinstance(outcome, NothingToDo):
        startup.report_nothing_to_do()
        return ExitCode.DONE
    signals.shutdown_timeout = outcome.flows[0].shutdown_timeout
    with java_process.shown_by_jps(argv, outcome.flows[0].spark.jvm.options):
        return (mirror or partial(_mirror, java=java))(outcome, signals)


def configure_logs(argv: Sequence[str], variables: Mapping[str, str], java_words: Sequence[str] = ()) -> LogSettings:
    """Set up logging before the first line: an explicit level wins over the log4j file, the file over our default."""
    options, grammar, own_words = OwnOptions(), CURRENT, []
    with suppress(LegacyMMError):  # here and below: `run` finds it again, and says it in its turn
        grammar = command_line.grammar_asked_for(argv, variables)
        own_words = command_line.parse(argv, grammar).own_words
    with suppress(LegacyMMError):
        options = read_own_options(own_words, variables)
    return begin_logs(log4j_configuration.read(variables, java_words), options, messages.wording(grammar.fatal_level))


def begin_logs(found: Found, options: OwnOptions, wording: Mapping[events.Event, root_logger.Wording]) -> LogSettings:
    """Log from now on as the file that was found says, and our options; events without a row have words of ours."""
    settings = found.settings
    if options.log_level is not None:
        settings = settings.with_root_level(LEVELS[options.log_level])
    if options.log_format == "json":
        settings = settings.with_json_console()
    root_logger.configure(settings, wording)
    root_logger.catch_strays()
    for problem in found.problems:
        logging.getLogger(messages.OWN).warning("%s", problem)
    return settings


class _EarlyJava:
    """Java, which takes longest to start: it begins before the modules of the mirror are imported."""

    def __init__(self) -> None:
        self._begin: Callable[[], SparkHost] | None = None
        self._begun: SparkHost | None = None

    def start(self, outcome: MirrorRun, *, quiet: bool) -> None:
        """Begin to start it; what is in the way of that is found again, and told, by `take`."""
        streams = sum(settings.streams for settings in outcome.flows)
        self._begin = partial(SparkHost, outcome.flows[0].spark, streams, quiet=quiet)
        with suppress(LegacyMMError):
            self._begun = self._begin()

    def take(self) -> SparkHost:
        """Return it, for the caller to stop; raises HostError if it cannot be started."""
        assert self._begin is not None
        return self._begun or self._begin()

    def stop(self) -> None:
        """End what was begun, at once."""
        if self._begun is not None:
            self._begun.stop(Deadline.after(0))


def _check(flows: Sequence[Settings]) -> None:
    """Raise ConfigurationError for addresses and logins that cannot work."""
    from legacy_mm.flow import client_checks

    for settings in flows:
        client_checks.check_clients(settings)


def _mirror(outcome: MirrorRun, signals: lifecycle.Signals, *, java: _EarlyJava) -> int:
    from legacy_mm.assembly import wiring
    from legacy_mm.flow.host import Host
    from legacy_mm.metrics import legacy_mbeans
    from legacy_mm.metrics.mirror_maker_2_mbeans import MIRROR_MAKER_2_BEANS

    flows, shared = outcome.flows, outcome.flows[0]
    host = Host(shared, java.take(), (*legacy_mbeans.BEANS, *MIRROR_MAKER_2_BEANS))
    listener = host.listener(shared.listener)
    mirrors = [wiring.build_mirror(each, host, listener) for each in flows]
    return lifecycle.run(mirrors, host, signals)


def _print(notes: Iterable[Note]) -> None:
    for note in notes:
        if note.logger:
            logging.getLogger(note.logger).log(note.level, "%s", note.text)
        else:
            say(sys.stderr, note.text + "\n")
