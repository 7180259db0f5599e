"""The values of all flags as they were given, typed: what each feature reads its settings from."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from legacy_mm.base.errors import ConfigurationError, blamed
from legacy_mm.base.option import split_list
from legacy_mm.features.flag import Flag

Given = Mapping[str, Sequence[str]]
"""Today's name of a flag -> what was given for it; a repeated one has `name=value` texts."""


class FlagValues:
    """Flag -> typed value, with what was given where, and remarks about how it was read."""

    def __init__(self, rows: Sequence[Flag], sources: Sequence[Given]) -> None:
        """Read the flags of these rows from `sources`, in the order of their precedence; raise ConfigurationError."""
        self._rows = {row.name: row for row in rows}
        self._sources = sources
        self._values: dict[str, Any] = {row.name: read_flag(row, self._text(row)) for row in rows}
        self.remarks: list[str] = []

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._values[name] = value

    def imply(self, name: str) -> bool:
        """Set a flag, unless it was given; return whether it is on."""
        self._values[name] = bool(self._values[name]) or not self.given(name)
        return bool(self._values[name])

    def given(self, name: str) -> bool:
        """Return True if the flag was given, whatever its value."""
        return any(name in source for source in self._sources)

    def remark(self, text: str) -> None:
        """Note a line for the start, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def seconds(self, name: str) -> float:
        """Return the interval of a feature, by the flag's name without its ending."""
        return float(self._values[f"{name}.interval.seconds"])

    def extended(self, name: str) -> tuple[str, ...]:
        """Return a list of expressions, with the default ones where `+` asks for them."""
        return extend_default(self._values[name], self._rows[name].option.default or "")

    def pairs(self, name: str) -> dict[str, str]:
        """Return the `name=value` texts of a flag that may be repeated; raise ConfigurationError for another text."""
        pairs: dict[str, str] = {}
        for source in reversed(self._sources):
            for text in source.get(name, ()):
                key, separator, value = text.partition("=")
                if not separator or not key.strip():
                    raise ConfigurationError(f"{name} takes name=value, such as {name}.security.protocol=SSL")
                pairs[key.strip()] = value
        return pairs

    def texts(self) -> dict[str, str]:
        """Return the flags as they were given, or their defaults, but those that may be repeated."""
        return {name: self._text(row) for name, row in self._rows.items() if not row.option.repeated}

    def _text(self, row: Flag) -> str:
        given = first_given(self._sources, row.name)
        return (row.option.default or "") if given is None or row.option.repeated else given[-1].strip()


def first_given(sources: Sequence[Given], name: str) -> Sequence[str] | None:
    """Return what the first source that has the flag says."""
    return next((source[name] for source in sources if name in source), None)


def read_flag(row: Flag, text: str) -> Any:
    """Return the value of a text; raise ConfigurationError."""
    option = row.option
    with blamed(row.name):
        if option.choices and text not in option.choices:
            raise ConfigurationError(f"{row.name}: {text!r} is none of {', '.join(option.choices)}")
        try:
            return option.type(text)
        except argparse.ArgumentTypeError as error:
            raise ConfigurationError(f"{row.name}: {error}") from None


def extend_default(text: str, default: str) -> tuple[str, ...]:
    """Return a list of expressions; one with a plus before some of them adds these to the default list."""
    given = split_list(text)
    if not any(each.startswith("+") for each in given):
        return given
    return (*split_list(default), *(each.removeprefix("+") for each in given))
