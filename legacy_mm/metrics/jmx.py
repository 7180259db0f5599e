"""The snapshot as MBeans: which beans, which attributes, which Java types. Pure, but for the thread that publishes.

The names of the beans are handed in (`legacy_mbeans.py`), and so is the function that reaches Java.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from legacy_mm.base.clock import monotonic
from legacy_mm.logs import events
from legacy_mm.metrics.metric_catalogue import BY_PLACE
from legacy_mm.metrics.registry import Fact, Labels, Scope, Snapshot
from legacy_mm.metrics.window import WindowReading

_LEAST_INTERVAL, _MOST_INTERVAL = 2.0, 10.0
_UNREAD_INTERVAL, _READ_LATELY = 30.0, 120.0
"""Collectors ask every 15 to 60 s: while one of them does, the beans are fresh."""
_BEANS_A_PERIOD = 1_000
"""With so many one round costs 18 ms of Python and 6 ms of Java, so more of them come less often."""
_PLAIN = re.compile(r"[\w%. \t-]*", re.ASCII)
_TAG = re.compile(r",[\w-]+=\{(\w+)\}")
_ESCAPED = re.compile(r'([\\*?"])')
JavaClass = Literal["Double", "Integer", "Long", "String", "ArrayList"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a bean."""

    name: str
    metric: str = ""
    """A metric of the bean's level in the catalogue, or a fact; empty: `constant`."""
    java_class: JavaClass = "Double"
    declared: str = "double"
    """The type that the bean's description tells; Kafka's beans say double whatever the value is."""
    constant: Fact | float = math.nan
    """The value where no metric has one, a text with the fields of `_fields`; NaN is what Kafka's beans answer without
    samples.
    """
    texts: tuple[str, str] | None = None
    """The texts shown instead of the metric's value: the first one for none, the second one for any more."""


@dataclass(frozen=True, slots=True)
class Bean:
    """A family of beans: one for each scope of a level."""

    level: str
    pattern: str
    """Object name with the fields of `_fields`."""
    attributes: tuple[Attribute, ...]


AttributeValue = tuple[str, str, str, Fact | float]
"""Attribute, declared type, class of the value, value."""
Beans = Mapping[str, list[AttributeValue]]
"""Object name -> attributes."""


def beans_of(snapshots: Iterable[Snapshot], table: Iterable[Bean]) -> Beans:
    """Return all beans of these snapshots."""
    rows, snapshot = list(table), _together(snapshots)
    return {
        object_name(bean.pattern, scope.labels): [
            (each.name, each.declared, each.java_class, _value(scope, each, readings, snapshot))
            for each in bean.attributes
        ]
        for scope, readings in snapshot.readings.items()
        for bean in rows
        if bean.level == scope.level
    }


def _together(snapshots: Iterable[Snapshot]) -> Snapshot:
    """Combine several flows: what they have under one name, such as their producer, is added up."""
    together = Snapshot("", {}, {})
    readings: dict[Scope, Mapping[str, WindowReading]] = {}
    for snapshot in snapshots:
        for scope, found in snapshot.readings.items():
            if known := readings.get(scope):
                added = {name: known[name].with_other(one) if name in known else one for name, one in found.items()}
                found = {**known, **added}
            readings[scope] = found
        together = Snapshot(snapshot.flow, readings, snapshot.facts)
    return together


def object_name(pattern: str, labels: Labels) -> str:
    """Return the pattern with these labels, quoted as Kafka's clients quote them; without those that are empty."""
    fields = {name: _quoted(text) for name, text in _fields(labels).items()}
    if "" in fields.values():
        pattern = _TAG.sub(lambda tag: tag[0] if fields[tag[1]] else "", pattern)
    return pattern.format(**fields)


def _fields(labels: Labels) -> dict[str, str]:
    """Return the labels, and what is made of one: the topic as the consumer's beans have it, a connector's tasks."""
    fields = dict(labels)
    task = fields.get("connector", "").removesuffix("Connector") + "Task"
    return {**fields, "dotless_topic": fields.get("topic", "").replace(".", "_"), "task": task}


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return '"' + _ESCAPED.sub(r"\\\1", text).replace("\n", "\\n") + '"'


def _value(
    scope: Scope, attribute: Attribute, readings: Mapping[str, WindowReading], snapshot: Snapshot
) -> Fact | float:
    if not attribute.metric:
        constant = attribute.constant
        return constant.format(**_fields(scope.labels)) if isinstance(constant, str) else constant
    if attribute.metric in snapshot.facts:
        return snapshot.facts[attribute.metric]
    value = BY_PLACE[scope.level, attribute.metric].value(readings)
    if attribute.texts is not None:
        return attribute.texts[value > 0]
    return int(value) if attribute.java_class in ("Integer", "Long") else value


def pause_after(beans: int) -> float:
    """Return the seconds until the next round; clients report every five."""
    return min(_MOST_INTERVAL, _LEAST_INTERVAL * max(1.0, beans / _BEANS_A_PERIOD))


class BeanServer(Protocol):
    """Shows the beans to clients."""

    def publish(self, beans: Beans) -> None:
        """Publish exactly these beans from now on."""

    def unread(self) -> float:
        """Return the seconds since a client last asked for a value."""


class Publisher(threading.Thread):
    """Publishes the beans, by `pause_after`, and less often while nobody reads them.

    What goes wrong is said once, and never troubles the mirror.
    """

    def __init__(self, beans: Callable[[], Beans], server: BeanServer) -> None:
        super().__init__(name="mbeans", daemon=True)
        self._beans = beans
        self._server = server
        self._stopping = threading.Event()
        self._said = False

    def run(self) -> None:
        """Publish until stopped."""
        published, next_at = 0, float("-inf")
        while not self._stopping.wait(pause_after(published)):
            try:
                if monotonic() < next_at and self._server.unread() > _READ_LATELY:
                    continue
                beans = self._beans()
                published, next_at = len(beans), monotonic() + _UNREAD_INTERVAL
                self._server.publish(beans)
            except Exception as error:  # noqa: BLE001 - whatever Java or py4j raise, the copying is not concerned
                if not self._said and not self._stopping.is_set():
                    self._said = True
                    events.emit(events.MBEANS_FAILED, reason=type(error).__name__, error=error)

    def stop(self) -> None:
        """Publish no more; returns at once."""
        self._stopping.set()
