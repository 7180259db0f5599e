"""Handlers that most people need, each also a line of options: `--handler.step name=value`, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from legacy_mm.base.errors import ConfigurationError, HandlerFailure
from legacy_mm.handlers.api import MessageHandler, Record, TargetRecord
from legacy_mm.handlers.transforms import STEP, transform_step


class RenameTopic(MessageHandler):
    """The topic with something before it and behind it."""

    def __init__(self, prefix: str = "", suffix: str = "") -> None:
        self._prefix, self._suffix = prefix, suffix

    def renamed(self, topic: str) -> str:
        """Return the name with prefix and suffix."""
        return f"{self._prefix}{topic}{self._suffix}"

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the same record for the other topic."""
        return [record.to(self.renamed(record.topic))]


class MapTopic(MessageHandler):
    """Topics by their names: `orders->shop.orders,logs->all-logs`, which the driver makes of a line's expressions."""

    def __init__(self, rows: str) -> None:
        self._names = dict(rows_of(rows))

    def renamed(self, topic: str) -> str:
        """Return the other name; the topic's own where there is none."""
        return self._names.get(topic, topic)

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the same record for the other topic."""
        return [record.to(self.renamed(record.topic))]


def rows_of(text: str) -> list[tuple[str, str]]:
    r"""Parse expression and topic of each row, as in `orders\.(.{1,3})->shop.$1,logs->all-logs`; raise
    ConfigurationError.

    A row ends at the first comma after its arrow: names of topics have none, and expressions may.
    """
    rows: list[tuple[str, str]] = []
    rest = text
    while rest:
        expression, arrow, behind = rest.partition("->")
        name, comma, rest = behind.partition(",")
        if not expression or not name or (comma and not rest):
            raise ConfigurationError(f"{text!r} is no list of pattern->topic")
        rows.append((expression, name))
    if not rows:
        raise ConfigurationError(f"{text!r} is no list of pattern->topic")
    return rows


class KeepPartition(MessageHandler):
    """The partition of the source; the target needs as many."""

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the same record for the same partition."""
        return [record.to(record.topic)._replace(partition=record.partition)]


class FilterTopic(MessageHandler):
    """Only topics of these names, which the driver makes of a line's expression."""

    def __init__(self, names: str) -> None:
        self._names = frozenset(names.split(","))

    def admits(self, topic: str) -> bool:
        """Return True for a topic whose records are copied."""
        return topic in self._names

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record, or nothing."""
        return [record.to(record.topic)] if self.admits(record.topic) else []


class FilterKey(MessageHandler):
    """Only records in whose key, read as UTF-8, the pattern is found; not those without a key."""

    def __init__(self, pattern: str) -> None:
        self._found = _compiled(pattern).search

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record, or nothing."""
        found = record.key is not None and self._found(record.key.decode(errors="replace"))
        return [record.to(record.topic)] if found else []


class FilterHeader(MessageHandler):
    """`name:pattern`: only records with a header of this name in whose value, read as UTF-8, the pattern is found."""

    def __init__(self, rule: str) -> None:
        self._name, colon, pattern = rule.partition(":")
        if not colon:
            raise ConfigurationError(f"{rule!r} is no name:pattern")
        self._found = _compiled(pattern).search

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record, or nothing."""
        values = (value for name, value in record.headers if name == self._name and value is not None)
        found = any(self._found(value.decode(errors="replace")) for value in values)
        return [record.to(record.topic)] if found else []


class AddProvenance(MessageHandler):
    """Headers that say where the record comes from: cluster, topic, partition, offset."""

    FIXED_HEADERS = 3
    OFFSET = "source.offset"

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster.encode()

    def fixed(self, topic: str, partition: int) -> tuple[tuple[str, bytes], ...]:
        """Return the headers that all records of a partition get; OFFSET comes behind them."""
        return (
            ("source.cluster", self._cluster),
            ("source.topic", topic.encode()),
            ("source.partition", b"%d" % partition),
        )

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record with four more headers."""
        offset = (self.OFFSET, b"%d" % record.offset)
        headers = (*record.headers, *self.fixed(record.topic, record.partition), offset)
        return [record.to(record.topic)._replace(headers=headers)]


class GuardLoop(MessageHandler):
    """`source>target`: a header with the clusters that a record has passed; one that comes back ends the mirror."""

    HEADER = "mirror.path"

    def __init__(self, aliases: str) -> None:
        self._source, arrow, self._target = aliases.partition(">")
        if not self._source or not arrow or not self._target:
            raise ConfigurationError(f"{aliases!r} is no source>target")

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record with one more cluster in its path; raise HandlerFailure for one that was at the target
        before.
        """
        passed = next((value or b"" for name, value in reversed(record.headers) if name == self.HEADER), b"")
        others = (pair for pair in record.headers if pair[0] != self.HEADER)
        headers = (*others, (self.HEADER, self.path(passed, record.topic)))
        return [record.to(record.topic)._replace(headers=headers)]

    def path(self, passed: bytes, topic: str) -> bytes:
        """Return the path of a record that has passed these clusters; raise HandlerFailure as `handle` does."""
        path = [*filter(None, passed.split(b",")), self._source.encode()]  # foreign names need not be UTF-8
        if self._target.encode() in path:
            hops = b", ".join(path).decode(errors="replace")
            raise HandlerFailure(
                f"{topic} goes in a circle: this record was at {self._target} before (its path: {hops}). "
                "Two mirrors copy the topic in both directions; stop one of them, or rename topics"
            )
        return b",".join(path)


class Steps(MessageHandler):
    """Handlers one after the other: each sees what the one before made of the record."""

    def __init__(self, steps: Sequence[MessageHandler]) -> None:
        self._first, *self._others = steps

    def handle(self, record: Record) -> Sequence[TargetRecord]:
        """Return the records of the last step."""
        targets = self._first.handle(record)
        for step in self._others:
            targets = [made for target in targets for made in _again(step, record, target)]
        return targets


def _again(step: MessageHandler, record: Record, target: TargetRecord) -> Sequence[TargetRecord]:
    """Apply a later step; an earlier step's partition and timestamp stay unless this one sets them."""
    topic, key, value, headers, partition, timestamp = target
    _, source_partition, offset, kind, source_timestamp, *_ = record
    time = source_timestamp if timestamp is None else timestamp
    made = step.handle(Record(topic, source_partition, offset, kind, time, key, value, headers))
    if partition is None:
        return made
    return [each if each.partition is not None else each._replace(partition=partition) for each in made]


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(f"{pattern!r} is no regular expression: {error}") from None


_STEPS: Mapping[str, Callable[[str], MessageHandler]] = {
    "rename.prefix": lambda value: RenameTopic(prefix=value),
    "rename.suffix": lambda value: RenameTopic(suffix=value),
    "rename.map": MapTopic,
    "filter.topic": FilterTopic,
    "filter.key": FilterKey,
    "filter.header": FilterHeader,
    "provenance": AddProvenance,
    "loop.guard": GuardLoop,
}
_KEEP_PARTITION = "keep.partition"


def step(text: str) -> MessageHandler:
    """Return the built-in handler that `name=value` asks for; raise ConfigurationError."""
    name, equals, value = text.partition("=")
    if text == _KEEP_PARTITION:
        return KeepPartition()
    if name == STEP:
        return transform_step(value)
    if name not in _STEPS or not equals:
        known = ", ".join([_KEEP_PARTITION, *(f"{each}=value" for each in _STEPS)])
        raise ConfigurationError(f"--handler.step {text}: choose from {known}")
    try:
        return _STEPS[name](value)
    except ConfigurationError as error:
        raise ConfigurationError(f"--handler.step {name}: {error}") from None
