"""Single records through a handler of batches, for commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from legacy_mm.base.model import Outgoing, TopicPartition
from legacy_mm.handlers.batches import BY_KEY, BatchHandler, Handled, MadeRecords, SourceRecords
from legacy_mm.protocol.kernels import record_kernels as kernels
from legacy_mm.protocol.record_batch import Header

_NO_TIME = -1
RecordRow = tuple[Any, ...]
"""The fields of a `Record`."""


def by_key(partition: TopicPartition) -> int:
    """Return the wish of records that go where their key belongs."""
    return BY_KEY


@dataclass(slots=True)
class Answers:
    """The targets that a handler made of some records, up to the first one on which it failed."""

    targets: list[Outgoing] = field(default_factory=list)
    """By source record; of one record's targets those for the same topic keep their order."""
    ends: list[int] = field(default_factory=list)
    """The number of targets up to and including its own, for each handled source record."""
    error: str | None = None
    """Why the record behind those could not be handled."""
    exit_code: int | None = None
    """With which code the handler ended the program at that record; None: it did not."""


def handle_records(
    handler: BatchHandler, records: Sequence[RecordRow], wish: Callable[[TopicPartition], int] = by_key
) -> Answers:
    """Give a handler these records; `wish` says where those of a partition go for which it names no partition."""
    answers = Answers()
    for place, rows in _runs(records):
        handled = handler.handle(_source(place, rows, wish(place)))
        before = len(answers.targets)
        made = sorted((row for made in handled.made for row in _targets(made)), key=lambda found: found[0])
        counts = Counter(offset for offset, _ in made)
        answers.targets += [target for _, target in made]
        done = [counts[row[2]] for row in rows[: handled.records]]
        answers.ends += list(accumulate(done, initial=before))[1:]
        answers.error, answers.exit_code = handled.error, handled.exit_code
        if stopped(handled):
            break
    return answers


def stopped(handled: Handled) -> bool:
    """Return True if the handler failed or ended the program."""
    return handled.error is not None or handled.exit_code is not None


def _runs(records: Sequence[RecordRow]) -> Iterator[tuple[TopicPartition, list[RecordRow]]]:
    """Yield the records that can be in one batch: of one partition, with ascending offsets and one kind of time."""
    run: list[RecordRow] = []
    for row in records:
        if run and (row[:2] != run[-1][:2] or row[2] <= run[-1][2] or row[3] != run[-1][3]):
            yield TopicPartition(*run[0][:2]), run
            run = []
        run.append(row)
    if run:
        yield TopicPartition(*run[0][:2]), run


def _source(place: TopicPartition, rows: Sequence[RecordRow], wish: int) -> SourceRecords:
    writers: dict[str, kernels.RecordWriter] = {}
    first, last = rows[0], rows[-1]
    records = [(place.topic, key, value, headers, None, time) for _, _, _, _, time, key, value, headers in rows]
    ends = list(range(1, len(rows) + 1))
    kernels.write_targets(records, ends, list(rows), first[2], first[4], _NO_TIME, BY_KEY, writers)
    written = writers[place.topic]
    header = Header.new(written.count, written.base_timestamp, written.max_timestamp)
    header = header._replace(base_offset=first[2], last_offset_delta=last[2] - first[2])
    return SourceRecords(place, header, written.memory[: written.size], first[2], wish, first[3])


def _targets(made: MadeRecords) -> Iterator[tuple[int, Outgoing]]:
    """Yield the source offset and the fields of each record."""
    wishes = iter(made.wishes) if len(made.wishes) else None
    records = SourceRecords(TopicPartition(made.topic, 0), made.header, made.data, made.header.base_offset)
    for rows in records.rows():
        for topic, _, offset, _, time, key, value, headers in rows:
            partition = BY_KEY if wishes is None else next(wishes)
            yield offset, (topic, key, value, headers, None if partition < 0 else partition, time)
