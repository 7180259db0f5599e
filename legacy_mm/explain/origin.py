"""The value in force of each Java property, its origin, and the effect of each line: only `explain` asks for them.

A field made of several properties is attributed to those that decide it: without one of them it would be different. So
no row has to say which names its function reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import fields_of
from legacy_mm.base.redaction import HIDDEN
from legacy_mm.words.java_clients.client_properties.apply import RULES, Translated
from legacy_mm.words.java_clients.client_properties.native import NATIVE_PREFIX
from legacy_mm.words.java_clients.client_properties.rule import (
    ClientField,
    Computed,
    Forgotten,
    Harmless,
    Meaning,
    PartOf,
    RefusedProperty,
    Rule,
    SecretText,
    Setting,
)
from legacy_mm.words.legacy_tool import zookeeper_files

_NEAREST = "the nearest value this client has"
OriginKind = Literal["file", "default", "ours"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Why a property has its value."""

    kind: OriginKind
    """Out of the file; the default of the legacy tool or of its client; or a choice of ours."""
    names: tuple[str, ...] = ()
    """The properties of the file that decided."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ValueInForce:
    """A property, its value in force as Java writes it, and its origin."""

    name: str
    value: str
    origin: Origin


def values_in_force(client: Translated) -> Iterator[ValueInForce]:
    """Yield the properties of this client by name; secrets are hidden."""
    side = client.reading.side
    fields = dict(fields_of(client.consumer if side == "consumer" else client.producer))
    rows = [row for row in RULES[side] if row.applies(client.reading)]
    native = dict(client.native.texts)
    for row in sorted(rows, key=lambda row: row.name):
        shown = row.shown
        if isinstance(row.type, SecretText):
            if client.reading.given(row.name):
                yield ValueInForce(row.name, HIDDEN, Origin("file", (row.name,)))
        elif shown is not None and (value := fields.get(shown.path)) is not None:
            if given := client.native.given.get(shown.path):
                del native[given]
            yield ValueInForce(row.name, shown.unit.java(value), _origin(client, row, shown, value))
    for given, text in sorted(native.items()):
        yield ValueInForce(given, text, Origin("file", (given,)))


def _origin(client: Translated, row: Rule, shown: ClientField, value: Any) -> Origin:
    if given := client.native.given.get(shown.path):
        return Origin("file", (given,))
    decisive = _decisive(client, row, shown, value)
    if decisive:
        return Origin("file", decisive, _reason(client, decisive, shown, value))
    return Origin("ours", (), row.ours) if row.ours else Origin("default")


def _decisive(client: Translated, row: Rule, shown: ClientField, value: Any) -> tuple[str, ...]:
    """Return the given names that decide a field; one of the same name decides alone."""
    if client.reading.given(row.name):
        return (row.name,)
    setter = client.rows.get(shown.path)
    if setter is None or not isinstance(setter.meaning, Computed):
        return ()
    decisive = (name for name in client.reading.values if _without(client, name, setter).get(shown.path) != value)
    return tuple(decisive) or ((setter.name,) if client.reading.given(setter.name) else ())


def _without(client: Translated, name: str, row: Rule) -> dict[str, Any]:
    try:
        return dict(row.meaning.emit(client.reading.without(name), row.name))
    except ConfigurationError:
        return {}


def _reason(client: Translated, decisive: tuple[str, ...], shown: ClientField, value: Any) -> str:
    """Return the reason of the row that decides alone, if the value is not the file's."""
    row = next(row for row in RULES[client.reading.side] if row.name == decisive[0])
    if len(decisive) != 1 or row.shown == shown and _is_as_written(client, row, shown, value):
        return ""
    return row.reason or (_NEAREST if row.shown == shown else "")


def _is_as_written(client: Translated, row: Rule, shown: ClientField, value: Any) -> bool:
    try:
        return bool(shown.unit.ours(client.reading.values[row.name]) == value)
    except (KeyError, ValueError):
        return False


def understood(row: Rule | None, name: str) -> str:
    """Describe the effect of a Java property in a few words."""
    if row is not None:
        said = _describe(row.meaning)
        return f"{said}: {row.reason}" if isinstance(row.meaning, Computed | ClientField) and row.reason else said
    if name.startswith(NATIVE_PREFIX):
        return f"read as librdkafka's {name.removeprefix(NATIVE_PREFIX)}"
    today = zookeeper_files.new_name(name)
    return f"ignored since Kafka 2; today it is {today}" if today else "unknown, ignored"


def _describe(meaning: Meaning) -> str:
    match meaning:
        case ClientField():
            return "understood as it stands"
        case PartOf(row=row):
            return f"read together with {row}"
        case Setting(where=where):
            return f"read by the mirror itself: {where}"
        case Harmless(because=because):
            return f"has no effect: {because}"
        case Forgotten(later=True):
            return "unknown before Kafka 4, ignored"
        case Forgotten(instead=instead):
            return "unknown since Kafka 3, ignored" + (f"; today it is {instead}" if instead else "")
        case RefusedProperty(because=because, unless=()):
            return f"refused: {because}"
        case RefusedProperty(because=because, unless=unless):
            harmless = " or ".join(each or "an empty value" for each in unless)
            return f"changes nothing with {harmless}, else refused: {because}"
        case _:
            return "translated"
