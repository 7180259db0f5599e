"""`legacy-mm redrive` sends quarantined records on.

It takes the mirror's command line behind `--`: its files say how to reach the target, its options which handler. The
records of the quarantine, a file or a topic, are given to the handler again, as they were at the source, and what it
makes of them is sent; with no handler, but `--send.on.error quarantine`, they are sent where the mirror does. What is
sent, and nothing else, goes out of the quarantine: of a topic offsets are committed, a file is taken away from the
mirror first (`handlers/line_file.py`) and renamed when all of it is sent. A record on which the handler fails again
stops it before anything of that file or topic is sent. With a record that the target refuses again nothing goes out of
the quarantine, though the others are at the target.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError, HostError, LegacyMMError, SendFailure, UsageError
from legacy_mm.base.kafka_clients import ProducerSettings
from legacy_mm.base.model import Outgoing
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.handler import as_record, handled, handler_of
from legacy_mm.clients.produce.producer_id import ProducerIdRefused
from legacy_mm.clients.produce.single_producer import NativeProducer
from legacy_mm.clients.topics.backlog import Backlog
from legacy_mm.dataplane.routes import RouteOptions, Router
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.batches import BY_KEY, BatchHandler, PythonBatches
from legacy_mm.handlers.line_file import holding, take, was_taken
from legacy_mm.handlers.quarantine import read_file, released
from legacy_mm.logs import events
from legacy_mm.runtime.jvm.gateway import Jvm

_SEND_TIMEOUT = 30.0


def _add_options(parser: CommandParser) -> None:
    parser.allow_abbrev = True
    parser.add_argument("file", type=Path, nargs="?", help="else the --quarantine.topic of the command line")
    add_flow_option(parser)


def _redrive(call: CommandCall) -> int:
    file: Path | None = call.options.file
    with call.line.flow_with_stores() as (settings, java):
        names = FlowTopics(settings.topics, settings.features, lambda pattern: java().topic_matcher(pattern))
        made = _handler(settings, names, java)
        for found in _of_topic(settings) if file is None else _of_file(file):
            try:
                targets = _targets(made, names, found.records)
                _send(settings, targets)
            except LegacyMMError as error:
                raise type(error)(f"{error}; {found.kept}") from error
            print(f"{len(found.records)} records redriven, {len(targets)} sent")
    if file is None and settings.quarantine.needs_file:
        _tell_of_file(Path(settings.quarantine.file))
    return ExitCode.DONE


@dataclass(frozen=True, slots=True)
class _Quarantined:
    """Records that are out of the quarantine when the next ones are asked for."""

    records: list[Record]
    kept: str
    """The place of the records until then."""


def _of_file(path: Path) -> Iterator[_Quarantined]:
    """Yield what an earlier redrive has left, and what the file holds now."""
    left = was_taken(path)
    try:
        if left:
            yield from _taken_from(path)
        if not left or path.exists():
            read_file(path)  # one that is no quarantine keeps its name
            yield from _taken_from(path)
    except OSError as error:
        raise HostError(f"{path} cannot be taken: {error.strerror}") from error


def _taken_from(path: Path) -> Iterator[_Quarantined]:
    with take(path) as taken:
        kept = f"the records are in {taken.path}, which the next redrive takes first"
        records, torn = read_file(taken.path)
        yield _Quarantined(records, kept)
        now = taken.done()
    print(f"the file is now {now}")
    if torn:
        raise ConfigurationError(f"{now} has torn lines, which were not sent: {', '.join(map(str, torn))}")


def _of_topic(settings: Settings) -> Iterator[_Quarantined]:
    topic = settings.quarantine.topic
    if topic is None:
        raise UsageError("name a file, or --quarantine.topic in the command line")
    group = f"{settings.source.group_id}-redrive"
    backlog = Backlog(settings.target.connection, topic, group, _SEND_TIMEOUT)
    records = [released(as_record(place, found)) for place, found in backlog.read()]
    yield _Quarantined(records, f"{topic} stays as it is")
    backlog.done()
    print(f"group {group} has had all of {topic}")


def _tell_of_file(path: Path) -> None:
    """Say what lies in the file: the records that the topic has refused, too, are there."""
    found = holding(path)
    if not found:
        print(f"no file {path} here, where the mirror keeps what the topic does not take")
        return
    try:
        count = sum(len(read_file(each).records) for each in found)
    except ConfigurationError as error:
        print(f"what the topic does not take is in {path}, but {error}")
        return
    print(
        f"{count} records are in {path}, because the topic did not take them: legacy-mm redrive {path} -- COMMAND LINE"
    )


def _handler(settings: Settings, names: FlowTopics, java: Callable[[], Jvm]) -> BatchHandler:
    if settings.handler is None and settings.quarantine.refused:
        return PythonBatches(lambda record: [record.to(names.at_target(record.topic))])
    return handler_of(settings, java)


def _targets(made: BatchHandler, names: FlowTopics, records: Sequence[Record]) -> Sequence[Outgoing]:
    """Return what a mirror sends for these records."""
    if not records:
        return ()
    topics = {record.topic for record in records}
    names.scope.inspect(topics)
    kept = names.keeps_partition(topics)
    return handled(made, records, lambda place: place.partition if place.topic in kept else BY_KEY).targets


def _send(settings: Settings, targets: Sequence[Outgoing]) -> None:
    """Send them; raises SendFailure with the first record that the target refuses, after the others, and HostError."""
    client = settings.target.client
    try:
        _send_with(client, targets)
    except ProducerIdRefused as error:
        if settings.target.idempotence_required:
            raise SendFailure(f"the target refuses an idempotent producer: {error}") from error
        events.emit(events.IDEMPOTENCE_REFUSED, reason=error)
        _send_with(client.without_idempotence(), targets)


def _send_with(client: ProducerSettings, targets: Sequence[Outgoing]) -> None:
    router = Router(RouteOptions.of(client.produce, measure=False))
    with closing(NativeProducer(client, router.batch_of, _SEND_TIMEOUT)) as producer:
        if refused := producer.send(targets):
            raise SendFailure(f"sending to {refused[0].topic} failed: {refused[0].reason}")


BODIES = {"redrive": CommandBody(_add_options, _redrive, as_mirror=True)}
