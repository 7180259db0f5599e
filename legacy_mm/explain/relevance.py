"""Questions by which a known difference says whether it matters to a command line; `explain` asks them."""

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


Applies = Callable[[CommandLine], bool]
_KAFKA_PACKAGE = "org.apache.kafka."


def always(_: CommandLine) -> bool:
    """Return True: it is so with every mirror that runs."""
    return True


def refused(command: CommandLine) -> bool:
    """Return True if the mirror cannot start."""
    return command.refused


def several_streams(command: CommandLine) -> bool:
    """Return True if there is more than one stream."""
    return command.streams > 1


def several_consumer_files(command: CommandLine) -> bool:
    """Return True if `--consumer.config` is given again."""
    return len(command.options.get("consumer.config", ())) > 1


def option(*names: str) -> Applies:
    """Match a line with one of these options."""
    return lambda command: any(name in command.options for name in names)


def consumer(name: str, *values: str) -> Applies:
    """Match a line whose consumer files have the property; with one of these values, if any are named."""
    return lambda command: any(_has(file, name, values) for file in command.consumers)


def producer(name: str, *values: str) -> Applies:
    """Match a line whose producer file has the property; with one of these values, if any are named."""
    return lambda command: _has(command.producer, name, values)


def idempotent(command: CommandLine) -> bool:
    """Return True if the producer is idempotent, by name or by default."""
    return command.idempotent


def either_file(*names: str) -> Applies:
    """Match a line with one of these properties in one of the files."""
    return lambda command: any(name in file for file in command.files for name in names)


def begins_at_the_end(command: CommandLine) -> bool:
    """Return True if a consumer file leaves `auto.offset.reset` at latest, or sets it in the words of any release."""
    return any(file.get("auto.offset.reset", "latest").strip() in {"latest", "largest"} for file in command.consumers)


def login_of_our_own(command: CommandLine) -> bool:
    """Return True for a login that librdkafka lacks: Kerberos, which is Java's default, or a delegation token."""
    return any(
        file.get("security.protocol", "").strip().upper().startswith("SASL_")
        and (
            file.get("sasl.mechanism", "GSSAPI").strip() == "GSSAPI" or "tokenauth" in file.get("sasl.jaas.config", "")
        )
        for file in command.files
    )


def foreign_class(*names: str) -> Applies:
    """Match a line in which one of these properties names Java code that is not Kafka's own."""

    def applies(command: CommandLine) -> bool:
        values = [file.get(name, "") for file in command.files for name in names]
        classes = [word.strip() for value in values for word in value.split(",")]
        return any(word and not word.startswith(_KAFKA_PACKAGE) for word in classes)

    return applies


def family(prefix: str) -> Applies:
    """Match a line with a property of this family in one of the files."""
    return lambda command: any(name.startswith(prefix) for file in command.files for name in file)


def says(words: str) -> Applies:
    """Match a line whose start prints these words about a property."""
    return lambda command: any(words in note for note in command.notes)


def producer_default(name: str) -> Applies:
    """Match a line whose producer file could be read and does not set the property."""
    return lambda command: bool(command.producer) and name not in command.producer


def producer_other_than(name: str, value: str) -> Applies:
    """Match a line whose producer file sets another value."""
    return lambda command: command.producer.get(name, value).strip() != value


def both(one: Applies, other: Applies) -> Applies:
    """Match if both match."""
    return lambda command: one(command) and other(command)


def any_of(*several: Applies) -> Applies:
    """Match if at least one matches."""
    return lambda command: any(applies(command) for applies in several)


def by_meaning(name: str, default: int, below: int) -> Applies:
    """Match a tuning property of the producer below this number, unless the number is taken literally."""

    def applies(command: CommandLine) -> bool:
        text = command.producer.get(name, str(default)).strip()
        literally = command.literal and name in command.producer
        return bool(command.producer) and not literally and text.isdecimal() and int(text) < below

    return applies


def _has(file: Mapping[str, str], name: str, values: Sequence[str]) -> bool:
    return name in file and (not values or file[name].strip().lower() in values)
