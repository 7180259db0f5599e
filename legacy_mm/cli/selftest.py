"""`legacy-mm selftest`: stop, kill and freeze mirrors between the user's own clusters, in scratch topics."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from legacy_mm.audit import selftest
from legacy_mm.audit.cluster_access import ClientError
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.stop_signals import StoppedBySignal, StopSignals
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.settings import JvmSettings
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.output import as_json
from legacy_mm.clients.librdkafka.property_texts import property_texts
from legacy_mm.runtime.spark.session import java_when_asked
from legacy_mm.words.legacy_tool import client_connection


@dataclass(frozen=True, slots=True)
class _Side:
    """One cluster: Java properties for mirrors, which may hold secrets, and the connection of our own clients."""

    properties: Mapping[str, str] = field(repr=False)
    connection: ConnectionSettings


@dataclass(frozen=True, slots=True)
class _Played:
    """Both clusters of the scenarios, and the words of their mirrors."""

    source: _Side
    target: _Side
    words: Sequence[str]
    """Further words for the mirrors."""
    java: JvmSettings
    """Wishes for their Java."""


def _run(call: CommandCall) -> int:
    try:
        with _read(call) as played:
            return _play(call.options, played)
    except (OSError, ClientError) as error:
        raise HostError(f"{type(error).__name__}: {error}") from error
    except StoppedBySignal as stopped:
        sys.stderr.write("Stopped.\n")
        return stopped.exit_code


@contextmanager
def _read(call: CommandCall) -> Iterator[_Played]:
    """Yield both clusters, and the words for the mirrors.

    Without files among the options the mirror's command line behind `--` names them. Of MirrorMaker 2's file mirrors
    have the clients of one flow, and keep the names of the scratch topics.
    """
    options, line = call.options, call.line
    named = [file for file in (options.source, options.target) if file is not None]
    if len(named) == 1 or not (named or line.words):
        call.refuse("name both --source and --target, or neither and the mirror's command line behind --")
    if named:
        java = client_connection.java_of_environment()
        with _sides(options.source, options.target, java) as sides:
            yield _Played(*sides, line.words, java)
    elif line.is_mirror_maker_2:
        flow = line.driver_flow()
        with line.only_flow_with_stores() as (settings, _):
            ends = settings.source.connection, settings.target.connection
            for each in ends:
                client_connection.require_login_of_librdkafka(each)
            sides = _Side(flow.consumer(), ends[0]), _Side(flow.producer(), ends[1])
            yield _Played(*sides, flow.own, settings.process.spark.jvm)
    else:
        parts = line.parts()
        with _sides(parts.consumer, parts.producer, parts.java) as sides:
            yield _Played(*sides, parts.others, parts.java)


@contextmanager
def _sides(source: str, target: str, wishes: JvmSettings) -> Iterator[tuple[_Side, _Side]]:
    """Yield the clusters of two properties files, while Java runs if it had to read for them."""
    with java_when_asked(wishes) as java:

        def side(path: str) -> _Side:
            connection = client_connection.read(path, wishes).reached_by_librdkafka(java)
            return _Side(client_connection.java_properties(path, wishes), connection)

        yield side(source), side(target)


def _play(options: argparse.Namespace, played: _Played) -> int:
    with tempfile.TemporaryDirectory(prefix="legacy_mm-selftest-") as name, StopSignals():
        folder, environment = Path(name), _environment(played.java)

        def start(at: Path, topic: str, group: str) -> ToolProcess:
            at.mkdir()
            own = {**selftest.OWN_CONSUMER_LINES, "group.id": group}
            consumer = _write(at / "consumer.properties", {**played.source.properties, **own})
            producer = _write(at / "producer.properties", played.target.properties)
            files = ["--consumer.config", consumer, "--producer.config", producer]
            words = ["--whitelist", topic, "--log.level", "INFO", *played.words]
            command = [sys.executable, "-P", "-m", "legacy_mm", *files, *words]
            return ToolProcess(command, at, environment, Path.cwd())  # files may be named from here

        clusters = selftest.Clusters(
            property_texts(played.source.connection),
            property_texts(played.target.connection),
            start,
            options.records,
            options.patience,
        )
        results = []
        for scenario in options.scenarios:
            results.append(selftest.run(scenario, clusters, folder))
            if not options.json:
                _tell(results[-1])
    if options.json:
        sys.stdout.write(as_json([result._asdict() for result in results], indent=None))
    return ExitCode.FOUND if any(result.wrong for result in results) else ExitCode.DONE


def _environment(java: JvmSettings) -> Mapping[str, str]:
    """Return the variables for mirrors, several of which run at a time: Java's class path and properties, none of its
    ports.
    """
    variables = {"CLASSPATH": java.class_path, "JDK_JAVA_OPTIONS": shlex.join(java.for_questions().options)}
    return {name: text for name, text in variables.items() if text}


def _tell(result: selftest.Result) -> None:
    counts = ", ".join(f"{count} {kind}" for kind, count in result.counts.items())
    verdict = "FAILED" if result.wrong else "passed"
    sys.stdout.write(
        f"{result.name:<14} {verdict}: {result.records} records, {counts}; "
        f"expected {result.expected}; {result.seconds:.0f} s\n"
    )
    for line in result.wrong:
        sys.stdout.write(f"  {line}\n")
    sys.stdout.flush()


def _write(file: Path, properties: Mapping[str, str]) -> str:
    """Write properties that only the owner can read."""
    file.touch(0o600)
    return str(write_properties(file, properties))


def _scenarios(text: str) -> list[str]:
    chosen = text.split(",")
    if unknown := [name for name in chosen if name not in selftest.SCENARIOS]:
        raise argparse.ArgumentTypeError(f"there is no {unknown[0]}; there are {', '.join(selftest.SCENARIOS)}")
    return chosen


def _add_options(parser: CommandParser) -> None:
    parser.description = (
        "Mirrors scratch topics while mirrors are stopped, killed and frozen, and counts what arrives. "
        "Behind -- stands the mirror's command line; with --source and --target, words for the mirrors."
    )
    parser.add_argument("--source", help="a Java consumer's properties file, else that of the line")
    parser.add_argument("--target", help="a Java producer's properties file, else that of the line")
    every = list(selftest.SCENARIOS)
    parser.add_argument(
        "--scenarios", type=_scenarios, default=every, metavar="A,B", help=f"of {', '.join(every)} (all)"
    )
    parser.add_argument("--records", type=int, default=20_000, help="for each scenario (20000)")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds until all must have arrived (120)")
    parser.add_argument("--json", action="store_true", help="one JSON list instead of a line each")
    add_flow_option(parser)


BODIES = {"selftest": CommandBody(_add_options, _run)}
