"""The command behind `bin/kafka-mirror-maker.sh`: words in, exit code out."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from legacy_mm.base.errors import LegacyMMError
from legacy_mm.cli import mirror_start
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.exits import exit_with
from legacy_mm.cli.mirror_start import MirrorStart, admin_port, begin_logs
from legacy_mm.cli.parser import read_own_options
from legacy_mm.flow import lifecycle
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.logs import events, root_logger
from legacy_mm.logs.log_settings import LogSettings
from legacy_mm.words.java_clients.client_properties.rule import Note
from legacy_mm.words.legacy_tool import command_line, environment, java_process, log4j_configuration, messages, startup
from legacy_mm.words.legacy_tool.console import say, say_notes
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.legacy_tool.releases import CURRENT, Grammar
from legacy_mm.words.legacy_tool.translate import Help, LineOutcome, MirrorRun, NothingToDo, Version, translate
from legacy_mm.words.options.option_catalogue import OwnOptions

if TYPE_CHECKING:
    from legacy_mm.connect.herder import Herder
    from legacy_mm.connect.start_words import StartWords

RunMirror = Callable[[MirrorRun, lifecycle.Signals], int]


def main(argv: Sequence[str], java_words: Sequence[str] = ()) -> NoReturn:
    """Run the mirror that these words ask for, and end the process; `java_words` stood before the class name."""
    exit_with(lambda: run(argv, java_words))


def run(argv: Sequence[str], java_words: Sequence[str] = (), mirror: RunMirror | None = None) -> int:
    """Return the exit code of the legacy tool for these words; `mirror` does the mirroring."""
    variables = environment.read(os.environ, java_words)
    if variables.debug:
        say(sys.stdout, f"{variables.debug}\n")
    start = MirrorStart()
    log_settings = configure_logs(argv, os.environ, java_words)
    grammar = command_line.grammar_asked_for(argv, os.environ)
    if grammar.deprecated:
        logging.getLogger(messages.TOOL).warning(messages.DEPRECATED.text)
    events.emit(events.STARTING)
    notes: list[Note] = []
    try:
        outcome = translate(
            argv, lambda words: read_own_options(words, os.environ), notes, grammar, root_logger.hide, variables
        )
        if isinstance(outcome, MirrorRun):
            mirror_start.accept(outcome.flows, outcome.secrets)
            if mirror is None:
                start.begin_java(outcome.flows[0].process, outcome.flows, log_settings)
            _check(outcome.flows)
    except LegacyMMError as error:
        start.give_up()
        say_notes(notes)
        return startup.report(error, grammar)
    if isinstance(outcome, Help):
        say(sys.stderr if outcome.exit_code else sys.stdout, outcome.text)
        return outcome.exit_code
    if isinstance(outcome, Version):
        say(sys.stdout, f"{outcome.text}\n")
        return ExitCode.DONE
    say_notes(notes)
    if isinstance(outcome, NothingToDo):
        startup.report_nothing_to_do()
        return ExitCode.DONE
    with start.as_tool(argv, outcome.flows[0].process, java_process.CLASS_NAME) as signals:
        own_words = command_line.parse(argv, grammar).own_words
        words = partial(_words_again, own_words, argv, java_words, variables, grammar)
        return (mirror or partial(_mirror, start=start, words=words, own_words=own_words))(outcome, signals)


def configure_logs(argv: Sequence[str], variables: Mapping[str, str], java_words: Sequence[str] = ()) -> LogSettings:
    """Set up logging before the first line: an explicit level wins over the log4j file, the file over our default."""
    options, grammar, own_words = OwnOptions(), CURRENT, []
    with suppress(LegacyMMError):  # here and below: `run` finds it again, and says it in its turn
        grammar = command_line.grammar_asked_for(argv, variables)
        own_words = command_line.parse(argv, grammar).own_words
    with suppress(LegacyMMError):
        options = read_own_options(own_words, variables)
    return begin_logs(log4j_configuration.read(variables, java_words), options, messages.wording(grammar.fatal_level))


def _check(flows: Sequence[Settings]) -> None:
    """Raise ConfigurationError for addresses and logins that cannot work."""
    from legacy_mm.flow import client_checks

    for settings in flows:
        client_checks.check_clients(settings)


def _words_again(
    own_words: Sequence[str], argv: Sequence[str], java_words: Sequence[str], variables: Environment, grammar: Grammar
) -> StartWords[LineOutcome]:
    from legacy_mm.cli.words_again import start_words

    return start_words(
        own_words,
        lambda options: translate(argv, lambda _: options, [], grammar, root_logger.hide, variables),
        partial(log4j_configuration.read, os.environ, java_words),
    )


def _mirror(
    outcome: MirrorRun,
    signals: lifecycle.Signals,
    *,
    start: MirrorStart,
    words: Callable[[], StartWords[LineOutcome]],
    own_words: Sequence[str],
) -> int:
    from legacy_mm.assembly import wiring
    from legacy_mm.metrics import legacy_mbeans
    from legacy_mm.metrics.mirror_maker_2_mbeans import MIRROR_MAKER_2_BEANS

    host = start.host((*legacy_mbeans.BEANS, *MIRROR_MAKER_2_BEANS))
    listener = host.listener(outcome.flows[0].listener)
    build = partial(wiring.build_mirror, host=host, listener=listener)
    mirrors = [build(each) for each in outcome.flows]
    rest = outcome.flows[0].process.rest

    def herder() -> Herder:
        from legacy_mm.connect.legacy_herder import LegacyFlow
        from legacy_mm.connect.line_herder import LineHerder

        flows = [LegacyFlow(each, partial(build, each)) for each in outcome.flows]
        return LineHerder(outcome, flows, mirrors, host, f"{rest.address}:{rest.port}", words(), build)

    with admin_port(host, rest, herder, own_words):
        return lifecycle.run(mirrors, host, signals)
