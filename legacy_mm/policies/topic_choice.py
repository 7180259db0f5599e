"""Which topics of the source are mirrored, and which of them the features concern. Pure, but for who knows Java's
regular expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from legacy_mm.errors import ConfigurationError, InvalidPattern
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
        """`is_barred`: by its name alone, such as an internal topic. `accepted`: those that pass the lists.

        `always`: whatever pattern and lists say, unless it is barred.
        """
        self._pattern = pattern
        self._inverted = inverted
        self._is_barred = is_barred
        self._accepted = accepted
        self._always = always

    def of(self, topics: Iterable[str]) -> frozenset[str]:
        """Those to be mirrored. Raises StreamFailure when the regular expressions are not answered."""
        candidates = frozenset(name for name in topics if not self._is_barred(name))
        matching = self._pattern.matching(candidates)
        accepted = self._accepted(candidates - matching if self._inverted else matching)
        return accepted.union(filter(self._always, candidates))


class FeatureScope:
    """The source topics that features concern: all, or those that a canary's expression matches."""

    def __init__(self, canary: str, matcher: Callable[[str], Matcher]) -> None:
        """`matcher` is asked at the first look."""
        self._canary = canary
        self._expression = cache(lambda: matcher(canary))
        self._topics: frozenset[str] = frozenset()

    def of(self, names: Iterable[str]) -> frozenset[str]:
        """Those of these names that features concern, whether or not they are topics; raises ConfigurationError."""
        try:
            return self._expression().matching(names) if self._canary else frozenset(names)
        except InvalidPattern as error:
            raise ConfigurationError(f"feature.topics: {self._canary} is no Java regular expression") from error

    def look(self, topics: Iterable[str]) -> None:
        """These are mirrored now; raises ConfigurationError."""
        self._topics = self.of(topics)

    def __contains__(self, topic: str) -> bool:
        return not self._canary or topic in self._topics
