"""Relevance of a known difference: the command lines that it concerns, and the names that decide; `explain` asks them.

Names of options begin with `--`, those of properties do not. docs/reference/differences.md shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line with its files, as far as they could be read."""

    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Options that were given, old ones and ours, with their values."""
    consumers: Sequence[Mapping[str, str]] = field(default=(), repr=False)
    producer: Mapping[str, str] = field(default_factory=dict, repr=False)
    idempotent: bool = True
    """The producer is idempotent."""
    streams: int = 1
    literal: bool = False
    """`--producer.tuning literal`."""
    refused: bool = False
    """It cannot start."""
    notes: Sequence[str] = ()
    """Messages at the start, at any level."""

    @property
    def files(self) -> Sequence[Mapping[str, str]]:
        """All properties files."""
        return (*self.consumers, self.producer)


@dataclass(frozen=True, slots=True)
class Relevance:
    """A question about a command line, with the properties and options that its answer depends on."""

    concerns: tuple[str, ...]
    applies: Callable[[CommandLine], bool]
    summary: str = ""
    """Words that are shown in place of the names, where there are none or too many."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The summary, else the names, as Markdown."""
        return (self.summary,) if self.summary else tuple(f"`{name}`" for name in self.concerns)

    def __call__(self, command: CommandLine) -> bool:
        """Return True if the difference concerns this line."""
        return self.applies(command)


_KAFKA_PACKAGE = "org.apache.kafka."
_LOGIN = ("security.protocol", "sasl.mechanism", "sasl.jaas.config")
_RESET = "auto.offset.reset"

always = Relevance((), lambda _: True, "every mirror")
refused = Relevance((), lambda command: command.refused, "every mirror that cannot start")
several_streams = Relevance(("--num.streams", "--consumer.config"), lambda command: command.streams > 1)
several_consumer_files = Relevance(
    ("--consumer.config",), lambda command: len(command.options.get("consumer.config", ())) > 1
)
idempotent = Relevance(("enable.idempotence",), lambda command: command.idempotent)
"""By name or by default."""


def option(*names: str) -> Relevance:
    """Match a line with one of these options."""
    written = tuple(f"--{name}" for name in names)
    return Relevance(written, lambda command: any(name in command.options for name in names))


def consumer(name: str, *values: str) -> Relevance:
    """Match a line whose consumer files have the property; with one of these values, if any are named."""
    return Relevance((name,), lambda command: any(_has(file, name, values) for file in command.consumers))


def producer(name: str, *values: str) -> Relevance:
    """Match a line whose producer file has the property; with one of these values, if any are named."""
    return Relevance((name,), lambda command: _has(command.producer, name, values))


def either_file(*names: str, summary: str = "") -> Relevance:
    """Match a line with one of these properties in one of the files."""
    return Relevance(names, lambda command: any(name in file for file in command.files for name in names), summary)


def _begins_at_the_end(command: CommandLine) -> bool:
    return any(file.get(_RESET, "latest").strip() in {"latest", "largest"} for file in command.consumers)


begins_at_the_end = Relevance((_RESET,), _begins_at_the_end)
"""A consumer file leaves it at latest, or sets that in the words of any release."""


def _login_of_our_own(command: CommandLine) -> bool:
    protocol, mechanism, login = _LOGIN
    return any(
        file.get(protocol, "").strip().upper().startswith("SASL_")
        and (file.get(mechanism, "GSSAPI").strip() == "GSSAPI" or "tokenauth" in file.get(login, ""))
        for file in command.files
    )


login_of_our_own = Relevance(_LOGIN, _login_of_our_own)
"""A login that librdkafka lacks: Kerberos, which is Java's default, or a delegation token."""


def foreign_class(*names: str) -> Relevance:
    """Match a line in which one of these properties names Java code that is not Kafka's own."""

    def applies(command: CommandLine) -> bool:
        values = [file.get(name, "") for file in command.files for name in names]
        classes = [word.strip() for value in values for word in value.split(",")]
        return any(word and not word.startswith(_KAFKA_PACKAGE) for word in classes)

    return Relevance(names, applies)


def family(prefix: str) -> Relevance:
    """Match a line with a property of this family in one of the files."""
    return Relevance(
        (f"{prefix}*",), lambda command: any(name.startswith(prefix) for file in command.files for name in file)
    )


def says(words: str, *names: str) -> Relevance:
    """Match a line whose start prints these words about one of these properties."""
    return Relevance(names, lambda command: any(words in note for note in command.notes))


clamped = Relevance(
    (),
    says("the nearest value this client has").applies,
    "every mirror with a number out of its range",
)


def producer_default(name: str) -> Relevance:
    """Match a line whose producer file could be read and does not set the property."""
    return Relevance((name,), lambda command: bool(command.producer) and name not in command.producer)


def producer_other_than(name: str, value: str) -> Relevance:
    """Match a line whose producer file sets another value."""
    return Relevance((name,), lambda command: command.producer.get(name, value).strip() != value)


def both(one: Relevance, other: Relevance) -> Relevance:
    """Match if both match."""
    return Relevance(_names(one, other), lambda command: one(command) and other(command))


def any_of(*several: Relevance) -> Relevance:
    """Match if at least one matches."""
    return Relevance(_names(*several), lambda command: any(applies(command) for applies in several))


def by_meaning(name: str, default: int, below: int) -> Relevance:
    """Match a tuning property of the producer below this number, unless the number is taken literally."""

    def applies(command: CommandLine) -> bool:
        text = command.producer.get(name, str(default)).strip()
        literally = command.literal and name in command.producer
        return bool(command.producer) and not literally and text.isdecimal() and int(text) < below

    return Relevance((name, "--producer.tuning"), applies)


def _names(*several: Relevance) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in several for name in each.concerns))


def _has(file: Mapping[str, str], name: str, values: Sequence[str]) -> bool:
    return name in file and (not values or file[name].strip().lower() in values)


kept_by_librdkafka = any_of(
    consumer("group.protocol", "consumer"),
    consumer("partition.assignment.strategy", "org.apache.kafka.clients.consumer.cooperativestickyassignor"),
)
"""A membership that librdkafka keeps, as `flow/group_members.py` decides; its own properties have a row of theirs."""
