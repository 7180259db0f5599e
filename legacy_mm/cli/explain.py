"""`legacy-mm explain [--json] [--offline] -- OLD-COMMAND-LINE`: how a command line is understood, without running it.

The source is asked for its topics and offsets, for a few seconds and without joining the group, and the target which of
them it cannot have; `--offline` leaves that out. Nothing is written anywhere. The exit code is 0 when the line would
run, else the legacy tool's.

`--json` prints one document. Whatever the line runs, it has

- `format` (1); it changes when a key changes its meaning or goes
- `exit_code` (a number): the code that the line would earn here, and that of `explain`; 0 when it would run
- `outcome` (a sentence); `runs_here`; `of` (what the line runs: `mirror`, `driver` or `connect`)
- `unknown`, `warnings`: sentences

The document of a mirror has also, each a list of rows unless said otherwise:

- `words`: word, meaning
- `environment`: name, value, meaning
- `options`: option, value, origin
- `properties`: client, line, name, value, meaning; of several consumer files, client is followed by the path
- `settings`: client, name, value, origin, reason: what is in force, by Java's names
- `pattern` (a text): the topics, as Java compiles it
- `topics` (an object): answered, why_not, attention; copies: topic, target, partitions, copy_partitions (a number,
  or null); partitions: topic, partition, start, because; impossible: topic, because (what the target cannot have);
  target_unknown (a text): why that is not known; transaction_version (a number, or null): what exactly once speaks at
  the target; risks: sentences about settings of the target with which it may lose records
- `permissions`: cluster, resource, operation, reason
- `differences`: id, legacy, ours, reason, always

A file of MirrorMaker 2, `-- connect-mirror-maker.sh FILE [--clusters A]`, and files of its connectors,
`-- connect-standalone.sh WORKER CONNECTOR ...`, are explained in the same way. The clusters of each flow that copies
are asked; one that does not answer is named, and takes no flow out. The document then has

- `driver_exit_code` (a number): the code of MirrorMaker 2's driver, 0 when it runs
- `flows`: source, target, copies, topics and groups (include, exclude), policy (class, separator, t_becomes),
  transforms, features, tasks_max, group, group_at, refused, tried_again, ignored, clients, rights, unknown, and
  found (what the clusters say: an object with the keys of a mirror's topics)
- `ignored`, `connect_only`, `not_for_records`: key -> the key that was probably meant; `duplicate_keys`
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import Any

from legacy_mm.base.errors import HostError, LegacyMMError, printed_error
from legacy_mm.base.settings import JvmSettings
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.driver_text import render_driver
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.explain_text import render
from legacy_mm.cli.output import as_json as json_text
from legacy_mm.cli.parser import own_values, read_own_options
from legacy_mm.explain import host_inspection, source_inspection
from legacy_mm.explain.driver_explanation import DriverExplanation, explain_connect, explain_driver
from legacy_mm.explain.explanation import RUNS, Explained, Explanation, OptionReader, explain
from legacy_mm.explain.source_inspection import Topics
from legacy_mm.flow import client_checks
from legacy_mm.logs import root_logger
from legacy_mm.runtime.jvm.gateway import StartJvm
from legacy_mm.runtime.spark.session import java_when_asked
from legacy_mm.words.legacy_tool import environment
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.command_line import split_call, variables_of
from legacy_mm.words.mirror_maker_2 import connect_line, driver_line

StartJava = Callable[[JvmSettings], AbstractContextManager[StartJvm]]
"""A Java for the questions of one line, by what its environment says of the mirror's."""

USAGE = """\
usage: legacy-mm explain [--json] [--offline] -- kafka-mirror-maker.sh OPTIONS
       legacy-mm explain [--json] [--offline] -- connect-mirror-maker.sh FILE [--clusters CLUSTER ...]
       legacy-mm explain [--json] [--offline] -- connect-standalone.sh WORKER CONNECTOR ...
"""
_FORMAT = 1
_NOT_RUN = Topics(why_not="the line would not run")


def _add_options(parser: CommandParser) -> None:
    parser.usage = USAGE.removeprefix("usage: ").rstrip()
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text")
    parser.add_argument("--offline", action="store_true", help="do not ask the clusters for topics and offsets")


def _explain(call: CommandCall) -> int:
    """Explain the line; the exit code that it would earn."""
    options, line = call.options, call.line.words
    root_logger.silence()
    if driver_line.is_driver(line):
        return _explain_driver(line, options)
    if connect_line.is_connect(line):
        return _explain_connect(line, options)
    explanation, topics = explain_line(line, os.environ, ask=not options.offline)
    runs = explanation.outcome == RUNS
    document = _head("mirror", explanation) | {"runs_here": runs} | asdict(explanation) | {"topics": asdict(topics)}
    text = json_text(document) if options.json else render(explanation, topics)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    return explanation.exit_code


def _explain_driver(line: Sequence[str], options: Namespace) -> int:
    """Explain a file of MirrorMaker 2's driver; return the exit code of the driver, or 2 where only Java can run it."""
    launcher, argv = driver_line.split_call(line)
    variables = variables_of(launcher, os.environ)
    try:
        parsed = driver_line.parse(argv)
        java_environment = environment.read_call(variables, launcher)
        clients = ClientTranslation(java_environment, read_own_options(parsed.own_words, variables))
    except LegacyMMError as error:
        sys.stderr.write(f"{printed_error(error)}\n")
        return driver_line.BAD_WORDS
    with java_when_asked(clients.environment.jvm) as java:
        explanation = explain_driver(parsed, clients, java, ask=not options.offline)
    return _print(explanation, as_json=options.json)


def _explain_connect(line: Sequence[str], options: Namespace) -> int:
    """Explain files of Kafka Connect; return 0, or 2 where they cannot run here."""
    launcher, argv = connect_line.split_call(line)
    variables = variables_of(launcher, os.environ)
    try:
        parsed = connect_line.parse(argv)
        clients = ClientTranslation(environment.read(variables), read_own_options(parsed.own_words, variables))
    except LegacyMMError as error:
        sys.stderr.write(f"{printed_error(error)}\n")
        return ExitCode.FAILED
    with java_when_asked(clients.environment.jvm) as java:
        explanation = explain_connect(parsed, clients, java, ask=not options.offline)
    return _print(explanation, as_json=options.json)


def _print(explanation: DriverExplanation, *, as_json: bool) -> int:
    of = "connect" if explanation.of_connect else "driver"
    document = _head(of, explanation) | asdict(explanation)
    del document["of_connect"]
    sys.stdout.write(json_text(document) if as_json else render_driver(explanation))
    return explanation.exit_code


def _head(of: str, explanation: Explanation | DriverExplanation) -> dict[str, Any]:
    """Return the beginning of every document; what it runs is `of`."""
    return {"format": _FORMAT, "of": of, "exit_code": explanation.exit_code, "unknown": explanation.unknown}


def explain_line(
    words: Sequence[str], environment: Mapping[str, str], *, ask: bool, java: StartJava | None = None
) -> tuple[Explanation, Topics]:
    """Return the explanation of a command line; `ask`: also ask the source."""
    launcher, _ = split_call(words)
    variables = variables_of(launcher, environment)
    own = OptionReader(
        typed=lambda given: read_own_options(given, variables), rows=lambda given: own_values(given, variables)
    )
    explained = explain(words, variables, own)
    if not explained.flows:
        return explained.explanation, _NOT_RUN
    try:
        with (java or java_when_asked)(explained.flows[0].process.spark.jvm) as started:
            return _ask_clusters(explained, started, ask=ask)
    except LegacyMMError as error:
        return explained.refused(error), _NOT_RUN


def _ask_clusters(explained: Explained, java: StartJvm, *, ask: bool) -> tuple[Explanation, Topics]:
    """Ask the host, and the source; raises LegacyMMError for what would end the mirror before it copies."""
    flows, veil = explained.flows, explained.veil
    for settings in flows:
        if ask:
            client_checks.check_addresses(settings)
        client_checks.check_logins(settings)
    untried = host_inspection.inspect(flows, java)
    explanation = replace(
        explained.explanation,
        unknown=tuple(map(veil.over_known, untried)),
    )
    if not ask:
        return explanation, Topics(why_not="not asked")
    try:
        return explanation, source_inspection.inspect(flows, java)
    except HostError as error:
        return explanation, Topics(why_not=veil.over_known(str(error)))


BODIES = {"explain": CommandBody(_add_options, _explain, as_mirror=True)}
