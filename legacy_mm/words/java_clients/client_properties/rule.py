"""Rules for Java client properties: types, meanings, and the row that joins a name to both.

A row says how Java reads the text (`ValueType`, with Java's error texts) and what is done with it (`Meaning`): it is a
`ClientField` of our settings, `Computed`, `PartOf` another row, a `Setting` of ours, `Harmless`, `Forgotten`,
`RefusedProperty`. No error and no note ever holds the value of a `SecretText`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal, NamedTuple, Protocol

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.kafka_clients import FieldValues
from legacy_mm.words.legacy_tool.messages import CONSUMER_CONFIG, PRODUCER_CONFIG

Side = Literal["consumer", "producer"]
Value = str | int | float | bool | tuple[str, ...]

SHORT_MAX = 2**15 - 1
INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
_JAVA_BLANKS = "".join(map(chr, range(0x21)))
_NUMBER = re.compile(r"[+-]?[0-9]{1,4000}")
_DOUBLE = re.compile(r"([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))[fFdD]?")
_LIMITS = {"SHORT": SHORT_MAX, "INT": INT_MAX, "LONG": LONG_MAX}


class Note(NamedTuple):
    """A line to print; without a logger it is a plain line on stderr."""

    level: int
    logger: str
    text: str


def config_exception(text: str) -> ConfigurationError:
    """Return the error of a Java client for a bad value."""
    return ConfigurationError(f"org.apache.kafka.common.config.ConfigException: {text}")


def construction_exception(side: Side, text: str) -> ConfigurationError:
    """Return the error of a client that has read its properties and cannot be made of them."""
    return ConfigurationError(
        f"org.apache.kafka.common.KafkaException: Failed to construct kafka {side}\nCaused by: {config_exception(text)}"
    )


def trim(text: str) -> str:
    """Trim the text as `String.trim` does: the clients trim every value."""
    return text.strip(_JAVA_BLANKS)


class ValueType(Protocol):
    """Java's way to read the text of a property."""

    @property
    def allowed(self) -> str:
        """Return the allowed texts, for people."""
        ...

    def parse(self, name: str, text: str) -> Value:
        """Parse the value; raises ConfigurationError with Java's words."""
        ...


def invalid(name: str, value: object, why: str) -> ConfigurationError:
    """Return the error of a value that is not of its type."""
    return config_exception(f"Invalid value {value} for configuration {name}: {why}")


def check_range(name: str, value: float, low: float | None, high: float | None) -> None:
    """Raise ConfigurationError, in Java's words, for a number outside."""
    if low is not None and value < low:
        raise invalid(name, value, f"Value must be at least {low}")
    if high is not None and value > high:
        raise invalid(name, value, f"Value must be no more than {high}")


@dataclass(frozen=True, slots=True)
class Number:
    """SHORT, INT or LONG, decimal only."""

    low: int | None = None
    high: int | None = None
    long: bool = False
    short: bool = False

    @property
    def allowed(self) -> str:
        """Both ends; Java's own where the property has none."""
        limit = _LIMITS[self._kind]
        low = -limit - 1 if self.low is None else self.low
        return f"a whole number from {low} to {limit if self.high is None else self.high}"

    def parse(self, name: str, text: str) -> int:
        """Parse digits with a sign, within Java's range and the property's."""
        limit = _LIMITS[self._kind]
        if not _NUMBER.fullmatch(text) or not -limit - 1 <= int(text) <= limit:
            raise invalid(name, text, f"Not a number of type {self._kind}")
        value = int(text)
        check_range(name, value, self.low, self.high)
        return value

    @property
    def _kind(self) -> str:
        return "LONG" if self.long else "SHORT" if self.short else "INT"


@dataclass(frozen=True, slots=True)
class Double:
    """DOUBLE, as `Double.parseDouble` reads it; without its hexadecimal form."""

    low: float | None = None
    high: float | None = None

    @property
    def allowed(self) -> str:
        """Both ends, where the property has them."""
        return "a number" if self.low is None else f"a number from {self.low} to {self.high}"

    def parse(self, name: str, text: str) -> float:
        """Parse a number within the property's range."""
        if not (found := _DOUBLE.fullmatch(text)):
            raise invalid(name, text, "Not a number of type DOUBLE")
        value = float(found[1])
        check_range(name, value, self.low, self.high)
        return value


@dataclass(frozen=True, slots=True)
class Boolean:
    """`true` or `false`, any case."""

    allowed = "true or false"

    def parse(self, name: str, text: str) -> bool:
        """Parse one of these two words."""
        if text.lower() not in ("true", "false"):
            raise invalid(name, text, "Expected value to be either true or false")
        return text.lower() == "true"


@dataclass(frozen=True, slots=True)
class Text:
    """STRING or CLASS, possibly one of a few words."""

    valid: tuple[str, ...] = ()
    any_case: bool = False
    non_empty: bool = False

    @property
    def allowed(self) -> str:
        """The words, where there are only a few."""
        if self.valid:
            return f"one of {', '.join(self.valid)}" + (" in any case" if self.any_case else "")
        return "a text that is not empty" if self.non_empty else "any text"

    def parse(self, name: str, text: str) -> str:
        """Parse the word as Java would keep it; words of any case in lower case."""
        if self.non_empty and not text:
            raise invalid(name, text, "String must be non-empty")
        if self.any_case and text.lower() not in (word.lower() for word in self.valid):
            words = ", ".join(self.valid)
            raise invalid(name, text, f"String must be one of (case insensitive): {words}")
        if self.valid and not self.any_case and text not in self.valid:
            raise invalid(name, text, f"String must be one of: {', '.join(self.valid)}")
        return text.lower() if self.any_case else text


@dataclass(frozen=True, slots=True)
class TextList:
    """LIST: words between commas."""

    allowed = "words between commas"

    def parse(self, name: str, text: str) -> tuple[str, ...]:
        """Parse words between commas. An empty text is an empty list, as in Java; empty words stay."""
        return tuple(trim(word) for word in text.split(",")) if text else ()


@dataclass(frozen=True, slots=True)
class SecretText:
    """PASSWORD: never shown."""

    allowed = "any text"

    def parse(self, name: str, text: str) -> str:
        """Return the text, which may be anything."""
        return text


@dataclass
class PropertyReading:
    """One properties file: typed values, and what to say about them."""

    side: Side
    values: Mapping[str, Value] = field(repr=False)
    streams: int = 1
    literal: bool = False
    """`--producer.tuning literal`."""
    ignore_interceptors: bool = False
    """`--interceptors ignore`."""
    class_path: Sequence[str] = ()
    """Class path of the user's Java classes."""
    system: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Java's system properties."""
    notes: list[Note] = field(default_factory=list)

    def given(self, name: str) -> bool:
        """Return True if the file sets the property."""
        return name in self.values

    def text(self, name: str, default: str = "") -> str:
        """Return a STRING, CLASS or PASSWORD."""
        value = self.values.get(name, default)
        assert isinstance(value, str), name
        return value

    def optional(self, name: str) -> str | None:
        """Return a STRING, CLASS or PASSWORD, or None if the file does not set it."""
        return self.text(name) if self.given(name) else None

    def integer(self, name: str, default: int) -> int:
        """Return an INT or LONG."""
        value = self.values.get(name, default)
        assert isinstance(value, int), name
        return value

    def boolean(self, name: str, default: bool) -> bool:
        """Return a BOOLEAN."""
        value = self.values.get(name, default)
        assert isinstance(value, bool), name
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """Return a LIST."""
        value = self.values.get(name, ())
        assert isinstance(value, tuple), name
        return value

    def without(self, name: str) -> PropertyReading:
        """Return the reading of a file that lacks this property."""
        values = {other: value for other, value in self.values.items() if other != name}
        return replace(self, values=values, notes=[])

    def note(self, text: str, level: int = logging.INFO) -> None:
        """Say something under the logger of the Java client's configuration."""
        logger = CONSUMER_CONFIG if self.side == "consumer" else PRODUCER_CONFIG
        self.notes.append(Note(level, logger, text))


class Meaning(Protocol):
    """The effect of a property."""

    def emit(self, reading: PropertyReading, name: str) -> FieldValues:
        """Return the fields that it sets; raises ConfigurationError."""
        ...


class Unit(NamedTuple):
    """The way from Java's value of a property to ours of its field, and back."""

    ours: Callable[[Any], Any]
    java: Callable[[Any], str]
    """Java's text, for people."""


def canonical(value: Any) -> str:
    """Return the one text that Java reads as this value."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def milliseconds(never: int | None = None) -> Unit:
    """Return the unit of times, of which this number means for ever."""
    return Unit(
        lambda number: inf if number == never else number / 1000,
        lambda seconds: str(never) if seconds == inf else str(round(seconds * 1000)),
    )


AS_IT_IS = Unit(lambda value: value, canonical)
MS = milliseconds()


@dataclass(frozen=True, slots=True)
class ClientField:
    """A field of the client's settings, by its path; numbers are kept within a range of ours.

    What begins with `further.` is librdkafka's property of a name: only a membership that it keeps reads it.
    """

    path: str
    unit: Unit = AS_IT_IS
    low: int | None = None
    high: int = INT_MAX
    """No wait of Python's is longer in milliseconds."""

    def emit(self, reading: PropertyReading, name: str) -> FieldValues:
        """Return the value in our unit."""
        return {self.path: self.unit.ours(self.nearest(reading, name, reading.values[name]))}

    def nearest(self, reading: PropertyReading, name: str, value: Value) -> Value:
        """Return the nearest value in this range, and note it if it is a different one."""
        if isinstance(value, bool) or not isinstance(value, int):
            return value
        nearest = min(value if self.low is None else max(self.low, value), self.high)
        if nearest != value:
            reading.note(is_taken_as(name, value, nearest))
        return nearest


def is_taken_as(name: str, value: object, nearest: object) -> str:
    """Return the line about a number that cannot be used as it is."""
    return f"{name}={value} is taken as {nearest}, the nearest value this client has."


@dataclass(frozen=True, slots=True)
class Computed:
    """Made out of several properties; asked even when the file is silent if `always`."""

    function: Callable[[PropertyReading], FieldValues]
    always: bool = False

    def emit(self, reading: PropertyReading, name: str) -> FieldValues:
        """Return the function's fields."""
        return self.function(reading)


class WithoutField:
    """A meaning that sets no field of a client."""

    def emit(self, reading: PropertyReading, name: str) -> FieldValues:
        """Return nothing."""
        return {}


@dataclass(frozen=True, slots=True)
class PartOf(WithoutField):
    """Read by the row of another property."""

    row: str


@dataclass(frozen=True, slots=True)
class Setting(WithoutField):
    """Not a client's affair here: becomes a field of our own settings."""

    where: str


@dataclass(frozen=True, slots=True)
class Harmless:
    """Without counterpart, and without loss; said when the value is not one of these."""

    because: str
    unless: tuple[str, ...] | None = None
    """None: any value is harmless."""

    def emit(self, reading: PropertyReading, name: str) -> FieldValues:
        """Return nothing, and note a warning if the value is not harmless."""
        if self.unless is not None and canonical(reading.values[name]) not in self.unless:
            reading.note(f"{name} has no effect here: {self.because}.", logging.WARNING)
        return {}


@dataclass(frozen=True, slots=True)
class Forgotten(WithoutField):
    """Once a name, or one of Kafka 4, unknown to 3.9: reported with the unknown names."""

    instead: str = ""
    later: bool = False
    """True for a property of Kafka 4, whose clients the legacy tool never had."""


@dataclass(frozen=True, slots=True)
class RefusedProperty:
    """Unsupported and refused: without it the mirror would behave differently."""

    because: str
    unless: tuple[str, ...] = ()
    """Values that change nothing."""

    def emit(self, reading: PropertyReading, name: str) -> FieldValues:
        """Raise, unless the value changes nothing."""
        value = canonical(reading.values[name])
        if value not in self.unless:
            raise ConfigurationError(f"{name}={value} is not supported: {self.because}")
        return {}


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: a name of Java's, its type and its meaning."""

    name: str
    type: ValueType
    meaning: Meaning
    applies: Callable[[PropertyReading], bool] = lambda reading: True
    reason: str = ""
    """Why the value is another one here; `explain` shows it."""
    field: ClientField | None = None
    """The field that shows what it decides, where its meaning is none."""
    ours: str = ""
    """Why a silent file means another value than in Java."""

    @property
    def shown(self) -> ClientField | None:
        """The field whose value `explain` shows under this name."""
        return self.meaning if isinstance(self.meaning, ClientField) else self.field


Rules = Sequence[Rule]


def uses_tls(reading: PropertyReading) -> bool:
    """Return True if the connection is encrypted."""
    return reading.text("security.protocol", "plaintext") in ("ssl", "sasl_ssl")


def uses_sasl(reading: PropertyReading) -> bool:
    """Return True if the client logs in."""
    return reading.text("security.protocol", "plaintext") in ("sasl_plaintext", "sasl_ssl")


def rules_where(applies: Callable[[PropertyReading], bool], *rows: Rule) -> Rules:
    """Return rows that count only in such files: a protocol decides, in Java as here."""
    return tuple(replace(row, applies=applies) for row in rows)
