"""The origin of each librdkafka property, and the effect of each Java property: only `explain` asks for them.

A property made of several is attributed to those that decide it: without one of them it would be different. So no row
has to say which names its function reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.client_properties.apply import NATIVE_PREFIX, OURS, RULES, Translated
from legacy_mm.words.java_clients.client_properties.rule import (
    Computed,
    Forgotten,
    Harmless,
    Mapped,
    Meaning,
    PartOf,
    PropertyReading,
    RefusedProperty,
    Renamed,
    Rule,
    Same,
    Setting,
    canonical,
)
from legacy_mm.words.legacy_tool import zookeeper_files

_NEAREST = "the nearest value this client has"
OriginKind = Literal["file", "default", "ours"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Why a librdkafka property has its value."""

    kind: OriginKind
    """Out of the file; the default of the legacy tool or of its client; or a choice of ours."""
    names: tuple[str, ...] = ()
    """The properties of the file that decided."""
    reason: str = ""


def origins(client: Translated) -> dict[str, Origin]:
    """Return the origin of every property of this client."""
    return {name: _origin(client, name, value) for name, value in client.properties.items()}


def _origin(client: Translated, name: str, value: str) -> Origin:
    side = client.reading.side
    if name in client.native:
        return Origin("file", (client.native[name],))
    decisive = _decisive(client.reading, client.rows.get(name), name, value)
    if decisive:
        return Origin("file", decisive, _reason(client.reading, name, value, decisive))
    ours = OURS[side].get(name)
    if ours is not None:
        return Origin("ours", (), ours.reason)
    return Origin("default")


def _decisive(reading: PropertyReading, row: Rule | None, name: str, value: str) -> tuple[str, ...]:
    """Return the given names that decide a property; one of the same name decides alone."""
    if row is None:
        return ()
    if reading.given(name):
        return (name,)
    if not isinstance(row.meaning, Computed):
        return (row.name,)
    decisive = tuple(given for given in reading.values if _without(reading, given, row).get(name) != value)
    return decisive or ((row.name,) if reading.given(row.name) else ())


def _without(reading: PropertyReading, name: str, row: Rule) -> Mapping[str, str]:
    values = {other: value for other, value in reading.values.items() if other != name}
    try:
        return row.meaning.emit(replace(reading, values=values, notes=[]), row.name)
    except ConfigurationError:
        return {}


def _reason(reading: PropertyReading, name: str, value: str, decisive: tuple[str, ...]) -> str:
    """Return the reason of the row that decides alone, if name or value are not the file's."""
    if len(decisive) != 1 or (decisive == (name,) and canonical(reading.values[name]) == value):
        return ""
    row = next(row for row in RULES[reading.side] if row.name == decisive[0])
    given = reading.values[row.name]
    clamped = isinstance(row.meaning, Same | Renamed) and type(given) is int and str(given) != value
    return _NEAREST if clamped else row.reason


def understood(row: Rule | None, name: str) -> str:
    """Describe the effect of a Java property in a few words."""
    if row is not None:
        said = _describe(row.meaning, name)
        return f"{said}: {row.reason}" if isinstance(row.meaning, Computed) and row.reason else said
    if name.startswith(NATIVE_PREFIX):
        return f"read as librdkafka's {name.removeprefix(NATIVE_PREFIX)}"
    today = zookeeper_files.new_name(name)
    return f"ignored since Kafka 2; today it is {today}" if today else "unknown, ignored"


def _describe(meaning: Meaning, name: str) -> str:
    match meaning:
        case Renamed(to=other) | Mapped(to=other) if other != name:
            return f"becomes {other}"
        case Same() | Renamed() | Mapped():
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
