"""`legacy-mm verify`: does the target hold what the source holds? A Spark job over the data, without any ledger."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.settings import SparkSettings
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.mirror_line import LineParts
from legacy_mm.cli.output import ProgressBar
from legacy_mm.cli.parser import read_own_options
from legacy_mm.features import flags
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.flow import client_checks
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.key_stores import with_stores
from legacy_mm.handlers.built_in import GuardLoop
from legacy_mm.logs import root_logger
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.spark.runner import reason_of
from legacy_mm.runtime.spark.session import SparkHost
from legacy_mm.runtime.spark.shipping import build_archive
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.legacy_tool import client_connection, topic_pattern
from legacy_mm.words.options import validate
from legacy_mm.words.options.option_catalogue import EMBEDDED, OwnOptions, option_called

if TYPE_CHECKING:
    from legacy_mm.audit.topic_comparison import ComparisonOutcome, TopicDifference

_PRELOADED = "legacy_mm.runtime.spark.tables legacy_mm.audit.fingerprints"
_STOP_TIMEOUT = 5.0
_HOUR_SECONDS = 3600
_AS_THE_MIRROR = (
    "spark.master",
    "spark.conf",
    "features.config",
    "feature.topics",
    "rename.topics",
    "detect.loops",
    "source.cluster.alias",
    "target.cluster.alias",
    "exactly.once",
    "replication.policy.class",
    "replication.policy.separator",
)
"""Options that mean what they mean to the mirror, given as words, variables or a file."""


@dataclass(frozen=True, slots=True)
class _Compared:
    """Topics of both clusters, and how a mirror copies them."""

    spark: SparkSettings
    features: FeatureSettings
    pattern: str
    """The Java regular expression of the source topics."""
    committed_only: bool
    names: Callable[[Jvm], FlowTopics]
    connections: Callable[[Jvm], Mapping[str, ConnectionSettings]]
    heartbeats: bool = True
    """False: topics of heartbeats are left out, because they never stand still."""
    note: str = ""
    """A line for readers of the differences."""


def _run(call: CommandCall) -> int:
    root_logger.silence()
    compared = _of_driver(call) if call.line.is_mirror_maker_2 else _of_files(*_read(call))
    found = _compare(compared, call.options)
    sys.stdout.writelines(f"{line}\n" for line in (*filter(None, [compared.note]), *_lines(found)))
    if found.differences:
        return ExitCode.FOUND
    return ExitCode.FAILED if found.unread else ExitCode.DONE


def _of_driver(call: CommandCall) -> _Compared:
    """Return what a flow of MirrorMaker 2's file copies: clusters, topics and names are those of the file."""
    options = call.options
    for name in ("source-config", "target-config", *_AS_THE_MIRROR):
        if vars(options)[name if name in _AS_THE_MIRROR else name.replace("-", "_")]:
            call.refuse(f"--{name} is for kafka-mirror-maker.sh: MirrorMaker 2's file, or an option behind it, says it")
    flow, settings = call.line.driver_flow(), call.line.only_flow()
    client_checks.check_clients(settings)
    if options.topics:
        settings = replace(settings, topics=topic_pattern.topic_settings(options.topics, exclude_internal=True))

    def connections(jvm: Jvm) -> Mapping[str, ConnectionSettings]:
        reached = with_stores(settings, lambda: jvm)
        return {"source": reached.source.connection, "target": reached.target.connection}

    note = "the flow has transforms: records that they change, and topics that they rename, are told as differences"
    return _Compared(
        replace(settings.process.spark, jvm=settings.process.spark.jvm.for_questions()),
        settings.features,
        settings.topics.pattern,
        settings.features[EXACTLY_ONCE] is not None or settings.source.committed_only,
        lambda jvm: flow.names(settings, lambda: jvm.topic_matcher),
        connections,
        heartbeats=bool(options.topics),
        note="" if settings.handler is None else f"{settings.flow}: {note}",
    )


def _read(call: CommandCall) -> tuple[argparse.Namespace, LineParts | None]:
    """Return the options, with what the mirror's command line has of them."""
    options = call.options
    parts = call.line.parts() if call.line.words else None
    if parts is not None:
        options.source_config = options.source_config or parts.consumer
        options.target_config = options.target_config or parts.producer
        options.topics = options.topics or parts.topics
    for name in ("source-config", "target-config", "topics"):
        if not vars(options)[name.replace("-", "_")]:
            call.refuse(f"name --{name}, or a mirror's command line behind -- that has it")
    return options, parts


def _of_files(options: argparse.Namespace, parts: LineParts | None) -> _Compared:
    own = _own_options(options, parts)
    files = {"source": options.source_config, "target": options.target_config}
    java = parts.java if parts else client_connection.java_of_environment()
    clusters = {side: client_connection.read(path, java) for side, path in files.items()}
    written, read = (properties_file.load(files[side]).properties for side in ("target", "source"))
    features = flags.settings(own.features, flags.given_in(written), flags.given_in(read))
    topics = topic_pattern.topic_settings(options.topics, exclude_internal=True)
    return _Compared(
        SparkSettings(None if own.spark_master == EMBEDDED else own.spark_master, own.spark_conf, java.for_questions()),
        features,
        topics.pattern,
        features[EXACTLY_ONCE] is not None or read.get("isolation.level") == "read_committed",
        lambda jvm: FlowTopics(topics, features, jvm.topic_matcher),
        lambda jvm: {side: each.reached(lambda: jvm) for side, each in clusters.items()},
    )


def _compare(compared: _Compared, options: argparse.Namespace) -> ComparisonOutcome:
    try:
        from legacy_mm.audit.connections import ConnectionGiver
        from legacy_mm.audit.topic_comparison import compare
    except ImportError as error:
        raise HostError(
            f"this command needs more packages ({error}): pip install '/path/to/checkout[verify]'"
        ) from error
    with ExitStack() as stack:
        host = SparkHost(compared.spark, streams=options.parallel, sql=True)
        stack.callback(lambda: host.stop(Deadline.after(_STOP_TIMEOUT)))
        host.preload(_PRELOADED)
        context = _started(host)
        connections, names = compared.connections(host.jvm), compared.names(host.jvm)
        giver = ConnectionGiver(connections, embedded=host.embedded)
        stack.callback(giver.close)
        return compare(
            context,
            connections,
            giver.secret,
            lambda found: _copies(
                names, names.compiled(compared.pattern).matching(found), heartbeats=compared.heartbeats
            ),
            _progress(stack),
            timed=not options.ignore_timestamps,
            committed_only=compared.committed_only,
            without_header=GuardLoop.HEADER if compared.features.detect_loops else "",
        )


def _own_options(options: argparse.Namespace, parts: LineParts | None) -> OwnOptions:
    given: Mapping[str, str | list[str] | None] = {name: vars(options)[name] for name in _AS_THE_MIRROR}
    words = [
        f"--{name}={text}"
        for name, texts in given.items()
        for text in ([texts] if isinstance(texts, str) else texts or ())
    ]
    shared = [word for word in (parts.own if parts else ()) if word[2:].partition("=")[0] in _AS_THE_MIRROR]
    own = read_own_options([*shared, *words], parts.variables if parts else os.environ)
    validate.check_spark(own.spark_master, own.spark_conf)
    return own


def _started(host: SparkHost) -> Any:
    try:
        return host.context(None if host.embedded else build_archive(host.folder, ["verify"]))
    except Exception as error:
        raise HostError(f"Spark does not start: {reason_of(error)}") from error


def _copies(names: FlowTopics, topics: Collection[str], *, heartbeats: bool) -> dict[str, str]:
    """Return those of these topics that a mirror copies, and the names of the copies.

    A mirror brings heartbeats whatever its pattern says; here they are compared only where the pattern has them.
    """
    chosen = names.choice().select(topics)
    if not heartbeats:
        chosen = frozenset(topic for topic in chosen if not names.brings_heartbeats(topic))
    names.scope.inspect(chosen)
    return {topic: names.at_target(topic) for topic in sorted(chosen)}


def _progress(stack: ExitStack) -> Callable[[float], None] | None:
    """Return a progress bar if standard error is a terminal."""
    if not sys.stderr.isatty():
        return None
    bar = ProgressBar(sys.stderr)
    stack.callback(bar.clear)
    return bar.show


def _lines(outcome: ComparisonOutcome) -> Iterator[str]:
    names = {"source": {topic: topic for topic in outcome.names}, "target": outcome.names}
    for total in sorted(outcome.totals, key=lambda each: (each.topic, each.side)):
        name = names[total.side][total.topic]
        yield f"{name}: {total.records} records at the {total.side}, hash {total.hash:016x}"
    for row in outcome.differences:
        yield _difference(row, names)
    for row in outcome.undecided:
        yield f"{_difference(row, names)}; perhaps among the offsets that were not compared"
    for each in outcome.unread:
        place = f"{names[each.side][each.topic]}-{each.partition}"
        yield (
            f"{place}: a transaction is open at the {each.side} from offset {each.begin} on: offsets {each.begin} to "
            f"{each.end - 1} were not compared; compare again when it has ended"
        )


def _difference(row: TopicDifference, names: Mapping[str, Mapping[str, str]]) -> str:
    side = "source" if row.kind == "missing" else "target"
    return (
        f"{names[side][row.topic]}: {row.records} records {row.kind}, {side} partition {row.partition}, "
        f"offsets {row.first_offset} to {row.last_offset}, {_hour(row.hour)}"
    )


def _hour(hours: int) -> str:
    """Format an hour. Producers that send microseconds are thousands of years ahead, where Python has no dates."""
    try:
        return datetime.fromtimestamp(hours * _HOUR_SECONDS, UTC).strftime("%Y-%m-%d %H:00 UTC")
    except (OverflowError, ValueError):
        return f"about {hours * _HOUR_SECONDS} s since 1970"


def _add_options(parser: CommandParser) -> None:
    parser.description = "Behind -- may stand the mirror's command line, which has files, topics and flags."
    parser.add_argument("--source-config", help="the mirror's consumer file; isolation.level counts")
    parser.add_argument("--target-config", help="a Java client's file for the target")
    parser.add_argument("--topics", help="a Java regular expression, as --include")
    parser.add_argument("--parallel", type=int, default=1, help="the more, the more slices are read at once (1)")
    parser.add_argument("--ignore-timestamps", action="store_true", help="for targets that stamp records themselves")
    add_flow_option(parser)
    shared = parser.add_argument_group("As the mirror has them")
    for name in _AS_THE_MIRROR:
        row = option_called(name)
        assert row is not None
        action = "append" if row.repeated else "store"
        shared.add_argument(f"--{name}", dest=name, action=action, metavar=f"<{row.argument}>", help=row.help)


BODIES = {"verify": CommandBody(_add_options, _run)}
