"""`legacy-mm handler test` shows what a handler makes of real records.

It takes the mirror's command line behind `--`: its files say how to reach the source, its options which handler. It
reads without joining the group and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HandlerFailure, StreamFailure, UsageError
from legacy_mm.base.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.base.settings import HandlerSettings
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.clients.fetch.partition_log import LogRecord
from legacy_mm.clients.topics.topic_reader import read_on
from legacy_mm.flow import plugins
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.handlers.api import CREATE_TIME, LOG_APPEND_TIME, NO_TIMESTAMP, Record, TargetRecord
from legacy_mm.handlers.batches import BatchHandler, Handled, SourceRecords
from legacy_mm.handlers.java_batches import JavaBatches
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.single_records import Answers, by_key, handle_records
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.java_home import compiler_jars, find_java

_WAIT_TIMEOUT = 30.0


def _add_options(parser: CommandParser) -> None:
    parser.allow_abbrev = True
    parser.add_argument("what", choices=["test"])
    parser.add_argument(
        "handler", nargs="?", help="a script, module:Class, dotted name or Java class, instead of the line's"
    )
    parser.add_argument("--topic", required=True)
    parser.add_argument("--partition", type=int, default=0)
    parser.add_argument("--from", dest="begin", type=int, default=EARLIEST, metavar="N", help="the first offset")
    parser.add_argument("--records", type=int, default=10)
    add_flow_option(parser)


def _test(call: CommandCall) -> int:
    options, line = call.options, call.line
    if options.handler is not None:
        line = line.replacing(["--message.handler", options.handler], "message.handler", "handler.step")
    place = TopicPartition(options.topic, options.partition)
    with line.flow_with_stores() as (settings, java):
        made = handler_of(settings, java)
        for record in _records(settings, place, options.begin, options.records):
            print(f"{place} at {record.offset}: {record}")
            for target in handled(made, [record]).targets:
                print(f"  -> {TargetRecord(*target)}")
    return ExitCode.DONE


class _Stepped:
    """Built-in handlers; Java is asked about the topics of each batch."""

    def __init__(
        self,
        steps: TopicSteps,
        java: Callable[[HandlerSettings], BatchHandler],
        called: Callable[[str], str] | None = None,
    ) -> None:
        """Take the steps; `called` gives topics the names by which the first step sees them."""
        self._steps = steps
        self._java = java
        self._called = called

    def handle(self, source: SourceRecords) -> Handled:
        """Handle these records, in their order; raises HandlerFailure for a name that no topic can have."""
        name, called = source.place.topic, self._called
        exact = self._steps.exact({name}) if called is None else self._steps.behind({name: called(name)})
        return load_handler(HandlerSettings(steps=exact), self._java).handle(source)


class _InJava:
    """Transforms that Java runs; it has to know the name of each topic at the target when it starts."""

    def __init__(
        self,
        settings: HandlerSettings,
        java: Callable[[HandlerSettings], BatchHandler],
        called: Callable[[str], str],
    ) -> None:
        self._settings = settings
        self._called = called
        self._java = java
        self._made: dict[str, BatchHandler] = {}

    def handle(self, source: SourceRecords) -> Handled:
        """Handle these records, in their order; raises HandlerFailure, HostError."""
        topic = source.place.topic
        if topic not in self._made:
            self._made[topic] = self._java(self._settings.seeing({topic: self._called(topic)}))
        return self._made[topic].handle(source)


def handler_of(settings: Settings, jvm: Callable[[], Jvm]) -> BatchHandler:
    """Make a line's handler, valid while `jvm` runs; raises UsageError, HandlerFailure, ConfigurationError."""
    if settings.handler is None:
        raise UsageError("the command line has neither a message handler nor --send.on.error quarantine")
    java_home = settings.process.spark.jvm.java_home

    def java(of: HandlerSettings) -> BatchHandler:
        return JavaBatches(plugins.with_jars(of), find_java(java_home), compiler_jars())

    names = FlowTopics(settings.topics, settings.features, lambda pattern: jvm().topic_matcher(pattern))
    if settings.handler.transforms is not None:
        return _InJava(settings.handler, java, names.at_target)
    if settings.handler.steps:
        called = names.at_target if settings.handler.of_connect else None
        return _Stepped(TopicSteps(settings.handler.steps, jvm), java, called)
    return load_handler(settings.handler, java)


def handled(made: BatchHandler, records: Sequence[Record], wish: Callable[[TopicPartition], int] = by_key) -> Answers:
    """Give it all of these records, as `handle_records` does; raises HandlerFailure, which names the record."""
    outcome = handle_records(made, records, wish)
    if outcome.error is not None:
        record = records[len(outcome.ends)]
        place = TopicPartition(record.topic, record.partition)
        raise HandlerFailure(f"the message handler failed on {place} at offset {record.offset}: {outcome.error}")
    return outcome


def as_record(place: TopicPartition, record: LogRecord) -> Record:
    """Return a record of a log as a handler sees it; raise StreamFailure for a header whose name is not UTF-8."""
    kind = LOG_APPEND_TIME if record.by_broker else CREATE_TIME if record.timestamp >= 0 else NO_TIMESTAMP
    try:
        headers = tuple((name.decode(), value) for name, value in record.headers)
    except UnicodeDecodeError as error:
        raise StreamFailure(
            f"{place} at offset {record.offset} has a header whose name is not UTF-8 ({error})"
        ) from error
    return Record(*place, record.offset, kind, record.timestamp, record.key, record.value, headers)


def _records(settings: Settings, place: TopicPartition, begin: int, count: int) -> Iterator[Record]:
    """Yield up to `count` records from an offset on, until for a while none comes."""
    client = settings.source.client
    connection = client.connection.named("legacy-mm-handler-test")
    inspector, deadline = NativeInspector(connection), Deadline.after(settings.source.api_timeout)
    partitions = inspector.partitions(deadline).get(place.topic, 0)
    if not 0 <= place.partition < partitions:
        raise UsageError(f"the source has no {place}")
    low, high = inspector.log_ends([place], deadline)[place]
    if begin >= 0 and not low <= begin <= high:
        raise UsageError(f"{place} holds offsets {low} to {high - 1}, not {begin}")
    first = {EARLIEST: low, LATEST: high}.get(begin, begin)
    found = read_on(connection, place, first, _WAIT_TIMEOUT, committed=client.fetch.committed_only)
    yield from (as_record(place, each) for each in islice(found, max(0, count)))


BODIES = {"handler": CommandBody(_add_options, _test, as_mirror=True)}
