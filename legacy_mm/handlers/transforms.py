"""Single message transforms of Kafka Connect, each a step: `transform=` and what is to be done as JSON.

`words/mirror_maker_2/transform_properties.py` reads them from a connector's properties. Only the driver knows their
expressions for names of topics; a task gets the names for which they hold, as for `rename.map`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from legacy_mm.base.errors import HandlerFailure
from legacy_mm.handlers.api import NO_TIMESTAMP, Headers, MessageHandler, Record, TargetRecord
from legacy_mm.policies.java_dates import JavaDate

STEP = "transform"
NAMES, TOPICS = "names", "topics"
"""Settings in a task: the routes of a RegexRouter, the topics for which a predicate holds."""
_NO_TIME = -1
"""The time of a record without one, as Java has it."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition for a transform."""

    name: str
    type: str
    """The class; those of Connect without their package."""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Transform:
    """One transform."""

    name: str
    type: str
    """The class; those of Connect without their package."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    predicate: Predicate | None = None
    """None: it acts on every record."""
    negate: bool = False
    """True to act where the predicate does not hold."""


def written(transform: Transform) -> str:
    """Return the step."""
    return f"{STEP}={json.dumps(asdict(transform))}"


def parsed(value: str) -> Transform:
    """Parse what stands behind `transform=`."""
    found = json.loads(value)
    predicate = found.pop("predicate")
    return Transform(**found, predicate=None if predicate is None else Predicate(**predicate))


def transform_step(value: str) -> MessageHandler:
    """Return the handler of a task for what stands behind `transform=`."""
    transform = parsed(value)
    made = _TRANSFORMS[transform.type](transform.settings)
    if transform.predicate is None:
        return made
    holds = _PREDICATES[transform.predicate.type](transform.predicate.settings)
    return Where(holds, transform.negate, made)


def _with_headers(record: Record, headers: Headers) -> TargetRecord:
    return TargetRecord(record.topic, record.key, record.value, headers, None, record.timestamp)


class Where(MessageHandler):
    """Another transform, for the records for which a predicate holds, or does not."""

    def __init__(self, holds: Callable[[Record], bool], negate: bool, transform: MessageHandler) -> None:
        self._holds, self._negate, self._transform = holds, negate, transform

    def handle(self, record: Record) -> Sequence[TargetRecord]:
        """Return what the transform makes of the record, or the record."""
        if self._holds(record) is self._negate:
            return [record.to(record.topic)]
        return self._transform.handle(record)


class InsertHeader(MessageHandler):
    """One more header, behind the others, whether or not there is one of its name."""

    def __init__(self, name: str, text: str | None) -> None:
        self._header = (name, None if text is None else text.encode())

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record with the header."""
        return [_with_headers(record, (*record.headers, self._header))]


class DropHeaders(MessageHandler):
    """Without the headers of these names."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record with the other headers, in their order."""
        kept = tuple(header for header in record.headers if header[0] not in self._names)
        return [_with_headers(record, kept)]


class Filter(MessageHandler):
    """Without this record."""

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return nothing."""
        return []


class RouteByName(MessageHandler):
    """Other topics for those of these names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record for its other topic, or for its own."""
        return [record.to(self._names.get(record.topic, record.topic))]


class RouteByTime(MessageHandler):
    """A topic for each day, or what else a pattern makes of the record's timestamp."""

    def __init__(self, topic_format: str, timestamp_format: str) -> None:
        self._format = topic_format
        self._date = JavaDate(timestamp_format)

    def renamed(self, topic: str, milliseconds: int) -> str:
        """Return the name for a time; raise HandlerFailure for one that has no date."""
        try:
            date = self._date.written(milliseconds)
        except OverflowError:
            raise HandlerFailure(f"the timestamp {milliseconds} is beyond the year 9999") from None
        return self._format.replace("${topic}", topic).replace("${timestamp}", date)

    def handle(self, record: Record) -> list[TargetRecord]:
        """Return the record for the topic of its time."""
        time = _NO_TIME if record.timestamp_type == NO_TIMESTAMP else record.timestamp
        return [record.to(self.renamed(record.topic, time))]


def route_by_time(settings: Mapping[str, Any]) -> RouteByTime:
    """Return the handler of a TimestampRouter; raise ValueError for letters that are not possible."""
    return RouteByTime(settings["topic.format"], settings["timestamp.format"])


def _has_header(name: str) -> Callable[[Record], bool]:
    return lambda record: name in dict(record.headers)


def _is_in(topics: Collection[str]) -> Callable[[Record], bool]:
    known = frozenset(topics)
    return lambda record: record.topic in known


_TRANSFORMS: Mapping[str, Callable[[Mapping[str, Any]], MessageHandler]] = {
    "InsertHeader": lambda settings: InsertHeader(settings["header"], settings["value.literal"]),
    "DropHeaders": lambda settings: DropHeaders(settings["headers"]),
    "Filter": lambda settings: Filter(),
    "RegexRouter": lambda settings: RouteByName(settings[NAMES]),
    "TimestampRouter": route_by_time,
}
_PREDICATES: Mapping[str, Callable[[Mapping[str, Any]], Callable[[Record], bool]]] = {
    "TopicNameMatches": lambda settings: _is_in(settings[TOPICS]),
    "HasHeaderKey": lambda settings: _has_header(settings["name"]),
    "RecordIsTombstone": lambda settings: lambda record: record.value is None,
}
