"""The words of the old command line, read as the old tool's parser (joptsimple 5.0.4) read them.

Its habits, all recorded (contract 1.2): one dash or two before a full name; `name=value` or the
next word, whatever that looks like; stray words are ignored, and so is everything after `--`;
no abbreviations; a repeated option is an error only when its value is read, and numbers are
converted only then. Our own options (`config.catalogue`) obey the same habits and are handed
on, in one form, to `cli.parser`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal, NamedTuple

from legacy_mm.config import unbuilt
from legacy_mm.config.catalogue import OPTIONS as OWN_OPTIONS
from legacy_mm.errors import ConfigurationError

_INTEGER = re.compile(r"[+-]?[0-9]+")
_INTEGER_RANGE = range(-(2**31), 2**31)


class OptionError(ConfigurationError):
    """The words cannot be read; the message is the old tool's exception, class name included."""


@dataclass(frozen=True, slots=True)
class LegacyOption:
    """An option of release 3.9."""

    name: str
    description: str
    argument: str | None = None
    """What the usage calls the value; None: a flag."""
    type: str = "String"
    default: str | None = None


LEGACY_OPTIONS = (
    LegacyOption(
        "abort.on.send.failure",
        "Configure the mirror maker to exit on a failed send.",
        "Stop the entire mirror maker when a send failure occurs",
        default="true",
    ),
    LegacyOption(
        "consumer.config",
        "Embedded consumer config for consuming from the source cluster.",
        "config file",
    ),
    LegacyOption(
        "consumer.rebalance.listener",
        "The consumer rebalance listener to use for mirror maker consumer.",
        "A custom rebalance listener of type ConsumerRebalanceListener",
    ),
    LegacyOption("help", "Print usage information."),
    LegacyOption("include", "List of included topics to mirror.", "Java regex (String)"),
    LegacyOption(
        "message.handler",
        "Message handler which will process every record in-between consumer and producer.",
        "A custom message handler of type MirrorMakerMessageHandler",
    ),
    LegacyOption(
        "message.handler.args",
        "Arguments used by custom message handler for mirror maker.",
        "Arguments passed to message handler constructor.",
    ),
    LegacyOption(
        "new.consumer",
        "DEPRECATED Use new consumer in mirror maker (this is the default so this option will be "
        "removed in a future version).",
    ),
    LegacyOption(
        "num.streams",
        "Number of consumption streams.",
        "Number of threads",
        type="Integer",
        default="1",
    ),
    LegacyOption(
        "offset.commit.interval.ms",
        "Offset commit interval in ms.",
        "offset commit interval in millisecond",
        type="Integer",
        default="60000",
    ),
    LegacyOption("producer.config", "Embedded producer config.", "config file"),
    LegacyOption(
        "rebalance.listener.args",
        "Arguments used by custom rebalance listener for mirror maker consumer.",
        "Arguments passed to custom rebalance listener constructor as a string.",
    ),
    LegacyOption("version", "Display Kafka version."),
    LegacyOption(
        "whitelist",
        "DEPRECATED, use --include instead; ignored if --include specified. List of included "
        "topics to mirror.",
        "Java regex (String)",
    ),
)
_LEGACY = {row.name: row for row in LEGACY_OPTIONS}
_OWN = {row.name: row for row in OWN_OPTIONS}


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

    given: dict[str, list[str]] = field(default_factory=dict)
    """Old options that were given, with their values in order; flags have none."""
    own_words: list[str] = field(default_factory=list)
    """Our own options as `--name=value`, for `cli.parser`."""

    def has(self, name: str) -> bool:
        """True if the option was given."""
        return name in self.given

    def value(self, name: str) -> str | None:
        """The one value, or the default; raises OptionError when it was given more than once."""
        values = self.given.get(name, [])
        if len(values) > 1:
            raise OptionError(
                "joptsimple.MultipleArgumentsForOptionException: Found multiple arguments for "
                f"option {name}, but you asked for only one"
            )
        return values[0] if values else _LEGACY[name].default

    def integer(self, name: str) -> int:
        """The value as Java's `Integer.valueOf` reads it."""
        text = self.value(name) or ""
        if not _INTEGER.fullmatch(text) or int(text) not in _INTEGER_RANGE:
            raise OptionError(
                "joptsimple.OptionArgumentConversionException: Cannot parse argument "
                f"'{text}' of option {name}"
            )
        return int(text)

    def boolean(self, name: str) -> bool:
        """The value as Scala's `toBoolean` reads it: no trimming, any case."""
        text = self.value(name) or ""
        if text.lower() not in ("true", "false"):
            raise OptionError(f'java.lang.IllegalArgumentException: For input string: "{text}"')
        return text.lower() == "true"


def parse(argv: Sequence[str], seen: list[Word] | None = None) -> ParsedLine:
    """Sort the words by option; raises OptionError with the old tool's message.

    What was read is added to `seen` as it comes up, so it is there when an error is raised.
    """
    line = ParsedLine()
    seen = [] if seen is None else seen
    own_given: set[str] = set()
    words = iter(argv)
    for word in words:
        if word == "--":
            seen += [Word(word, "ignored"), *(Word(rest, "after --") for rest in words)]
            break
        if not word.startswith("-") or word == "-":
            seen.append(Word(word, "ignored"))
            continue
        name, has_value, value = word.removeprefix("-").removeprefix("-").partition("=")
        inline = value if has_value else None
        known = name in _LEGACY or name in _OWN
        seen.append(Word(word, "option" if known else "not an option", name))
        if name in _LEGACY:
            values = line.given.setdefault(name, [])
            if _LEGACY[name].argument is not None:
                values.append(_argument(name, inline, words, seen))
        elif name in _OWN:
            if name in own_given and not _OWN[name].repeated:
                raise OptionError(f"Option {name} was given more than once")
            own_given.add(name)
            line.own_words.append(f"--{name}={_argument(name, inline, words, seen)}")
        elif unbuilt.is_unbuilt(name):
            raise OptionError(unbuilt.refusal(name))
        else:
            # one dash: a cluster of one-letter options, of which the old tool has none
            unknown = name if word.startswith("--") else word[1]
            raise OptionError(
                f"joptsimple.UnrecognizedOptionException: {unknown} is not a recognized option"
            )
    return line


def _argument(name: str, inline: str | None, words: Iterator[str], seen: list[Word]) -> str:
    if inline is not None:
        return inline
    following = next(words, None)
    if following is None:
        raise OptionError(
            f"joptsimple.OptionMissingRequiredArgumentException: Option {name} requires an argument"
        )
    seen.append(Word(following, "value", name))
    return following


_WIDTH = 39
_GAP = "  "
_INDENT = "  "
ABOUT = "This tool helps to continuously copy data between two Kafka clusters."


def usage() -> str:
    """What 3.9.1 prints for `--help` and for no words at all."""
    return f"{ABOUT}\n{option_table()}"


def option_table() -> str:
    """The options in joptsimple's two columns, padding included; follows every UsageError."""
    rows = [("Option", "Description"), ("------", "-----------")]
    rows += [(_synopsis(row), _described(row)) for row in LEGACY_OPTIONS]
    lines: list[tuple[str, str]] = []
    for left, right in rows:
        lines += zip_longest(_wrap(left), _wrap(right), fillvalue="")
    left_width, right_width = (max(len(line[side]) for line in lines) for side in (0, 1))
    table = [f"{left:<{left_width}}{_GAP}{right:<{right_width}}" for left, right in lines]
    return "\n".join(table) + "\n"


def _synopsis(row: LegacyOption) -> str:
    if row.argument is None:
        return f"--{row.name}"
    return f"--{row.name} <{row.type}: {row.argument}>"


def _described(row: LegacyOption) -> str:
    return row.description if row.default is None else f"{row.description} (default: {row.default})"


def _wrap(text: str) -> list[str]:
    """Break as joptsimple does: a word counts with its blank; later lines are indented."""
    lines: list[str] = []
    current = ""
    for word in re.findall(r"\S+\s*", text):
        if len(current) + len(word) > _WIDTH:
            lines.append(current.rstrip())
            current = _INDENT
        current += word
    return [*lines, current]
