"""Records that a topic of the target refuses for their own sake, as its properties say: time, size, key. Pure.

Properties that a cluster does not tell limit nothing here: its brokers refuse by themselves, later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

AFTER, BEFORE = "message.timestamp.after.max.ms", "message.timestamp.before.max.ms"
_DIFFERENCE, _TYPE, _SIZE, _POLICY = (
    "message.timestamp.difference.max.ms",
    "message.timestamp.type",
    "max.message.bytes",
    "cleanup.policy",
)
_TIMES: Mapping[str, str] = {
    AFTER: "records dated more than {} ms ahead of the brokers' clock",
    BEFORE: "records older than {} ms when they are copied",
    _DIFFERENCE: "records whose time differs by more than {} ms from the brokers' clock",
}
_NO_LIMIT = (1 << 63) - 1
_SHOWN = 5
Properties = Mapping[str, str]


class RecordLimit(NamedTuple):
    """Records that a topic refuses, and the property because of which it does."""

    property_name: str
    value: str
    records: str

    def text(self, topics: str) -> str:
        """Return it as a sentence about these topics."""
        return f"{topics} at the target: {self.records} are refused ({self.property_name}={self.value})"


def by_default(broker: Properties) -> Properties:
    """Return the properties that a topic has without its own, out of those of a broker."""
    names = {name: f"log.{name}" for name in (*_TIMES, _TYPE, _POLICY)} | {_SIZE: "message.max.bytes"}
    return {name: broker[key] for name, key in names.items() if key in broker}


def limits(topic: Properties, most_bytes: int | None, *, keyless: bool = True) -> Iterator[RecordLimit]:
    """Yield what the topic refuses: of records of any time, of up to `most_bytes` (None: not known), some without a
    key.
    """
    if topic.get(_TYPE) != "LogAppendTime":
        for name, words in _TIMES.items():
            if (limit := _number(topic, name)) is not None and limit < _NO_LIMIT:
                yield RecordLimit(name, topic[name], words.format(limit))
    size = _number(topic, _SIZE)
    if size is not None and most_bytes is not None and size < most_bytes:
        yield RecordLimit(_SIZE, topic[_SIZE], f"batches of more than {size} bytes")
    if keyless and _compacts(topic):
        yield RecordLimit(_POLICY, topic[_POLICY], "records without a key")


def narrower(source: Properties, copy: Properties) -> Iterator[RecordLimit]:
    """Yield what the copy refuses although a topic of the source may hold it."""
    for found in limits(copy, _number(source, _SIZE), keyless=not _compacts(source)):
        if found.property_name == AFTER:
            at_source, here = _number(source, AFTER), _number(copy, AFTER)
            limited = at_source is not None and here is not None and at_source <= here
            if limited or source.get(_TYPE) == "LogAppendTime":
                continue
        yield found


def narrower_copies(pairs: Mapping[str, tuple[Properties, Properties]]) -> dict[RecordLimit, list[str]]:
    """Return what copies refuse -> their names; `pairs` is copy -> the properties of its topic at the source, and its
    own.
    """
    found: defaultdict[RecordLimit, list[str]] = defaultdict(list)
    for copy, (source, own) in sorted(pairs.items()):
        for limit in narrower(source, own):
            found[limit].append(copy)
    return dict(found)


def listed(topics: list[str]) -> str:
    """Return some of the topics by name, and how many more there are."""
    more = f" and {len(topics) - _SHOWN} more" if len(topics) > _SHOWN else ""
    return f"{', '.join(topics[:_SHOWN])}{more}"


def _number(properties: Properties, name: str) -> int | None:
    try:
        return int(properties[name])
    except (KeyError, ValueError):
        return None


def _compacts(properties: Properties) -> bool:
    return "compact" in properties.get(_POLICY, "")
