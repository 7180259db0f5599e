"""Explains how a command line, its environment and its two files are understood; contacts nothing.

Start with `explain`. Every part is a frozen row of texts without a secret, so that text and JSON are only two ways to
print an `Explanation`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from pathlib import PurePath
from typing import NamedTuple

from legacy_mm.base.errors import ConfigurationError, LegacyMMError
from legacy_mm.base.redaction import HIDDEN, Veil, is_secret_property, looks_secret
from legacy_mm.explain import client_files
from legacy_mm.explain.client_files import ClientFile
from legacy_mm.explain.differences import DIFFERENCES
from legacy_mm.explain.origin import understood, values_in_force
from legacy_mm.explain.permissions import Permission, permissions
from legacy_mm.explain.relevance import CommandLine, always
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.logs.log4j_found import Found
from legacy_mm.words.java_clients import jaas
from legacy_mm.words.java_clients.client_properties.apply import Translated
from legacy_mm.words.java_clients.client_properties.rule import Note, Side, trim
from legacy_mm.words.java_clients.properties_file import PropertyEntry
from legacy_mm.words.legacy_tool import command_line, log4j_configuration, stray_words, variables
from legacy_mm.words.legacy_tool.command_line import Role, Word
from legacy_mm.words.legacy_tool.environment import java_options, read_call
from legacy_mm.words.legacy_tool.legacy_options import ROWS
from legacy_mm.words.legacy_tool.translate import (
    Help,
    LineOutcome,
    MirrorRun,
    NothingToDo,
    ReadOwnOptions,
    Version,
    translate,
)
from legacy_mm.words.options import unbuilt
from legacy_mm.words.options.option_catalogue import ALL_OPTIONS, option_called

_OPTIONS = {row.option.name: row.option.description for row in ROWS} | {
    row.name: f"Option of ours: {row.help}" for row in ALL_OPTIONS
}
_ROLES: Mapping[Role, str] = {
    "value": "value of --{option}",
    "ignored": "ignored, as by the legacy tool",
    "after --": "ignored, as everything after --",
    "not an option": "not an option: the legacy tool ends here",
}
_OUTSIDE_THE_CLIENTS: Mapping[tuple[str, str], str] = {
    ("producer", "producer.type"): "read by the mirror itself: with sync, every record waits for its acknowledgement",
}
RUNS = "It would run."
_REFUSED = "It would be refused: "


@dataclass(frozen=True, slots=True)
class WordRow:
    """A word of the command line."""

    word: str
    meaning: str

    @property
    def is_ignored(self) -> bool:
        """True for a word that has no effect; `--` has one."""
        return self.word != "--" and self.meaning in {_ROLES[role] for role in stray_words.ROLES}


@dataclass(frozen=True, slots=True)
class VariableRow:
    """An environment variable that is set."""

    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option of ours as it is in force."""

    option: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class PropertyRow:
    """A property of one of the two files."""

    client: str
    line: int
    name: str
    value: str
    meaning: str


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A property of a Java client, with the value in force."""

    client: str
    name: str
    value: str
    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A known difference that concerns this line."""

    id: str
    legacy: str
    ours: str
    reason: str
    always: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything `explain` can say without a connection."""

    exit_code: int
    outcome: str
    words: tuple[WordRow, ...] = ()
    environment: tuple[VariableRow, ...] = ()
    options: tuple[OptionRow, ...] = ()
    properties: tuple[PropertyRow, ...] = ()
    settings: tuple[SettingRow, ...] = ()
    pattern: str = ""
    """The topics to mirror, as Java compiles it."""
    unknown: tuple[str, ...] = ()
    """Facts that could not be found out, and the reasons."""
    warnings: tuple[str, ...] = ()
    """Warnings at the start, and other surprises."""
    permissions: tuple[Permission, ...] = ()
    differences: tuple[DifferenceRow, ...] = ()


class Explained(NamedTuple):
    """The explanation, and the settings with which to ask the source as well."""

    explanation: Explanation
    flows: tuple[Settings, ...]
    """None of them: the line would not run."""
    veil: Veil

    def refused(self, error: LegacyMMError) -> Explanation:
        """Return the explanation of a line that turned out to be unable to start."""
        said = "\n".join(filter(None, [str(error), error.plain, *getattr(error, "__notes__", ())]))
        outcome = self.veil.over_known(f"{_REFUSED}{said}")
        return replace(self.explanation, exit_code=error.exit_code, outcome=outcome)


@dataclass(frozen=True, slots=True)
class OptionReader:
    """Reader of our own options: `cli.parser` has the parser, which this layer may not know."""

    typed: ReadOwnOptions
    rows: Callable[[Sequence[str]], Iterable[tuple[str, str, str]]]
    """Option, value and origin of each."""


@dataclass
class _Facts:
    """Facts that were found out, as far as the line could be read."""

    words: list[Word] = field(default_factory=list)
    given: dict[str, list[str]] = field(default_factory=dict)
    options: list[OptionRow] = field(default_factory=list)
    files: list[ClientFile] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set, repr=False)
    """Secrets of the files, and values that were looked up, also of a line that would not run."""
    result: LineOutcome | LegacyMMError = field(default_factory=NothingToDo)

    @property
    def run(self) -> MirrorRun | None:
        """The translation, where the line would run."""
        return self.result if isinstance(self.result, MirrorRun) else None

    def files_of(self, side: Side) -> list[ClientFile]:
        """Return the files of one side."""
        return [file for file in self.files if file.side == side]


def explain(words: Sequence[str], environment: Mapping[str, str], own: OptionReader) -> Explained:
    """Explain a command line in this environment without asking a cluster."""
    launcher, argv = command_line.split_call(words)
    facts = _find_out(launcher, argv, environment, own)
    veil = Veil(_secrets(facts))
    flows = facts.run.flows if facts.run else ()
    code, outcome = _ending(facts.result)
    logs = log4j_configuration.read(environment, java_options(launcher))
    explanation = Explanation(
        exit_code=code,
        outcome=outcome,
        words=tuple(_word_rows(launcher, argv, facts, veil)),
        environment=tuple(
            VariableRow(name, HIDDEN if looks_secret(name) else veil.over_words(value), meaning)
            for name, value, meaning in variables.meanings(environment)
        ),
        options=tuple(replace(row, value=veil.over_words(row.value)) for row in facts.options),
        properties=tuple(row for file in facts.files for row in _property_rows(file, veil)),
        settings=tuple(row for file in facts.files for row in _setting_rows(file, veil)),
        pattern=veil.over(flows[0].topics.pattern) if flows else "",
        warnings=tuple(map(veil.over_known, _surprises(facts, logs))),
        permissions=tuple(_permissions(flows, veil)),
        differences=tuple(_differences(facts)),
    )
    explained = Explained(explanation, flows, veil)
    if isinstance(facts.result, LegacyMMError):
        return explained._replace(explanation=explained.refused(facts.result))
    return explained


def _ending(result: LineOutcome | LegacyMMError) -> tuple[int, str]:
    match result:
        case MirrorRun():
            return 0, RUNS
        case NothingToDo():
            return 0, "It would end at once, because no stream is asked for."
        case Version(text=text):
            return 0, f"It would print the version, {text}."
        case Help(exit_code=code):
            return code, "It would print the usage."
    return 0, ""


def _find_out(
    launcher: Sequence[str], argv: Sequence[str], environment: Mapping[str, str], own: OptionReader
) -> _Facts:
    facts = _Facts()
    try:
        grammar = command_line.grammar_asked_for(argv, environment)
    except LegacyMMError as error:
        facts.result = error
        return facts
    # a failure here is a failure in `translate` too, which keeps the old order of checks
    with suppress(ConfigurationError):
        line = command_line.parse(argv, grammar, facts.words)
        facts.options += [OptionRow(*row) for row in own.rows(line.own_words)]
    facts.given = _group_words(facts.words)
    try:
        java = read_call(environment, launcher)
        facts.result = translate(argv, own.typed, facts.notes, grammar, hide=facts.hidden.update, environment=java)
    except LegacyMMError as error:
        facts.result = error
    facts.files += client_files.read(facts.given, grammar, facts.run)
    return facts


def _group_words(words: Iterable[Word]) -> dict[str, list[str]]:
    """Return option -> its values, in order."""
    given: dict[str, list[str]] = {}
    for word in words:
        _, inline, value = word.text.partition("=")
        if word.role == "option":
            given.setdefault(word.option, []).extend([value] if inline else [])
        elif word.role == "value":
            given[word.option].append(word.text)
    return given


def _secrets(facts: _Facts) -> set[str]:
    of_files = (text for file in facts.files for text in file.secrets())
    return {*facts.hidden, *(facts.run.secrets if facts.run else ()), *of_files}


def _word_rows(launcher: Sequence[str], argv: Sequence[str], facts: _Facts, veil: Veil) -> Iterator[WordRow]:
    meanings = chain(repeat("starts the tool", len(launcher)), map(_word_meaning, facts.words), repeat("never read"))
    shown = veil.over_line([*launcher, *argv])
    yield from (WordRow(word, meaning) for word, meaning in zip(shown, meanings, strict=False))


def _word_meaning(word: Word) -> str:
    if word.role == "option":
        return _OPTIONS[word.option]
    if word.role == "not an option" and unbuilt.is_unbuilt(word.option):
        return unbuilt.refusal(word.option)
    return _ROLES[word.role].format(option=word.option)


def _property_rows(file: ClientFile, veil: Veil) -> Iterator[PropertyRow]:
    lines, decided = file.lines, _decided(file.client)
    for entry in file.entries:
        row = file.row(entry.name)
        value = HIDDEN if file.is_secret(entry.name) else veil.over(entry.text)
        if lines[entry.name] != entry.line:
            meaning = f"replaced by line {lines[entry.name]}"
        elif entry.name in decided:
            meaning = _outcome(entry, decided[entry.name], veil)
        elif (file.side, entry.name) in _OUTSIDE_THE_CLIENTS:
            meaning = _OUTSIDE_THE_CLIENTS[file.side, entry.name]
        elif row is None and (option := option_called(entry.name)) is not None:
            meaning = f"{_OPTIONS[option.name]} The command line, the environment and --features.config come before it."
        elif row is None and unbuilt.is_unbuilt(entry.name):
            meaning = "ignored: " + unbuilt.refusal(entry.name)
        else:
            meaning = understood(row, entry.name)
        yield PropertyRow(file.label, entry.line, entry.name, value, meaning)


def _decided(client: Translated | None) -> dict[str, dict[str, str]]:
    """Return name in the file -> the Java properties that it decides, with their values."""
    decided: dict[str, dict[str, str]] = {}
    for found in values_in_force(client) if client is not None else ():
        for name in found.origin.names:
            decided.setdefault(name, {})[found.name] = found.value
    return decided


def _outcome(entry: PropertyEntry, settings: Mapping[str, str], veil: Veil) -> str:
    others = ", ".join(sorted(settings.keys() - {entry.name}))
    decides = f"decides {others}" if others else ""
    if entry.name not in settings:
        return decides
    value = settings[entry.name]
    as_it_stands = value in (trim(entry.text), HIDDEN)
    taken = "understood as it stands" if as_it_stands else f"taken as {veil.over(value)}"
    return f"{taken}; {decides}" if decides else taken


def _setting_rows(file: ClientFile, veil: Veil) -> Iterator[SettingRow]:
    client, lines = file.client, file.lines
    if client is None:
        return
    for found in values_in_force(client):
        origin = found.origin
        numbers = ",".join(str(lines[given]) for given in origin.names if given in lines)
        where = f"{PurePath(file.path).name}:{numbers}" if numbers else origin.kind
        if jaas.LOGIN in origin.names and jaas.LOGIN not in lines:
            where = "login file"
        shown = HIDDEN if is_secret_property(found.name) else veil.over(found.value)
        yield SettingRow(file.label, found.name, shown, where, origin.reason)
    if file.side == "consumer":
        name = f"{veil.over(client.consumer.membership.group_id)}-<stream>"
        yield SettingRow(file.label, "client.id", name, "ours", "as in the legacy tool, whatever the file says")


def _permissions(flows: Iterable[Settings], veil: Veil) -> Iterable[Permission]:
    rows = (row for settings in flows for row in permissions(settings))
    return dict.fromkeys(replace(row, resource=veil.over(row.resource)) for row in rows)


def _surprises(facts: _Facts, log: Found) -> Iterator[str]:
    """Yield the WARN lines of the start; the legacy tool's own plain lines are no surprise."""
    yield from log.problems
    yield from (note.text for note in facts.notes if note.logger and note.level >= logging.WARNING)


def _differences(facts: _Facts) -> Iterator[DifferenceRow]:
    streams = facts.given.get("num.streams", ["1"])[-1:]
    consumers = facts.files_of("consumer")
    written = next((file.client for file in facts.files_of("producer")), None)
    command = CommandLine(
        options=facts.given,
        consumers=[file.properties for file in consumers],
        producer={name: text for file in facts.files_of("producer") for name, text in file.properties.items()},
        idempotent=written is not None and written.producer.produce.idempotent,
        streams=len(consumers) * (int(streams[0]) if streams and streams[0].isdecimal() else 1),
        literal=any(row.option == "producer.tuning" and row.value == "literal" for row in facts.options),
        refused=isinstance(facts.result, LegacyMMError),
        notes=[note.text for note in facts.notes],
    )
    for row in DIFFERENCES:
        if row.applies(command) and (facts.run or row.applies is not always):
            yield DifferenceRow(row.id, row.legacy, row.ours, row.reason, row.applies is always)
