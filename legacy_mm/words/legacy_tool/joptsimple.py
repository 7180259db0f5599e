"""The option library of the legacy tool: what its releases say, and how they lay out the help.

Kafka changed it five times. The differences are fields of `Joptsimple`; how words are read by them
is `command_line.parse`. All of it was seen on the real library (`compat/recorded/joptsimple.json`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from legacy_mm.base.errors import ConfigurationError

_PACKAGE = "joptsimple."
_WIDTH = 39
_INDENT = "  "


class OptionError(ConfigurationError):
    """The words cannot be read; the message is the legacy tool's exception, class name included."""


@dataclass(frozen=True, slots=True)
class LegacyOption:
    """An option of the legacy tool as one or several releases had it."""

    name: str
    description: str
    argument: str | None = None
    """Name of the value in the usage; None: a flag."""
    type: str = "String"
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Joptsimple:
    """One release of the library."""

    unknown: str
    """An unknown option in its message; `{}` is the name."""
    known: str
    """An option that it knows."""
    conversion: str
    """A value that is no integer; `{value}`, `{option}`."""
    conversion_causes: tuple[str, ...]
    blank_is_absent: bool
    """`--name=` takes the next word."""
    values_in_clusters: bool
    """In `-abc`, a later letter may be an option with a value."""
    lists_stray_words: bool
    """Stray words are an option of their own, called `[arguments]`."""
    shows_text_type: bool
    """The help says `<String: file>`, not `<file>`."""
    gap: str
    """Between the two columns of the help."""
    fixed_columns: bool
    """The columns are as wide as they may be, not as their longest line."""

    def unrecognized(self, name: str) -> OptionError:
        """Return the error for an unknown option."""
        text = f"{self.unknown.format(name)} is not a recognized option"
        return OptionError(f"{_PACKAGE}UnrecognizedOptionException: {text}")

    def illegal_cluster(self, letter: str) -> OptionError:
        """Return the error for an option with a value after other letters."""
        text = f"Option cluster containing '{letter}' is illegal"
        return OptionError(f"{_PACKAGE}IllegalOptionClusterException: {text}")

    def missing_argument(self, name: str) -> OptionError:
        """Return the error for words that end where a value should be."""
        text = f"Option {self.known.format(name)} requires an argument"
        return OptionError(f"{_PACKAGE}OptionMissingRequiredArgumentException: {text}")

    def multiple_arguments(self, name: str) -> OptionError:
        """Return the error for several values where one is wanted."""
        text = f"Found multiple arguments for option {self.known.format(name)}, but you asked for only one"
        return OptionError(f"{_PACKAGE}MultipleArgumentsForOptionException: {text}")

    def not_an_integer(self, name: str, value: str) -> OptionError:
        """Return the error for a text that Java's `Integer.valueOf` refuses."""
        text = self.conversion.format(value=value, option=self.known.format(name))
        causes = [f'\nCaused by: {cause}For input string: "{value}"' for cause in self.conversion_causes]
        return OptionError(f"{_PACKAGE}OptionArgumentConversionException: {text}{''.join(causes)}")

    def option_table(self, options: Sequence[LegacyOption]) -> str:
        """Return the two columns of the help, padding included."""
        rows = [("Option", "Description"), ("------", "-----------")]
        rows += [(self._synopsis(row), _described(row)) for row in sorted(options, key=lambda row: row.name)]
        lines: list[tuple[str, str]] = []
        for left, right in rows:
            lines += zip_longest(_wrap(left), _wrap(right), fillvalue="")
        widths = [_WIDTH if self.fixed_columns else max(len(line[side]) for line in lines) for side in (0, 1)]
        table = [f"{left:<{widths[0]}}{self.gap}{right:<{widths[1]}}" for left, right in lines]
        return "\n".join(table) + "\n"

    def _synopsis(self, row: LegacyOption) -> str:
        if row.argument is None:
            return f"--{row.name}"
        kind = f"{row.type}: " if self.shows_text_type or row.type != "String" else ""
        return f"--{row.name} <{kind}{row.argument}>"


def _described(row: LegacyOption) -> str:
    return row.description if row.default is None else f"{row.description} (default: {row.default})"


def _wrap(text: str) -> list[str]:
    """Wrap a text. A word counts with its blank; later lines are indented."""
    lines: list[str] = []
    current = ""
    for word in re.findall(r"\S+\s*", text):
        if len(current) + len(word) > _WIDTH:
            lines.append(current.rstrip())
            current = _INDENT
        current += word
    return [*lines, current]


_REFLECTION = _PACKAGE + "internal.ReflectionException: java.lang.NumberFormatException: "
_NUMBER_FORMAT = "java.lang.NumberFormatException: "

JOPTSIMPLE_3_2 = Joptsimple(
    unknown="'{}'",
    known="['{}']",
    conversion="Cannot convert argument '{value}' of option {option} to class java.lang.Integer",
    conversion_causes=(_REFLECTION,),
    blank_is_absent=True,
    values_in_clusters=False,
    lists_stray_words=False,
    shows_text_type=False,
    gap=" ",
    fixed_columns=True,
)
JOPTSIMPLE_4_9 = Joptsimple(
    unknown="{}",
    known="{}",
    conversion="Cannot parse argument '{value}' of option {option}",
    conversion_causes=(_REFLECTION, _NUMBER_FORMAT),
    blank_is_absent=True,
    values_in_clusters=True,
    lists_stray_words=True,
    shows_text_type=False,
    gap="  ",
    fixed_columns=False,
)
JOPTSIMPLE_5_0_3 = replace(JOPTSIMPLE_4_9, shows_text_type=True)
JOPTSIMPLE_5_0_4 = replace(JOPTSIMPLE_5_0_3, blank_is_absent=False)
