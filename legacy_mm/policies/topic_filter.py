"""MirrorMaker 2's lists of topics, `topics` and `topics.exclude`, which come beside the legacy tool's pattern.

The expressions of a list are joined and must match a whole name, as in Java; so no expression can hold a comma.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from legacy_mm.base.errors import ConfigurationError, InvalidPattern


class Matcher(Protocol):
    """A matcher of Java's regular expressions."""

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names that match as a whole."""


class TopicFilter:
    """The names a list includes and another does not exclude."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str], matcher: Callable[[str], Matcher]) -> None:
        """Create the filter; `matcher` compiles a Java expression or raises InvalidPattern; it is not called for an
        empty list.

        Raise ConfigurationError.
        """
        self._include = _compiled("topics", include, matcher)
        self._exclude = _compiled("topics.exclude", exclude, matcher)

    def accepted(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names that pass."""
        if self._include is None:
            return frozenset()
        included = self._include.matching(names)
        return included if self._exclude is None else included - self._exclude.matching(included)


def _compiled(name: str, expressions: Sequence[str], matcher: Callable[[str], Matcher]) -> Matcher | None:
    return try_out(name, expressions, matcher) if expressions else None


def try_out(name: str, expressions: Sequence[str], matcher: Callable[[str], Matcher]) -> Matcher:
    """Try the expressions of a list as one; raise ConfigurationError where Java refuses it."""
    try:
        return matcher("|".join(expressions))
    except InvalidPattern as error:
        refused = ConfigurationError(f"{name}: {', '.join(expressions)} is no list of Java regular expressions")
        refused.property_name = name
        if error.advice:
            refused.add_note(error.advice)
        raise refused from error
