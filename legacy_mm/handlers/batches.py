"""The engine's interface to a handler: a batch of source records in, records for the target out."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from legacy_mm.handlers.api import Record, TargetRecord
from legacy_mm.model import Columns, Outgoing
from legacy_mm.policies.topic_letters import why_no_topic

_record: Callable[[tuple[Any, ...]], Record] = partial(tuple.__new__, Record)
"""Without the checks of Record's own constructor: 0.1 us a record instead of 0.5."""


@dataclass(frozen=True, slots=True)
class Handled:
    """The result for a batch, up to the first record that the handler failed on."""

    targets: Sequence[Outgoing]
    ends: Sequence[int]
    """The number of targets up to and including its own, for each handled source record."""
    error: str | None = None
    """Why the record behind those could not be handled."""
    exit_code: int | None = None
    """With which code the handler ended the program at that record; None: it did not."""


class BatchHandler(Protocol):
    """A handler of whole batches; never raises for what user code does."""

    def handle(self, batch: Columns) -> Handled:
        """Handle these records, in their order."""


class PythonBatches:
    """Gives each record of a batch to a Python handler."""

    def __init__(self, handle: Callable[[Record], Sequence[TargetRecord]]) -> None:
        self._handle = handle

    def handle(self, batch: Columns) -> Handled:
        """Call the user's code once for each record."""
        targets: list[Any] = []
        ends: list[int] = []
        handle, add, end = self._handle, targets.extend, ends.append
        try:
            for record in map(_record, batch.rows()):
                add(handle(record))
                end(len(targets))
        except SystemExit as end:
            return Handled(targets[: ends[-1] if ends else 0], ends, exit_code=_exit_code(end))
        except Exception as error:  # noqa: BLE001 - user code may raise anything
            return _cut(targets, ends, len(ends), f"{type(error).__name__}: {error}")
        for place, target in enumerate(targets) if {*map(type, targets)} - {TargetRecord} else ():
            if not isinstance(target, TargetRecord):
                handled = next(number for number, last in enumerate(ends) if last > place)
                return _cut(targets, ends, handled, f"handle answered {type(target).__name__}, not TargetRecord")
        return Handled(targets, ends)


def legally_named(handled: Handled, known: set[str]) -> Handled:
    """Cut the result before the record that got an illegal topic name; `known` are legal names, and grows."""
    named = {target[0] for target in handled.targets}
    for name in named - known:
        if why := why_no_topic(name):
            place = next(place for place, target in enumerate(handled.targets) if target[0] == name)
            number = next(number for number, last in enumerate(handled.ends) if last > place)
            return legally_named(_cut(handled.targets, handled.ends, number, f"topic {name!r}: {why}"), known)
    known |= named
    return handled


def placed(
    batch: Columns, handled: Handled, keeps_partition: Container[str]
) -> tuple[list[Outgoing], set[tuple[str, int, str]]]:
    """Return the targets, and the moves: source topic, partition, target topic.

    A target has the source's partition where the handler names none and the topic is in `keeps_partition`.
    """
    targets = list(handled.targets)
    moves: set[tuple[str, int, str]] = set()
    begin = 0
    for source, number, end in zip(batch.topics, batch.partitions, handled.ends, strict=False):
        for index in range(begin, end):
            topic, key, value, headers, partition, timestamp = targets[index]
            if partition is None and source in keeps_partition:
                targets[index] = (topic, key, value, headers, number, timestamp)
                moves.add((source, number, topic))
        begin = end
    return targets, moves


def _exit_code(end: SystemExit) -> int:
    """Return what Python itself would exit with."""
    if end.code is None:
        return 0
    return end.code if isinstance(end.code, int) else 1


def _cut(targets: Sequence[Outgoing], ends: Sequence[int], handled: int, error: str) -> Handled:
    """Cut the result to the first `handled` records."""
    kept = ends[:handled]
    return Handled(targets[: kept[-1] if kept else 0], kept, error)
