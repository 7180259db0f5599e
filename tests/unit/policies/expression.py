"""Who knows regular expressions in these tests: Python, for what means the same in Java."""

from __future__ import annotations

import re
from collections.abc import Iterable

from legacy_mm.base.errors import InvalidPattern


class Expression:
    """A compiled one; InvalidPattern for one that is wrong."""

    def __init__(self, pattern: str) -> None:
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise InvalidPattern(pattern) from error

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(filter(self._pattern.fullmatch, names))
