"""`legacy-mm ledger`: write records and note what the source acknowledged; later, judge the target by those notes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from legacy_mm.audit.cluster_access import ClientError
from legacy_mm.audit.ledger import Ledger
from legacy_mm.audit.ledger_check import KINDS, Verdict, check
from legacy_mm.audit.ledger_produce import Workload, produce
from legacy_mm.audit.stop_signals import StoppedBySignal, StopSignals
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.settings import JavaStores, JvmSettings
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.output import as_json
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.cluster.cluster_errors import at_cluster, error_at
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.logs import root_logger
from legacy_mm.runtime.spark.session import java_when_asked
from legacy_mm.words.legacy_tool import client_connection
from legacy_mm.words.legacy_tool.client_connection import ClientConnection

_ASK_TIMEOUT = 30.0
CopyName = Callable[[str], str]
"""Gives the name of a topic's copy, as far as the command line tells it."""


def _run(call: CommandCall) -> int:
    options = call.options
    root_logger.silence()
    try:
        with _cluster(call) as (connection, copy):
            return int(options.run(options, connection, copy))
    except ClientError as error:
        text = f"it refuses: {error.args[0].str()}; look at the topic and the rights"
        raise HostError(error_at(options.side, connection, text)) from error
    except (TimeoutError, OSError) as error:
        raise HostError(str(error)) from error


@contextmanager
def _cluster(call: CommandCall) -> Iterator[tuple[ConnectionSettings, CopyName]]:
    """Yield how to reach the cluster that the options or the mirror's command line name, and names of copies."""
    options = call.options
    if not call.line.is_mirror_maker_2:
        config, wishes = _file(call)
        with java_when_asked(wishes) as java:
            yield client_connection.read(config, wishes).reached_by_librdkafka(java), lambda topic: topic
        return
    flow = call.line.driver_flow()
    with call.line.only_flow_with_stores() as (settings, java):
        side = settings.source if options.run is _produce else settings.target
        found = ClientConnection(side.connection, JavaStores())
        found = client_connection.read(options.config, settings.process.spark.jvm) if options.config else found
        names = flow.names(settings, lambda: java().topic_matcher)
        yield found.reached_by_librdkafka(java), names.at_target


def _file(call: CommandCall) -> tuple[str, JvmSettings]:
    """Return the properties file that names the cluster, and what is known of the mirror's Java."""
    options = call.options
    parts = call.line.parts() if call.line.words else None
    named = (parts.consumer if options.run is _produce else parts.producer) if parts else None
    if (config := options.config or named) is None:
        call.refuse("name --config FILE, or the mirror's command line behind --")
    return config, parts.java if parts else client_connection.java_of_environment()


def _require_answer(options: argparse.Namespace, connection: ConnectionSettings) -> None:
    """Raise HostError for a cluster that is away: a client of the ledger would try for minutes."""
    with at_cluster(options.side, connection):
        NativeInspector(connection).partitions(Deadline.after(_ASK_TIMEOUT))


def _produce(options: argparse.Namespace, connection: ConnectionSettings, _: CopyName) -> int:
    _require_answer(options, connection)
    ledger = Ledger(options.topic, options.file)
    work = Workload(options.records, options.size, options.rate, not options.no_headers)
    before = ledger.acknowledged
    try:
        with StopSignals():
            refused = produce(ledger, property_texts(connection), work)
        end = f"{refused} refused"
        code: int = ExitCode.FAILED if refused else ExitCode.DONE
    except StoppedBySignal as stopped:  # `check` does not count what was under way as missing
        end, code = "then stopped", stopped.exit_code
    finally:
        ledger.close()
    # the file counts: a signal may come while a record is noted
    acknowledged = Ledger.load(options.file).acknowledged - before
    sys.stdout.write(f"{acknowledged} records acknowledged, {end}; ledger: {options.file}\n")
    return code


def _check(options: argparse.Namespace, connection: ConnectionSettings, copy: CopyName) -> int:
    ledger = Ledger.load(options.file)
    _require_answer(options, connection)
    verdict = check(ledger, property_texts(connection), options.topic or copy(ledger.topic))
    differences = verdict.differences(allow_duplicates=options.allow_duplicates)
    sys.stdout.write(_as_json(verdict) if options.json else _as_text(verdict, differences))
    return ExitCode.FOUND if differences else ExitCode.DONE


def _as_text(verdict: Verdict, differences: Sequence[str]) -> str:
    counts = ", ".join(f"{verdict.count(kind)} {kind}" for kind in KINDS)
    head = f"{verdict.acknowledged} records in the ledger, {verdict.arrived} at the target: {counts}"
    rest = f"{verdict.moved} in another partition number, {verdict.unacknowledged} never acknowledged at the source"
    return "\n".join([head, rest, *differences]) + "\n"


def _as_json(verdict: Verdict) -> str:
    body = {
        "acknowledged": verdict.acknowledged,
        "arrived": verdict.arrived,
        "moved": verdict.moved,
        "unacknowledged": verdict.unacknowledged,
        "alterations": dict(verdict.alterations),
        "offsets": {kind: {str(p): list(found) for p, found in verdict.offsets[kind].items()} for kind in KINDS},
    }
    return as_json(body, indent=None)


def _add_options(parser: CommandParser) -> None:
    parser.description = "Behind -- may stand the mirror's command line: its files say how to reach the clusters."
    commands = parser.add_subparsers(required=True, metavar="produce|check")
    writing = commands.add_parser("produce", help="write records to a topic of the source and note them in a file")
    writing.add_argument("--topic", required=True)
    writing.add_argument("--records", type=int, default=100_000, help="how many (100000)")
    writing.add_argument("--size", type=int, default=100, help="bytes of a value (100)")
    writing.add_argument("--rate", type=float, default=0.0, help="records a second; 0, the default, is no limit")
    writing.add_argument("--no-headers", action="store_true", help="for topics with records older than Kafka 0.11")
    writing.set_defaults(run=_produce)
    judging = commands.add_parser("check", help="read the target and judge it; exit 0 equal, 2 different, 1 unknown")
    judging.add_argument(
        "--topic", default="", help="its name at the target, where that differs (as MirrorMaker 2's file says)"
    )
    judging.add_argument("--allow-duplicates", action="store_true", help="they are counted, but no difference")
    judging.add_argument("--json", action="store_true", help="one JSON object with all offsets")
    judging.set_defaults(run=_check)
    for command, side in ((writing, "source"), (judging, "target")):
        command.add_argument("--config", help=f"a Java client's properties file for the {side}, else that of the line")
        command.add_argument("--file", required=True, type=Path, help="the ledger")
        command.set_defaults(side=side)
        add_flow_option(command)


BODIES = {"ledger": CommandBody(_add_options, _run)}
