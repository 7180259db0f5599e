"""The mirrored topics of the source, and those the features concern; MirrorMaker 2's lists of topics.

Pure, but for the matcher of Java's regular expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
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


class TopicChoice:
    """The old pattern, then MirrorMaker 2's lists, then what names tell."""

    def __init__(
        self,
        pattern: Matcher,
        *,
        inverted: bool,
        is_barred: Callable[[str], bool],
        accepted: Callable[[Iterable[str]], frozenset[str]] = frozenset,
        always: Callable[[str], bool] = lambda name: False,
    ) -> None:
        """Create the choice; `is_barred` excludes by name alone, such as internal topics; `accepted` returns those that
        pass the lists.

        `always`: included whatever pattern and lists say, unless barred.
        """
        self._pattern = pattern
        self._inverted = inverted
        self._is_barred = is_barred
        self._accepted = accepted
        self._always = always

    def select(self, topics: Iterable[str]) -> frozenset[str]:
        """Return the topics to mirror. Raise StreamFailure when the matcher gives no answer."""
        candidates = frozenset(name for name in topics if not self._is_barred(name))
        matching = self._pattern.matching(candidates)
        accepted = self._accepted(candidates - matching if self._inverted else matching)
        return accepted.union(filter(self._always, candidates))


class FeatureScope:
    """The source topics that features concern: all, or those that a canary's expression matches."""

    def __init__(self, canary: str, matcher: Callable[[str], Matcher]) -> None:
        """Create the choice; `matcher` is called at the first look."""
        self._canary = canary
        self._expression = cache(lambda: matcher(canary))
        self._topics: frozenset[str] = frozenset()

    def select(self, names: Iterable[str]) -> frozenset[str]:
        """Return the names that features concern, whether or not they are topics; raise ConfigurationError."""
        try:
            return self._expression().matching(names) if self._canary else frozenset(names)
        except InvalidPattern as error:
            raise ConfigurationError(f"feature.topics: {self._canary} is no Java regular expression") from error

    def inspect(self, topics: Iterable[str]) -> None:
        """Look at the topics that are mirrored now; raise ConfigurationError."""
        self._topics = self.select(topics)

    def __contains__(self, topic: str) -> bool:
        return not self._canary or topic in self._topics
