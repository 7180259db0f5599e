"""The words of the old command line, read as that release's option library read them.

Its habits (contract 1.2): one dash or two before a full name; `name=value` or the next word,
whatever that looks like; stray words are ignored, and so is everything after `--`; a repeated
option is an error only when its value is read, and numbers are converted only then. Up to 0.10.2
a name may be cut short. What else differs between releases is a trait of `joptsimple.Joptsimple`.
Our own options (`config.catalogue`) obey the habits of 3.9 under any release, and are handed on,
in one form, to `cli.parser`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal, NamedTuple

from legacy_mm.base.option import Option, environment_variable
from legacy_mm.features.rows import as_pair
from legacy_mm.words.legacy_tool import legacy_options, misspelt, releases, start_scripts
from legacy_mm.words.legacy_tool.environment import KAFKA_HOME
from legacy_mm.words.legacy_tool.joptsimple import LegacyOption, OptionError
from legacy_mm.words.legacy_tool.releases import CURRENT, Grammar
from legacy_mm.words.options import unbuilt
from legacy_mm.words.options.option_catalogue import option_called

_LAUNCHERS = {"kafka-mirror-maker", "kafka-mirror-maker.sh", "kafka.tools.MirrorMaker"}
# Java knows the digits of every script, one char each
_INTEGER = re.compile(r"[+-]?(?:(?![\U00010000-\U0010ffff])\d){1,4000}")
_INTEGER_RANGE = range(-(2**31), 2**31)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.ASCII | re.DOTALL)
_STRAY_WORDS = LegacyOption("[arguments]", "")
_TAKE_A_VALUE = {row.option.name for row in legacy_options.ROWS if row.option.argument is not None}


Role = Literal["option", "value", "ignored", "after --", "not an option"]


class Word(NamedTuple):
    """One word of the command line, as it was read."""

    text: str
    role: Role
    option: str = ""
    """The option that it is, or whose value it is."""


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """The words, sorted by option; values are converted when they are asked for."""

    grammar: Grammar = CURRENT
    given: dict[str, list[str]] = field(default_factory=dict)
    """Old options that were given, with their values in order; flags have none."""
    own_words: list[str] = field(default_factory=list)
    """Our own options as `--name=value`, for `cli.parser`."""

    def has(self, name: str) -> bool:
        """Return True if the option was given."""
        return name in self.given

    def values(self, name: str) -> list[str]:
        """Return all its values, in order."""
        return self.given.get(name, [])

    def value(self, name: str) -> str | None:
        """Return the one value, or the default; raises OptionError if it was given more than once."""
        values = self.values(name)
        if len(values) > 1:
            raise self.grammar.joptsimple.multiple_arguments(name)
        return values[0] if values else self.grammar.options[name].default

    def integer(self, name: str) -> int:
        """Parse the value as Java's `Integer.valueOf` does; all values are parsed before their number is checked."""
        for text in self.values(name):
            if not _INTEGER.fullmatch(text) or int(text) not in _INTEGER_RANGE:
                raise self.grammar.joptsimple.not_an_integer(name, text)
        return int(self.value(name) or 0)

    def boolean(self, name: str) -> bool:
        """Parse the value as Scala's `toBoolean` does: no trimming, any case."""
        text = self.value(name) or ""
        if text.lower() not in ("true", "false"):
            raise OptionError(f'java.lang.IllegalArgumentException: For input string: "{text}"')
        return text.lower() == "true"


def split_call(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split a line into the old command with the words before it, such as Java options, and its arguments."""
    for position, word in enumerate(words):
        if PurePath(word).name in _LAUNCHERS:
            return words[: position + 1], words[position + 1 :]
    return (), words


def variables_of(launcher: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the old command: with the `NAME=value` words before it, as after `env`, and with what
    our script sets in a Kafka.
    """
    variables = {**environment, **{found[1]: found[2] for word in launcher if (found := _ASSIGNMENT.fullmatch(word))}}
    homes = (start_scripts.home_of(word, variables.get("PATH")) for word in launcher)
    if not variables.get(KAFKA_HOME) and (home := next(filter(None, homes), "")):
        variables[KAFKA_HOME] = home
    return variables


def early_value(name: str, argv: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return an option of ours that must be known before the words are parsed, wherever it is."""
    words = iter(argv)
    for word in words:
        if word == "--":
            break
        found, separator, value = _bare(word).partition("=")
        if found == name and word.startswith("-"):
            return value if separator else next(words, None)
        takes_one = found in _TAKE_A_VALUE or option_called(found) is not None
        if takes_one and word.startswith("-") and not separator:
            next(words, None)
    return environment.get(environment_variable(name))


def grammar_asked_for(argv: Sequence[str], environment: Mapping[str, str]) -> Grammar:
    """Return the grammar that `--legacy.release` or its variable names; raises ConfigurationError."""
    release = early_value("legacy.release", argv, environment)
    return releases.grammar_of(release) if release else CURRENT


def parse(argv: Sequence[str], grammar: Grammar = CURRENT, seen: list[Word] | None = None) -> ParsedLine:
    """Sort the words by option; raises OptionError with the legacy tool's message.

    What was read is added to `seen` as it comes up, so it is there when an error is raised.
    """
    return _Reader(argv, grammar, [] if seen is None else seen).read()


class _Reader:
    """One pass over the words."""

    def __init__(self, argv: Sequence[str], grammar: Grammar, seen: list[Word]) -> None:
        self._words: Iterator[str] = iter(argv)
        self._grammar = grammar
        self._seen = seen
        self._own_given: set[str] = set()
        self._line = ParsedLine(grammar)

    def read(self) -> ParsedLine:
        """Read everything up to the end or to `--`."""
        for word in self._words:
            if word == "--":
                self._seen += [Word(word, "ignored"), *(Word(rest, "after --") for rest in self._words)]
                break
            if not word.startswith("-") or word == "-":
                self._seen.append(Word(word, "ignored"))
                continue
            name, separator, value = _bare(word).partition("=")
            inline = value if separator else None
            if (own := option_called(name)) is not None:
                self._seen.append(Word(word, "option", own.name))
                self._take_own(own, name, inline)
            elif (option := self._recognised(name)) is not None:
                self._seen.append(Word(word, "option", option.name))
                self._take(option, inline)
            elif unbuilt.is_unbuilt(name):
                self._seen.append(Word(word, "not an option", name))
                raise OptionError(unbuilt.refusal(name))
            elif word.startswith("--"):
                raise self._unrecognized(word, name)
            else:
                self._take_cluster(word, name)
        return self._line

    def _recognised(self, name: str) -> LegacyOption | None:
        """Return the option of that name, or, where names may be cut short, the only one with that beginning."""
        options = dict(self._grammar.options)
        if self._grammar.joptsimple.lists_stray_words:
            options[_STRAY_WORDS.name] = _STRAY_WORDS
        if name in options or not self._grammar.abbreviations or not name:
            return options.get(name)
        beginning = [option for full, option in options.items() if full.startswith(name)]
        return beginning[0] if len(beginning) == 1 else None

    def _take(self, option: LegacyOption, inline: str | None) -> None:
        values = self._line.given.setdefault(option.name, [])
        if option.argument is not None:
            if inline == "" and self._grammar.joptsimple.blank_is_absent:
                inline = None
            values.append(self._argument(option.name) if inline is None else inline)

    def _take_own(self, option: Option, written: str, inline: str | None) -> None:
        if option.name in self._own_given and not option.repeated:
            raise OptionError(f"Option {option.name} was given more than once")
        self._own_given.add(option.name)
        value = self._argument(option.name) if inline is None else inline
        given = as_pair(written, value) if option.repeated else value
        self._line.own_words.append(f"--{option.name}={given}")

    def _take_cluster(self, word: str, name: str) -> None:
        """Read `-abc`: options of one letter, the last of which may have its value in the same word."""
        letters = word[1:]
        options: list[LegacyOption] = []
        for place, letter in enumerate(letters):
            option = self._recognised(letter)
            if option is None:
                raise self._unrecognized(word, letter, name)
            options.append(option)
            if option.argument is not None:
                if place and not self._grammar.joptsimple.values_in_clusters:
                    raise self._grammar.joptsimple.illegal_cluster(letter)
                break
        self._seen.append(Word(word, "option", options[-1].name))
        for option in options[:-1]:
            self._take(option, None)
        self._take(options[-1], letters[len(options) :] or None)

    def _argument(self, name: str) -> str:
        following = next(self._words, None)
        if following is None:
            raise self._grammar.joptsimple.missing_argument(name)
        self._seen.append(Word(following, "value", name))
        return following

    def _unrecognized(self, word: str, name: str, written: str = "") -> OptionError:
        self._seen.append(Word(word, "not an option", written or name))
        error = self._grammar.joptsimple.unrecognized(name)
        release = releases.option_was_in(written or name, self._grammar.release)
        if release is not None:
            text, variable = releases.dotted(release[:-1]), environment_variable("legacy.release")
            error.add_note(
                f"--{written or name} was an option up to Kafka {text}: to have it, add "
                f"--legacy.release {text} or set {variable}={text}."
            )
        elif hint := misspelt.option(written or name, self._grammar.options):
            error.add_note(hint)
        return error


def _bare(word: str) -> str:
    return word.removeprefix("-").removeprefix("-")
