"""`legacy-mm redrive` sends quarantined records on.

It takes the mirror's command line behind `--`: its files say how to reach the target, its options which handler. The
records of the quarantine, a file or a topic, are given to the handler again, as they were at the source, and what it
makes of them is sent; with no handler, but `--send.on.error quarantine`, they are sent where the mirror does. A file
that is sent is renamed, and of a topic offsets are committed, so that nothing is sent twice; a record on which the
handler fails again stops it before anything is sent. A record that the target refuses again leaves the quarantine as
it is, and the others are at the target.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from legacy_mm.cli.handler import handled, handler_of, ignore
from legacy_mm.cli.old_line import flows_by_librdkafka, split, told
from legacy_mm.clock import Deadline
from legacy_mm.config.settings import Settings
from legacy_mm.errors import HostError, SendFailure, UsageError
from legacy_mm.features import Names
from legacy_mm.handlers.api import Record
from legacy_mm.handlers.quarantine import read_file, released
from legacy_mm.kafka.backlog import Backlog
from legacy_mm.kafka.sender import FailedSend, RecordSender
from legacy_mm.model import Outgoing
from legacy_mm.spark.session import java_for

_PATIENCE_SECONDS = 30.0
_SENT = ".redriven"


def redrive(words: Sequence[str]) -> int:
    """`legacy-mm redrive [FILE] -- COMMAND LINE`."""
    parser = argparse.ArgumentParser(prog="legacy-mm redrive")
    parser.add_argument("file", type=Path, nargs="?", help="else the --quarantine.topic of the command line")
    own, line = split(words)
    return told(lambda: _redrive(parser.parse_args(own).file, line))


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
        targets = handled(handler_of(settings), records)
    failed: list[FailedSend] = []
    # with a record the target refuses its batch: here each has its own
    properties = {**settings.target.properties, "batch.num.messages": "1"}
    sender = RecordSender(properties, {}, failed.append, ignore, ignore)
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
