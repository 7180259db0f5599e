"""A command line of release 3.9 becomes `Settings`, in the old tool's order of checks (contract
1.4).

What the old tool printed before a check failed is printed here too: notes are added to the
caller's list as they come up, so they are there when an error is raised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from legacy_mm.compat import command_line, defaults, properties_file, topic_pattern
from legacy_mm.compat.client_properties import consumer, producer
from legacy_mm.compat.client_properties.rule import Note, Reading
from legacy_mm.compat.client_properties.translate import Translated, apply
from legacy_mm.compat.command_line import ParsedLine
from legacy_mm.compat.messages import ASSIGNMENT_WARNING, INCLUDE_MISSING, TOOL
from legacy_mm.config import validate
from legacy_mm.config.catalogue import EMBEDDED, OwnOptions
from legacy_mm.config.settings import (
    OffsetReset,
    Settings,
    SourceSettings,
    SparkSettings,
    TargetSettings,
)
from legacy_mm.errors import ConfigurationError, InvalidPattern, StreamFailure, UsageError

_REQUIRED = ("consumer.config", "producer.config")
_RESETS: Mapping[str, OffsetReset] = {
    "latest": "latest",
    "earliest": "earliest",
    "none": "none",
}
_LEAST_METADATA_AGE_MS = 1_000
_MOST_METADATA_AGE_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Help:
    """Usage on stderr, exit 1."""


@dataclass(frozen=True, slots=True)
class Version:
    """The old tool's version on stdout, exit 0."""


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """No streams were asked for: exit 0 at once."""


@dataclass(frozen=True, slots=True)
class Run:
    """Mirror with these settings."""

    settings: Settings
    options: OwnOptions
    notes: tuple[Note, ...]
    secrets: tuple[str, ...] = field(repr=False)
    """Values that no line may show."""
    consumer: Translated = field(repr=False)
    """How the consumer file was read; `explain` asks it where each client property comes from."""
    producer: Translated = field(repr=False)


Translation = Run | Help | Version | NothingToDo
ReadOwnOptions = Callable[[Sequence[str]], OwnOptions]


def translate(
    argv: Sequence[str], read_own_options: ReadOwnOptions, notes: list[Note] | None = None
) -> Translation:
    """The outcome of a command line; raises LegacyMMError with the old words and exit code."""
    notes = [] if notes is None else notes
    line = command_line.parse(argv)
    if not argv or line.has("help"):
        return Help()
    if line.has("version"):
        return Version()
    for name in _REQUIRED:
        if not line.has(name):
            raise UsageError(f'Missing required argument "[{name}]"')
    options = read_own_options(line.own_words)
    validate.check_spark_conf(options.spark_master, options.spark_conf)
    validate.check_timeouts(shutdown_timeout_ms=options.shutdown_timeout_ms)
    return _translate_run(line, options, notes)


def _translate_run(line: ParsedLine, options: OwnOptions, notes: list[Note]) -> Translation:
    consumer_file = properties_file.load(line.value("consumer.config") or "")
    if not line.has("include") and not line.has("whitelist"):
        raise ConfigurationError(INCLUDE_MISSING)
    if "partition.assignment.strategy" not in consumer_file:
        notes.append(Note(logging.WARNING, "", ASSIGNMENT_WARNING))
    abort = line.boolean("abort.on.send.failure")
    interval_ms = line.integer("offset.commit.interval.ms")
    streams = line.integer("num.streams")
    producer_file = properties_file.load(line.value("producer.config") or "")
    written = _read_producer(producer_file, options, streams, notes)
    _refuse_listener(line)
    pattern = line.value("include" if line.has("include") else "whitelist") or ""
    if streams <= 0:
        return NothingToDo()
    read = _read_consumer(consumer_file, streams, notes)
    _refuse_handler(line)
    topics = topic_pattern.topic_settings(
        pattern, exclude_internal=read.reading.boolean("exclude.internal.topics", True)
    )
    # Java compiles an empty pattern; the consumer refuses it, as it does a group without a name
    if not topics.pattern or not read.reading.given("group.id"):
        raise InvalidPattern(f"Invalid expression syntax: {pattern}")
    settings = Settings(
        source=_source(read),
        target=_target(written, abort=abort, synchronous=_is_synchronous(producer_file)),
        topics=topics,
        spark=SparkSettings(
            master=None if options.spark_master == EMBEDDED else options.spark_master,
            conf=options.spark_conf,
        ),
        streams=streams,
        commit_interval=_commit_interval(read.reading, interval_ms, notes),
        shutdown_timeout=options.shutdown_timeout_ms / 1000,
    )
    return Run(settings, options, tuple(notes), (*read.secrets, *written.secrets), read, written)


def _read_producer(
    properties: Mapping[str, str], options: OwnOptions, streams: int, notes: list[Note]
) -> Translated:
    notes += defaults.override_notes(defaults.PRODUCER_DEFAULTS, properties)
    known = {name: text for name, text in properties.items() if name != "producer.type"}
    literal = options.producer_tuning == "literal"
    written = apply("producer", known, streams=max(streams, 1), literal=literal)
    notes += written.reading.notes
    if streams > 1:
        notes.append(
            Note(
                logging.INFO,
                TOOL,
                "buffer.memory is divided between the producers of "
                f"{streams} streams: queue.buffering.max.kbytes="
                f"{written.properties['queue.buffering.max.kbytes']} each.",
            )
        )
    return written


def _read_consumer(properties: Mapping[str, str], streams: int, notes: list[Note]) -> Translated:
    notes += defaults.override_notes(defaults.CONSUMER_DEFAULTS, properties)
    read = apply("consumer", properties, streams=streams)
    notes += read.reading.notes
    if read.reading.given("group.id") and not read.reading.text("group.id"):
        raise ConfigurationError(
            "group.id is empty: this client cannot be a member of such a group; give it a name"
        )
    if not read.reading.given("group.id") and read.reading.boolean("enable.auto.commit", False):
        raise ConfigurationError(
            "org.apache.kafka.common.errors.InvalidConfigurationException: enable.auto.commit "
            "cannot be set to true when default group id (null) is used."
        )
    return read


def _refuse_listener(line: ParsedLine) -> None:
    if line.has("consumer.rebalance.listener"):
        raise ConfigurationError(
            f"consumer.rebalance.listener {line.value('consumer.rebalance.listener')} is not "
            "supported: Java rebalance listeners cannot be run yet"
        )


def _refuse_handler(line: ParsedLine) -> None:
    if line.has("message.handler"):
        raise StreamFailure(
            f"message.handler {line.value('message.handler')} is not supported yet: message "
            "handlers come in a later release"
        )


def _is_synchronous(producer_file: Mapping[str, str]) -> bool:
    # compared as it stands in the file: a blank behind the word makes it asynchronous
    return producer_file.get("producer.type") == "sync"


def _source(read: Translated) -> SourceSettings:
    reading = read.reading
    age_ms = reading.integer("metadata.max.age.ms", 300_000)
    age_ms = max(_LEAST_METADATA_AGE_MS, min(age_ms, _MOST_METADATA_AGE_MS))
    instance = reading.text("group.instance.id")
    return SourceSettings(
        properties=read.properties,
        group_id=reading.text("group.id"),
        offset_reset=_RESETS[reading.text("auto.offset.reset", "latest")],
        metadata_max_age=age_ms / 1000,
        api_timeout=reading.integer("default.api.timeout.ms", 60_000) / 1000,
        max_poll_interval=consumer.max_poll_interval_ms(reading) / 1000,
        group_instance_id=instance or None,
        stores=read.stores,
    )


def _target(written: Translated, *, abort: bool, synchronous: bool) -> TargetSettings:
    return TargetSettings(
        properties=written.properties,
        # in the old tool a failed send of a synchronous producer ended the thread, flag or not
        abort_on_send_failure=abort or synchronous,
        synchronous=synchronous,
        idempotence_required=(
            written.reading.boolean("enable.idempotence", False)
            and producer.idempotent(written.reading)
        ),
        stores=written.stores,
    )


def _commit_interval(reading: Reading, interval_ms: int, notes: list[Note]) -> float:
    """Seconds between two commits; negative and zero mean as often as possible."""
    if reading.boolean("enable.auto.commit", False):
        interval_ms = min(interval_ms, reading.integer("auto.commit.interval.ms", 5_000))
        notes.append(
            Note(
                logging.INFO,
                TOOL,
                f"enable.auto.commit=true: offsets of copied records are committed every "
                f"{max(interval_ms, 0)} ms, none before its record is safe.",
            )
        )
    return max(interval_ms, 0) / 1000
