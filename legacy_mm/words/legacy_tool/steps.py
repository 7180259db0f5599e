"""Steps of the legacy tool between parsing its words and running.

Each release has its own order of steps (`Grammar.steps`), so the first thing that is wrong is the one that is reported.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.base.redaction import known_secrets
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.java_clients.client_properties.apply import Hide, Translated
from legacy_mm.words.java_clients.client_properties.rule import Note, Side, config_exception
from legacy_mm.words.java_clients.properties_file import PropertiesFile
from legacy_mm.words.legacy_tool import defaults, zookeeper_files
from legacy_mm.words.legacy_tool.broken_values import blamed_on
from legacy_mm.words.legacy_tool.client_translation import ClientTranslation
from legacy_mm.words.legacy_tool.command_line import ParsedLine
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.legacy_tool.messages import HOOK, ONE_LIST_WANTED, OWN
from legacy_mm.words.legacy_tool.releases import Step
from legacy_mm.words.legacy_tool.startup import PlainRefusal
from legacy_mm.words.options.option_catalogue import OwnOptions

_NO_EFFECT = {
    "num.producers": "every stream has its own producer",
    "queue.size": "there is no queue between the clients",
    "new.producer": "it is the only producer",
}
_OFFSETS_IN_ZOOKEEPER = (
    "The group's offsets in ZooKeeper are ignored: if Kafka has none for it, auto.offset.reset decides."
)


@dataclass
class LineReading:
    """Results of the steps so far."""

    line: ParsedLine
    options: OwnOptions
    environment: Environment
    notes: list[Note]
    hide: Hide
    files: dict[str, PropertiesFile] = field(default_factory=dict)
    """Every file as it was written, by path."""
    consumer_files: dict[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """Effective properties of each consumer file, by path, in the order of the command line."""
    producer_file: Mapping[str, str] = field(default_factory=dict, repr=False)
    written: Translated | None = field(default=None, repr=False)
    """The producer's side, translated."""
    abort: bool = True
    interval_ms: int = 60_000
    streams: int = 1
    """Streams of each consumer file."""
    pattern: str = ""
    inverted: bool = False
    hook: bool = False
    """From here on, the legacy tool had a shutdown hook."""

    def last_words(self) -> tuple[str, ...]:
        """Return the hook's lines if the tool ends now; its last line only if there was a producer to close."""
        if not self.hook:
            return ()
        return HOOK if self.written is not None else HOOK[:-1]

    def client(self, side: Side, properties: Mapping[str, str], streams: int, *, literal: bool = False) -> Translated:
        """Translate a client's properties, as the release reads them."""
        return self.translation.client(side, properties, streams, literal=literal)

    @property
    def translation(self) -> ClientTranslation:
        """The translation of the clients' properties."""
        return ClientTranslation(
            self.environment,
            self.options,
            dns_lookup_default=self.line.grammar.dns_lookup_default,
            hide=self.hide,
        )

    @property
    def class_path(self) -> tuple[str, ...]:
        """Class path of the user's Java classes."""
        return self.translation.class_path

    @property
    def consumer_file(self) -> Mapping[str, str]:
        """The only one, where the release takes no more."""
        (file,) = self.consumer_files.values()
        return file

    @property
    def all_streams(self) -> int:
        """Streams of the whole process; at least one, also before the consumer file is read."""
        return max(self.streams, 1) * max(len(self.consumer_files), 1)

    @property
    def zookeeper(self) -> bool:
        """The ZooKeeper consumer is in force."""
        match self.line.grammar.consumer:
            case "zookeeper":
                return True
            case "flag":
                return not self.line.has("new.consumer")
            case "file":
                return zookeeper_files.ZOOKEEPER_CONNECT in self.consumer_file
            case "kafka":
                return False

    def note(self, level: int, text: str, logger: str) -> None:
        """Add a line to print in its place."""
        self.notes.append(Note(level, logger, text))


def run(reading: LineReading) -> None:
    """Run all steps of the release; raises the error of the first that fails."""
    for step in reading.line.grammar.steps:
        _STEPS[step](reading)


def _consumer(reading: LineReading) -> None:
    grammar = reading.line.grammar
    if grammar.consumer == "zookeeper":
        paths = distinct(reading.line.values("consumer.config"))
    else:
        paths = [reading.line.value("consumer.config") or ""]
    for path in paths:
        file = reading.files[path] = properties_file.load(path, grammar.file_errors)
        reading.consumer_files[path] = file.properties
        reading.hide(known_secrets(file.properties))
    if grammar.consumer == "zookeeper":
        _use_zookeeper_files(reading)


def distinct(paths: Iterable[str]) -> list[str]:
    """Return the first path to each file."""
    found: dict[str, str] = {}
    for path in paths:
        found.setdefault(os.path.realpath(path), path)
    return list(found.values())


def _topics(reading: LineReading) -> None:
    line, grammar = reading.line, reading.line.grammar
    if reading.zookeeper and grammar.consumer == "file":
        _refuse_mixed_consumers(reading)
    if reading.zookeeper or not grammar.refusals_logged:
        if line.has("whitelist") == line.has("blacklist"):
            raise PlainRefusal(ONE_LIST_WANTED)
    elif line.has("blacklist"):
        raise PlainRefusal("blacklist can not be used when using new consumer in mirror maker. Use whitelist instead.")
    elif not line.has("whitelist") and not line.has("include"):
        raise PlainRefusal(grammar.topics_missing)
    warned = grammar.assignment_warning and not reading.zookeeper
    if warned and "partition.assignment.strategy" not in reading.consumer_file:
        reading.note(logging.WARNING, grammar.assignment_warning, logger="")


def _refuse_mixed_consumers(reading: LineReading) -> None:
    if reading.line.has("new.consumer"):
        raise PlainRefusal(
            "The consumer configuration parameter `zookeeper.connect` is not valid when using --new.consumer"
        )
    if zookeeper_files.BOOTSTRAP_SERVERS in reading.consumer_file:
        raise PlainRefusal(
            "The configuration parameters `zookeeper.connect` (old consumer) and `bootstrap.servers` (new consumer) "
            "cannot be used together."
        )


def _numbers(reading: LineReading) -> None:
    line = reading.line
    if line.grammar.catches_errors:
        reading.abort = line.boolean("abort.on.send.failure")
        reading.interval_ms = line.integer("offset.commit.interval.ms")
        reading.streams = line.integer("num.streams")
        reading.hook = True
        return
    line.integer("num.producers")
    reading.streams = line.integer("num.streams")
    line.integer("queue.size")
    for name, reason in _NO_EFFECT.items():
        if line.has(name):
            reading.note(logging.WARNING, f"--{name} has no effect here: {reason}.", logger=OWN)


def _producer(reading: LineReading) -> None:
    grammar, streams = reading.line.grammar, reading.all_streams
    path = reading.line.value("producer.config") or ""
    file = reading.files[path] = properties_file.load(path, grammar.file_errors)
    loaded = file.properties
    reading.hide(known_secrets(loaded))
    if grammar.consumer == "zookeeper" and not reading.line.has("new.producer"):
        loaded = zookeeper_files.producer(loaded)
    reading.producer_file = loaded
    reading.notes += defaults.override_notes(grammar.producer_defaults, loaded)
    known = {name: text for name, text in loaded.items() if name != "producer.type"}
    literal = reading.options.producer_tuning == "literal"
    with blamed_on(file):
        _require_servers(reading, loaded)
        reading.written = reading.client("producer", known, streams, literal=literal).named_in(file)
    reading.notes += _notes(reading.written, file)
    if streams > 1:
        share = reading.written.producer.produce.buffer_bytes
        reading.note(
            logging.INFO,
            f"buffer.memory is divided between the producers of {streams} streams: {share} bytes each.",
            logger=OWN,
        )


def _pattern(reading: LineReading) -> None:
    reading.inverted = reading.line.has("blacklist") and not reading.line.has("whitelist")
    chosen = "include" if reading.line.has("include") else "blacklist" if reading.inverted else "whitelist"
    reading.pattern = reading.line.value(chosen) or ""


def translated_consumers(reading: LineReading) -> dict[str, Translated]:
    """Translate the consumer's side, by path, and note its messages; only a tool with streams comes so far."""
    grammar = reading.line.grammar
    if reading.zookeeper:
        if grammar.consumer != "zookeeper":
            _use_zookeeper_files(reading)
    else:
        reading.notes += defaults.override_notes(grammar.consumer_defaults, reading.consumer_file)
        (path,) = reading.consumer_files
        with blamed_on(reading.files[path]):
            _require_servers(reading, reading.consumer_file)
        if reading.inverted:
            raise ConfigurationError("java.lang.IllegalArgumentException: White list cannot be empty for new consumer")
    consumers = {}
    for path, file in reading.consumer_files.items():
        with blamed_on(reading.files[path]):
            consumers[path] = reading.client("consumer", file, reading.all_streams).named_in(reading.files[path])
        reading.notes += _notes(consumers[path], reading.files[path])
    return consumers


def _notes(read: Translated, file: PropertiesFile) -> Iterator[Note]:
    yield from read.reading.notes
    for each in read.kept:
        if place := file.place(each.property_name):
            yield Note(logging.WARNING, OWN, f"{place}: {each.reason}.")


def _use_zookeeper_files(reading: LineReading) -> None:
    servers, clusters = reading.options.source_bootstrap_servers, set()
    for path, file in reading.consumer_files.items():
        reading.notes += defaults.override_notes(reading.line.grammar.zookeeper_defaults, file)
        with blamed_on(reading.files[path]):
            named = reading.line.grammar.consumer != "zookeeper"  # since 0.9 the tool names it
            reading.consumer_files[path] = zookeeper_files.consumer(file, servers, client_named=named)
        if not file.get(zookeeper_files.BOOTSTRAP_SERVERS):
            clusters.add(file[zookeeper_files.ZOOKEEPER_CONNECT])
    if len(clusters) > 1:
        raise ConfigurationError(
            f"--source.bootstrap.servers names the brokers of one source, and {', '.join(sorted(clusters))} are "
            "several: put bootstrap.servers into each of their consumer files"
        )
    reading.note(logging.WARNING, _OFFSETS_IN_ZOOKEEPER, logger=OWN)


def _require_servers(reading: LineReading, properties: Mapping[str, str]) -> None:
    if reading.line.grammar.servers_required and zookeeper_files.BOOTSTRAP_SERVERS not in properties:
        error = config_exception('Missing required configuration "bootstrap.servers" which has no default value.')
        error.property_name = zookeeper_files.BOOTSTRAP_SERVERS
        raise error


_STEPS: Mapping[Step, Callable[[LineReading], None]] = {
    "consumer": _consumer,
    "topics": _topics,
    "numbers": _numbers,
    "producer": _producer,
    "pattern": _pattern,
}
