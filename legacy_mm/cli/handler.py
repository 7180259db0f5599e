"""`legacy-mm handler test` shows what a handler makes of real records; `legacy-mm redrive` sends quarantined ones on.

Both take the mirror's command line behind `--`: its files say how to reach the clusters, its options which handler.
`handler test` reads the source without joining the group and writes nothing. `redrive` gives the records of the
quarantine, a file or a topic, to the handler again, as they were at the source, and sends what it makes of them; with
no handler, but `--send.on.error quarantine`, it sends them where the mirror does. A file that is sent is renamed, and
of a topic offsets are committed, so that nothing is sent twice; a record on which the handler fails again stops it
before anything is sent. A record that the target refuses again leaves the quarantine as it is, and the others are at
the target.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from legacy_mm.cli.old_line import flows_by_librdkafka, split, told
from legacy_mm.clock import Deadline
from legacy_mm.config.settings import HandlerSettings, Settings
from legacy_mm.errors import HandlerFailure, HostError, SendFailure, UsageError
from legacy_mm.features import Names
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.batches import BatchHandler
from legacy_mm.handlers.java import JavaBatches
from legacy_mm.handlers.loader import load_handler
from legacy_mm.handlers.quarantine import read_file, released
from legacy_mm.kafka.backlog import Backlog
from legacy_mm.kafka.reader import PartitionReader, columns
from legacy_mm.kafka.sender import FailedSend, RecordSender
from legacy_mm.model import EARLIEST, Columns, Outgoing, TopicPartition
from legacy_mm.spark.java import compiler_jars, find_java
from legacy_mm.spark.java_classes import HANDLER, with_interface
from legacy_mm.spark.session import java_for

_READ_SECONDS = 1.0
_PATIENCE_SECONDS = 30.0
_SENT = ".redriven"


def handler(words: Sequence[str]) -> int:
    """`legacy-mm handler test [HANDLER] --topic T [--partition P] [--from N] [--records M] -- COMMAND LINE`."""
    parser = argparse.ArgumentParser(prog="legacy-mm handler")
    parser.add_argument("what", choices=["test"])
    parser.add_argument("handler", nargs="?", help="a script, module:Class, dotted name or Java class; else the line's")
    parser.add_argument("--topic", required=True)
    parser.add_argument("--partition", type=int, default=0)
    parser.add_argument("--from", dest="begin", type=int, default=EARLIEST, metavar="N", help="the first offset")
    parser.add_argument("--records", type=int, default=10)
    own, line = split(words)
    return told(lambda: _test(parser.parse_args(own), line))


def redrive(words: Sequence[str]) -> int:
    """`legacy-mm redrive [FILE] -- COMMAND LINE`."""
    parser = argparse.ArgumentParser(prog="legacy-mm redrive")
    parser.add_argument("file", type=Path, nargs="?", help="else the --quarantine.topic of the command line")
    own, line = split(words)
    return told(lambda: _redrive(parser.parse_args(own).file, line))


def _test(asked: argparse.Namespace, line: Sequence[str]) -> int:
    (settings, *_) = flows_by_librdkafka(line if asked.handler is None else [*line, "--message.handler", asked.handler])
    made = _handler(settings)
    place = TopicPartition(asked.topic, asked.partition)
    for record in _records(settings, place, asked.begin, asked.records):
        print(f"{place} at {record.offset}: {record}")
        for target in _handled(made, [record]):
            print(f"  -> {target}")
    return 0


class _File:
    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path

    def records(self) -> list[Record]:
        return list(read_file(self._path))

    def done(self) -> str:
        self._path.rename(f"{self.name}{_SENT}")
        return f"the file is now {self.name}{_SENT}"


class _Topic:
    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self._group = f"{settings.source.group_id}-redrive"
        self._backlog = Backlog(settings.target.properties, name, self._group, _PATIENCE_SECONDS)

    def records(self) -> list[Record]:
        return [released(Record(*row)) for batch in self._backlog.read() for row in batch.rows()]

    def done(self) -> str:
        self._backlog.done()
        return f"group {self._group} has had all of {self.name}"


def _quarantined(file: Path | None, settings: Settings) -> _File | _Topic:
    if file is not None:
        return _File(file)
    if settings.quarantine.topic is None:
        raise UsageError("name a file, or --quarantine.topic in the command line")
    return _Topic(settings.quarantine.topic, settings)


def _redrive(file: Path | None, line: Sequence[str]) -> int:
    settings = flows_by_librdkafka(line)[0]
    quarantined = _quarantined(file, settings)
    records = quarantined.records()
    if settings.handler is None and settings.quarantine.refused:
        targets = _copies(settings, records)
    else:
        targets = _handled(_handler(settings), records)
    failed: list[FailedSend] = []
    # with a record the target refuses its batch: here each has its own
    properties = {**settings.target.properties, "batch.num.messages": "1"}
    sender = RecordSender(properties, {}, failed.append, _ignore, _ignore)
    sent, deadline = 0, Deadline.after(_PATIENCE_SECONDS)
    while sent < len(targets) and not deadline.expired():
        sent = sender.send_outgoing(targets, sent)
    kept = f"{quarantined.name} stays as it is"
    if not sender.flush(deadline.remaining()) or sent < len(targets):
        raise HostError(f"the target did not acknowledge within {_PATIENCE_SECONDS:g} s: {kept}")
    if failed:
        raise SendFailure(f"sending to {failed[0].topic} failed: {failed[0].reason}; {kept}")
    print(f"{len(records)} records redriven, {len(targets)} sent; {quarantined.done()}")
    return 0


def _copies(settings: Settings, records: Sequence[Record]) -> Sequence[Outgoing]:
    """What a mirror without a handler sends for these."""
    features, java_home = settings.features, settings.spark.jvm.java_home
    with ExitStack() as stack:
        # only a pattern needs Java
        compiled = lambda pattern: stack.enter_context(java_for(java_home)).topic_matcher(pattern)  # noqa: E731
        names = Names(settings.topics, features, compiled)
        names.scope.look({record.topic for record in records})
    made: list[Outgoing] = []
    for record in records:
        target = record.to(names.at_target(record.topic))
        keeps_partition = features.preserve_partitions and record.topic in names.scope
        made.append(target._replace(partition=record.partition) if keeps_partition else target)
    return made


def _handler(settings: Settings) -> BatchHandler:
    if settings.handler is None:
        raise UsageError("the command line has neither a message handler nor --send.on.error quarantine")
    java_home = settings.spark.jvm.java_home

    def java(of: HandlerSettings) -> BatchHandler:
        ready = replace(of, class_path=with_interface(of.class_path, HANDLER))
        return JavaBatches(ready, find_java(java_home), compiler_jars())

    return load_handler(settings.handler, java)


def _handled(made: BatchHandler, records: Sequence[Record]) -> Sequence[Outgoing]:
    if not records:
        return ()
    outcome = made.handle(Columns(*zip(*records, strict=True)))
    if outcome.error is not None:
        record = records[len(outcome.ends)]
        place = TopicPartition(record.topic, record.partition)
        raise HandlerFailure(f"the message handler failed on {place} at offset {record.offset}: {outcome.error}")
    return outcome.targets


def _records(settings: Settings, place: TopicPartition, begin: int, count: int) -> Iterator[Record]:
    properties = {**settings.source.properties, "client.id": "legacy-mm-handler-test"}
    reader = PartitionReader(properties, settings.source.api_timeout, _ignore)
    reader.start({place: begin})
    patience = _PATIENCE_SECONDS
    while count > 0 and (messages := reader.read(patience)):
        patience = _READ_SECONDS
        rows = list(columns(messages).rows())[:count]
        yield from (Record(*row) for row in rows)
        count -= len(rows)
    if gaps := reader.take_gaps():
        raise UsageError(f"{place} holds offsets {gaps[0].low} to {gaps[0].high - 1}, not {gaps[0].wanted}")


def _ignore(_: Any) -> None:
    """Statistics and zero timestamps are nobody's business here."""
