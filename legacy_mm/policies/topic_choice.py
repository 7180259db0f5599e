"""The mirrored topics of the source, and those the features concern. Pure, but for the matcher of Java's regular
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from legacy_mm.base.errors import ConfigurationError, InvalidPattern
from legacy_mm.policies.topic_filter import Matcher


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

    def look(self, topics: Iterable[str]) -> None:
        """Look at the topics that are mirrored now; raise ConfigurationError."""
        self._topics = self.select(topics)

    def __contains__(self, topic: str) -> bool:
        return not self._canary or topic in self._topics
