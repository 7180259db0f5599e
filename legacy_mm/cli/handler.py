"""`legacy-mm handler test` shows what a handler makes of real records.

It takes the mirror's command line behind `--`: its files say how to reach the source, its options which handler. It
reads without joining the group and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.clients.cluster_errors import error_at
from legacy_mm.clients.librdkafka.reader import PartitionReader
from legacy_mm.config.kafka_clients import ConnectionSettings
from legacy_mm.config.settings import HandlerSettings
from legacy_mm.errors import HandlerFailure, HostError, UsageError
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.names import Names
from legacy_mm.flow.topic_steps import TopicSteps
from legacy_mm.handlers.api import Record, TargetRecord
from legacy_mm.handlers.batches import BatchHandler, Handled, SourceRecords
from legacy_mm.handlers.java_batches import JavaBatches
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.single_records import Answers, by_key, handle_records
from legacy_mm.jvm.gateway import Jvm
from legacy_mm.jvm.java_classes import HANDLER, with_interface
from legacy_mm.jvm.java_home import compiler_jars, find_java
from legacy_mm.model import EARLIEST, Columns, TopicPartition

_READ_TIMEOUT = 1.0
_FIRST_READ_TIMEOUT = 30.0


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


def _test(call: CommandCall) -> int:
    asked, line = call.options, call.line
    if asked.handler is not None:
        line = line.replacing(["--message.handler", asked.handler], "message.handler", "handler.step")
    place = TopicPartition(asked.topic, asked.partition)
    with line.flow_with_stores() as (settings, java):
        made = handler_of(settings, java)
        for record in _records(settings, place, asked.begin, asked.records):
            print(f"{place} at {record.offset}: {record}")
            for target in handled(made, Columns.from_rows([record])).targets:
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


def handler_of(settings: Settings, jvm: Callable[[], Jvm]) -> BatchHandler:
    """Make a line's handler, valid while `jvm` runs; raises UsageError, HandlerFailure, ConfigurationError."""
    if settings.handler is None:
        raise UsageError("the command line has neither a message handler nor --send.on.error quarantine")
    java_home = settings.spark.jvm.java_home

    def java(of: HandlerSettings) -> BatchHandler:
        ready = replace(of, class_path=with_interface(of.class_path, HANDLER))
        return JavaBatches(ready, find_java(java_home), compiler_jars())

    if settings.handler.steps:
        names = Names(settings.topics, settings.features, lambda pattern: jvm().topic_matcher(pattern))
        called = names.at_target if settings.handler.of_connect else None
        return _Stepped(TopicSteps(settings.handler.steps, jvm), java, called)
    return load_handler(settings.handler, java)


def handled(made: BatchHandler, batch: Columns, wish: Callable[[TopicPartition], int] = by_key) -> Answers:
    """Give it all of these records, as `handle_records` does; raises HandlerFailure, which names the record."""
    outcome = handle_records(made, batch, wish)
    if outcome.error is not None:
        record = Record(*next(batch.part(len(outcome.ends)).rows()))
        place = TopicPartition(record.topic, record.partition)
        raise HandlerFailure(f"the message handler failed on {place} at offset {record.offset}: {outcome.error}")
    return outcome


def _records(settings: Settings, place: TopicPartition, begin: int, count: int) -> Iterator[Record]:
    client = settings.source.client.named("legacy-mm-handler-test")
    reader = PartitionReader(client, settings.source.api_timeout, ignore)
    _start(reader, place, begin, client.connection)
    timeout = _FIRST_READ_TIMEOUT
    while count > 0 and (found := reader.read(timeout)):
        timeout = _READ_TIMEOUT
        rows = list(found.part(0, count).rows())
        yield from (Record(*row) for row in rows)
        count -= len(rows)
    if gaps := reader.take_gaps():
        raise UsageError(f"{place} holds offsets {gaps[0].low} to {gaps[0].high - 1}, not {gaps[0].wanted}")


def _start(reader: PartitionReader, place: TopicPartition, begin: int, source: ConnectionSettings) -> None:
    count = reader.partitions(place.topic)
    if count is None:
        raise HostError(error_at("source", source, "it does not answer"))
    if not 0 <= place.partition < count:
        raise UsageError(f"the source has no {place}")
    if place not in reader.start({place: begin}).offsets:
        raise HostError(f"{place} has no leader, or its leader does not answer")


def ignore(_: Any) -> None:
    """Ignore statistics and zero timestamps."""


BODIES = {"handler": CommandBody(_add_options, _test, as_mirror=True)}
