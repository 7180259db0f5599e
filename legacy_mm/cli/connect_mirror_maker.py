"""The command behind `bin/connect-mirror-maker.sh`: MirrorMaker 2's file in, its driver's exit code out."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from legacy_mm.base.errors import LegacyMMError, UsageError, one_line
from legacy_mm.cli.command import CommandBody, CommandCall
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.exits import exit_with
from legacy_mm.cli.mirror_start import MirrorStart, accept, begin_logs
from legacy_mm.cli.parser import read_own_options
from legacy_mm.flow import client_checks
from legacy_mm.logs import root_logger
from legacy_mm.logs.log4j_found import Found
from legacy_mm.logs.log_settings import LEVELS, Appender, Console, LoggerSettings, LogSettings
from legacy_mm.words.legacy_tool import environment, java_process, log4j_configuration
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.console import say, say_notes
from legacy_mm.words.mirror_maker_2 import connect_files, connect_line, driver, driver_line
from legacy_mm.words.mirror_maker_2.driver import DriverRun
from legacy_mm.words.options.option_catalogue import NO_ENGINES, OwnOptions

if TYPE_CHECKING:
    from legacy_mm.connect.start_words import StartWords

Flows = Callable[[ClientTranslation], DriverRun]
WordsAgain = Callable[[], "StartWords[DriverRun]"]
RunFlows = Callable[[Flows, OwnOptions, WordsAgain], int]
STOPPED_BY_ERROR = 2
"""A code of MirrorMaker 2's driver and of Connect's workers, as `driver_line.BAD_WORDS` is."""


def main(argv: Sequence[str], java_words: Sequence[str] = ()) -> NoReturn:
    """Run the flows of the file that these words name, and end the process."""
    exit_with(lambda: run(argv, java_words))


def run(argv: Sequence[str], java_words: Sequence[str] = (), run_flows: RunFlows | None = None) -> int:
    """Return the exit code of MirrorMaker 2's driver for these words; `run_flows` does the mirroring."""
    try:
        line = driver_line.parse(argv)
        if line.help:
            say(sys.stdout, driver_line.HELP)
            return ExitCode.DONE
        options = read_own_options(line.own_words, os.environ)
    except UsageError as error:
        say(sys.stderr, f"{error}\n")
        return driver_line.BAD_WORDS

    def flows(clients: ClientTranslation) -> DriverRun:
        file = driver.load(line)
        root_logger.hide(file.secrets)
        return driver.translate_driver(file, clients)

    again = partial(words_again, line.own_words, flows, java_words)
    run_file = partial(_run_flows, argv=argv, own_words=line.own_words, java_words=java_words)
    return (run_flows or run_file)(flows, options, again)


def words_again(own_words: Sequence[str], flows: Flows, java_words: Sequence[str] = ()) -> StartWords[DriverRun]:
    """Return how the words of a driver are read again."""
    from legacy_mm.cli.words_again import start_words

    variables = environment.read(os.environ, java_words)
    return start_words(
        own_words,
        lambda options: flows(ClientTranslation(variables, options, hide=root_logger.hide)),
        partial(_driver_logs, java_words),
    )


def _connect(call: CommandCall) -> int:
    """Run `legacy-mm connect WORKER CONNECTOR ...`; return the exit code."""
    argv = call.options.words
    if argv and argv[0] in ("-h", "--help"):
        say(sys.stdout, f"{connect_line.USAGE}\n")
        return ExitCode.DONE
    try:
        line = connect_line.parse(argv)
        options = read_own_options(line.own_words, os.environ)
    except UsageError as error:
        say(sys.stderr, f"{error}\n")
        return ExitCode.FAILED

    def flows(clients: ClientTranslation) -> DriverRun:
        return driver.translate_connect(connect_files.load(line, root_logger.hide), clients)

    return _run_flows(flows, options, None, argv, line.own_words)


def _run_flows(
    flows: Flows,
    options: OwnOptions,
    again: WordsAgain | None,
    argv: Sequence[str],
    own_words: Sequence[str],
    java_words: Sequence[str] = (),
) -> int:
    """Run the flows until a signal; return the exit code.

    `again`: how the words are read again; None: not at all. `own_words` give our options.
    """
    start = MirrorStart()
    log_settings = begin_driver_logs(options, java_words)
    outcome = prepare_flows(flows, options, java_words)
    if outcome is None:
        return STOPPED_BY_ERROR
    flows_at_start = [each.settings for each in outcome.flows]
    start.begin_java(outcome.process, flows_at_start, log_settings, may_grow=outcome.may_grow)
    from legacy_mm.cli.driver_flows import BEANS, supervise_flows

    with start.as_tool(argv, outcome.process, java_process.MIRROR_MAKER_2) as signals:
        return supervise_flows(outcome, start.host(BEANS, outlives_flows=True), signals, again, own_words)


def prepare_flows(flows: Flows, options: OwnOptions, java_words: Sequence[str] = ()) -> DriverRun | None:
    """Return what is to run, with all said that is to say about it; None after an error, which is logged."""
    log = logging.getLogger(java_process.MIRROR_MAKER_2)
    log.info("Kafka MirrorMaker initializing ...")
    try:
        variables = environment.read(os.environ, java_words)
        root_logger.hide(variables.secrets)
        outcome = flows(ClientTranslation(variables, options))
        accept([each.settings for each in outcome.flows], outcome.secrets)
        outcome = outcome.checked(client_checks.check_logins)
    except LegacyMMError as error:
        log.error("%s", "Stopping due to error", extra={"detail": one_line(error)})
        for text in getattr(error, "__notes__", ()):
            log.warning("%s", text)
        return None
    say_notes(outcome.notes, java_process.MIRROR_MAKER_2)
    if options.engine is not None:
        log.info("%s", NO_ENGINES)
    if outcome.flows:
        log.info("Targeting clusters: %s", ", ".join(dict.fromkeys(each.pair.target for each in outcome.flows)))
    return outcome


def begin_driver_logs(options: OwnOptions, java_words: Sequence[str] = ()) -> LogSettings:
    """Log at INFO on stdout, as Kafka Connect does where no file says otherwise."""
    return begin_logs(_driver_logs(java_words), options, {})


def _driver_logs(java_words: Sequence[str]) -> Found:
    found = log4j_configuration.read(os.environ, java_words, log4j_configuration.CONNECT_FILES)
    if found != Found():
        return found
    console = Appender("stdout", Console("stdout"))
    loggers = {
        "": LoggerSettings(LEVELS["INFO"], (console.name,)),
        root_logger.JAVA: LoggerSettings(LEVELS["WARN"]),
    }
    return Found(LogSettings(loggers, {console.name: console}))


BODIES = {"connect": CommandBody(lambda _: None, _connect, as_mirror=True)}
