"""Hides secrets in `explain`: values that are secret, or look so, become `[hidden]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from legacy_mm.redaction import HIDDEN, Secrets

_WORDS = "password|passwd|passphrase|secret|token|jaas|credential|key"
_LOOKS_SECRET = re.compile(_WORDS, re.IGNORECASE)
_PAIR = re.compile(rf"([\w.-]*(?:{_WORDS})[\w.-]*\s*[=:]).+", re.IGNORECASE | re.DOTALL)


def looks_secret(name: str) -> bool:
    """Return True for the name of an unknown property that may hold a secret."""
    return _LOOKS_SECRET.search(name) is not None


class Veil:
    """Hides known secrets wherever they occur, and what looks like one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = Secrets(secrets)

    def over_known(self, text: str) -> str:
        """Hide secrets in a sentence of ours, which may quote the user."""
        return self._secrets.hidden(text)

    def over(self, text: str) -> str:
        """Hide secrets in a text of the user's: one value, one word."""
        return _PAIR.sub(rf"\1{HIDDEN}", self.over_known(text))

    def over_words(self, text: str) -> str:
        """Hide secrets in several words between blanks, such as the options of a JVM."""
        return " ".join(map(self.over, self.over_known(text).split(" ")))

    def over_line(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the words of a command line; the value of an option whose name looks secret is hidden."""
        for before, word in zip(("", *words), words, strict=False):
            is_value = before.startswith("-") and "=" not in before and looks_secret(before)
            yield HIDDEN if is_value else self.over(word)
