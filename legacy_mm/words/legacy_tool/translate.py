"""A command line of some release of the legacy tool becomes `Settings`, in that release's order of checks
(contract 1.4, 1.6).

Lines that the legacy tool printed before a check failed are printed, too: notes are added to the
caller's list as they come up, so they are there when an error is raised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from legacy_mm.base.errors import ConfigurationError, InvalidPattern, LegacyMMError, UsageError
from legacy_mm.base.option import OptionValue
from legacy_mm.base.redaction import known_secrets
from legacy_mm.base.settings import TopicSettings
from legacy_mm.features import flags
from legacy_mm.features.feature import FeatureSettings
from legacy_mm.features.flag_values import Given
from legacy_mm.features.offset_syncs.feature import OFFSET_SYNCS
from legacy_mm.features.rows import BY_NAME, spelled_today
from legacy_mm.features.start_from import flags as start_from
from legacy_mm.features.start_from.feature import START_FROM
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.policies.topic_entries import unfit_entries
from legacy_mm.transactions import bundle_settings
from legacy_mm.words.java_clients.client_properties.apply import Hide, Translated
from legacy_mm.words.java_clients.client_properties.rule import Note, PropertyReading, Side
from legacy_mm.words.legacy_tool import (
    command_line,
    mirror_maker_2_file,
    misspelt,
    plugin_options,
    steps,
    stray_words,
    topic_pattern,
)
from legacy_mm.words.legacy_tool.broken_values import blamed_on
from legacy_mm.words.legacy_tool.client_settings import (
    admin_settings,
    commit_interval,
    source_settings,
    target_settings,
)
from legacy_mm.words.legacy_tool.command_line import Word
from legacy_mm.words.legacy_tool.environment import Environment
from legacy_mm.words.legacy_tool.messages import OWN
from legacy_mm.words.legacy_tool.releases import CURRENT, Grammar
from legacy_mm.words.legacy_tool.steps import LineReading
from legacy_mm.words.options import validate
from legacy_mm.words.options.option_catalogue import NO_ENGINES, OwnOptions

_REQUIRED = ("consumer.config", "producer.config")
_TOPICS = ("include", "whitelist", "blacklist")
_EMPTY = Environment()
_INVALID_GROUP = (
    "org.apache.kafka.common.errors.InvalidGroupIdException: To use the group management or offset commit APIs, "
    "you must provide a valid group.id in the consumer configuration."
)
_EMPTY_PATTERN = "java.lang.IllegalArgumentException: Topic pattern to subscribe to cannot be empty"


@dataclass(frozen=True, slots=True)
class Help:
    """A text and the exit code: the usage on stderr and 1, or the options on stdout and 0."""

    text: str
    exit_code: int


@dataclass(frozen=True, slots=True)
class Version:
    """The legacy tool's version on stdout, exit 0."""

    text: str


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """No streams were asked for: exit 0 at once."""


@dataclass(frozen=True, slots=True)
class MirrorRun:
    """Mirror with these settings."""

    flows: tuple[Settings, ...]
    """One for each consumer file: only 0.8 takes several."""
    options: OwnOptions
    notes: tuple[Note, ...]
    secrets: tuple[str, ...] = field(repr=False)
    """Values that no line may show."""
    consumers: tuple[Translated, ...] = field(repr=False)
    """Translations of the consumer files; `explain` asks where each client property comes from."""
    producer: Translated = field(repr=False)
    files: tuple[Mapping[str, str], ...] = field(repr=False)
    """The properties of the consumer files, and of the producer file; may hold secrets."""
    flags: tuple[Sequence[OptionValue], ...] = field(repr=False)
    """The flags of each flow that the clients' files give; may hold secrets."""


LineOutcome = MirrorRun | Help | Version | NothingToDo
ReadOwnOptions = Callable[[Sequence[str]], OwnOptions]


def translate(
    argv: Sequence[str],
    read_own_options: ReadOwnOptions,
    notes: list[Note] | None = None,
    grammar: Grammar = CURRENT,
    hide: Hide = lambda secrets: None,
    environment: Environment = _EMPTY,
) -> LineOutcome:
    """Return the outcome of a command line; raises LegacyMMError with the old words and exit code."""
    if grammar.version == "script" and "--version" in argv:
        return Version(grammar.version_text)
    if not argv and grammar.usage_without_words:
        return Help(grammar.usage(), 1)
    try:
        return _translate_line(argv, read_own_options, [] if notes is None else notes, grammar, hide, environment)
    except LegacyMMError as error:
        for named in mirror_maker_2_file.named_in(argv):
            if named not in str(error):
                error.add_note(f"{named}.")
        raise


def _translate_line(
    argv: Sequence[str],
    read_own_options: ReadOwnOptions,
    notes: list[Note],
    grammar: Grammar,
    hide: Hide,
    environment: Environment,
) -> LineOutcome:
    words: list[Word] = []
    line = command_line.parse(argv, grammar, words)
    if line.has("help"):
        return Help(grammar.usage(), 1) if grammar.help_fails else Help(grammar.option_table(), 0)
    if line.has("version"):
        return Version(grammar.version_text)
    for name in _REQUIRED:
        if not line.has(name):
            raise UsageError(f'Missing required argument "[{name}]"')
    options = read_own_options(line.own_words)
    validate.check_spark(options.spark_master, options.spark_conf)
    validate.check_timeouts(shutdown_timeout_ms=options.shutdown_timeout_ms)
    hide(environment.secrets)
    reading = LineReading(line, options, environment, notes, hide)
    reading.notes += environment.notes
    if stray := stray_words.remark(stray_words.stray(words)):
        reading.notes.append(Note(logging.WARNING, OWN, stray))
    try:
        return _translate_run(reading)
    except ConfigurationError as error:
        error.last_words = reading.last_words()
        raise


def _translate_run(reading: LineReading) -> LineOutcome:
    steps.run(reading)
    for file in reading.files.values():
        for remark in misspelt.in_file(file, reading.line.grammar):
            reading.note(logging.WARNING, f"{remark}.", OWN)
    if reading.streams <= 0:
        return NothingToDo()
    written, options = reading.written, reading.options
    assert written is not None  # the step "producer" is in every release
    consumers = steps.translated_consumers(reading)
    for path, read in consumers.items():
        with blamed_on(reading.files[path]):
            _refuse_group(read.reading, reading.line.grammar)
    target = target_settings(written, abort=reading.abort, synchronous=_is_synchronous(reading.producer_file))
    features = [flags.settings(*sources) for sources in _flags(reading)]
    for remark in dict.fromkeys(remark for each in features for remark in each.remarks):
        reading.note(logging.WARNING, f"{remark}.", OWN)
    if options.engine is not None:
        reading.note(logging.INFO, NO_ENGINES, OWN)
    if target.client.produce.acks == 0 and any(each[OFFSET_SYNCS] is not None for each in features):
        raise ConfigurationError(
            "emit.offset-syncs.enabled=true and acks=0 exclude each other, because the target does not tell where "
            "records are"
        )
    admins = [_admins(reading, each, path) for each, path in zip(features, consumers, strict=True)]
    process = options.process(reading.environment.jvm)
    flows = tuple(
        Settings(
            source=source_settings(read, f"source {path}" if len(consumers) > 1 else "source", options),
            target=target,
            topics=_topics(reading, read.reading),
            process=process,
            streams=reading.streams,
            commit_interval=commit_interval(read.reading, reading.interval_ms, reading.notes),
            fail_on_gap=options.on_gap == "fail",
            first_stream=number * reading.streams,
            handler=plugin_options.handler(reading, features[number]),
            quarantine=plugin_options.quarantine(options),
            listener=plugin_options.listener(reading),
            features=features[number],
            source_admin=admin_settings(admins[number][0]),
            target_admin=admin_settings(admins[number][1]),
        )
        for number, (path, read) in enumerate(consumers.items())
    )
    flows = tuple(map(bundle_settings.of_committed_records, flows))
    _inspect_whole(reading, flows)
    overridden = (side for sides in admins for side in sides if side is not None)
    read_secrets = (secret for read in (*consumers.values(), *overridden) for secret in read.secrets)
    secrets = (*read_secrets, *written.secrets, *reading.environment.secrets)
    translated = (*consumers.values(), written)
    given = (*(reading.consumer_files[path] for path in consumers), reading.producer_file)
    files = tuple({**file, **each.java_properties()} for file, each in zip(given, translated, strict=True))
    of_files = tuple(_flags_of_files(reading, path) for path in consumers)
    return MirrorRun(flows, options, tuple(reading.notes), secrets, tuple(consumers.values()), written, files, of_files)


def _inspect_whole(reading: LineReading, flows: Sequence[Settings]) -> None:
    """Note files of MirrorMaker 2, and entries that no topic can match.

    Raise ConfigurationError for flows that cannot keep what they promise.
    """
    for flow in flows:
        bundle_settings.check(flow)
        start_from.check(flow.features[START_FROM], flow.source)
    for path, file in reading.files.items():
        if remark := mirror_maker_2_file.about(path, file.entries()):
            reading.note(logging.WARNING, f"{remark}.", OWN)
    option = next(name for name in _TOPICS if reading.line.has(name))
    lists: dict[str, Sequence[str]] = {f"--{option}": [flows[0].topics.pattern]}
    if (topics := flows[0].features.topics) is not None:
        lists |= {"topics": topics.include, "topics.exclude": topics.exclude}
    for name, expressions in lists.items():
        for unfit in unfit_entries(name, expressions):
            reading.note(logging.WARNING, f"{unfit}.", OWN)


def _flags(reading: LineReading) -> list[list[Given]]:
    """Return the sources of flags in the order of their precedence, for each consumer file."""
    files = (reading.producer_file, *reading.consumer_files.values())
    for text in flags.without_effect(reading.options.features, *files):
        reading.note(logging.INFO, text, OWN)
    written = flags.given_in(reading.producer_file)
    return [[reading.options.features, written, flags.given_in(read)] for read in reading.consumer_files.values()]


def _flags_of_files(reading: LineReading, consumer: str) -> list[OptionValue]:
    """Return the flags that these files give, and no option of ours does; those of the producer file count more."""
    found: dict[str, OptionValue] = {}
    for path in (consumer, reading.line.value("producer.config") or ""):
        file = reading.files[path]
        for name, text in file.properties.items():
            today = spelled_today(name)
            if today is not None and today not in reading.options.features:
                key = name if BY_NAME[today].option.repeated else today
                found[key] = OptionValue(name, text.strip(), file.place(name))
    return [*found.values()]


def _admins(reading: LineReading, features: FeatureSettings, path: str) -> tuple[Translated | None, Translated | None]:
    """Return the features' clients at the source and at the target, if they have properties of their own."""
    reading.hide(known_secrets({**features.source_admin, **features.target_admin}))
    sides: tuple[tuple[Side, Mapping[str, str], Mapping[str, str]], ...] = (
        ("consumer", reading.consumer_files[path], features.source_admin),
        ("producer", reading.producer_file, features.target_admin),
    )
    source, target = (reading.client(side, {**file, **over}, 1) if over else None for side, file, over in sides)
    return source, target


def _refuse_group(reading: PropertyReading, grammar: Grammar) -> None:
    given = reading.given("group.id")
    if not reading.text("group.id") and (given or not grammar.group_demanded):
        error = ConfigurationError("group.id is empty: this client cannot be a member of such a group; give it a name")
        error.property_name = "group.id"
        raise error
    if not given and reading.boolean("enable.auto.commit", False):
        raise ConfigurationError(
            "org.apache.kafka.common.errors.InvalidConfigurationException: enable.auto.commit "
            "cannot be set to true when default group id (null) is used."
        )


def _topics(reading: LineReading, consumer: PropertyReading) -> TopicSettings:
    """Return the topics; raises InvalidPattern for what the consumer refuses when a stream subscribes."""
    grammar = reading.line.grammar
    topics = topic_pattern.topic_settings(
        reading.pattern,
        exclude_internal=consumer.boolean("exclude.internal.topics", True)
        and (reading.zookeeper or not grammar.internal_topics),
        cleaned=reading.zookeeper or grammar.pattern_cleaned,
        inverted=reading.inverted,
    )
    obstacle = "" if consumer.given("group.id") else _INVALID_GROUP
    if not topics.pattern and grammar.empty_pattern_fails:
        obstacle = obstacle or _EMPTY_PATTERN
    if obstacle:
        raise InvalidPattern(f"Invalid expression syntax: {reading.pattern}") from ConfigurationError(obstacle)
    return topics


def _is_synchronous(producer_file: Mapping[str, str]) -> bool:
    # compared without trimming: a blank after the word makes it asynchronous
    return producer_file.get("producer.type") == "sync"
