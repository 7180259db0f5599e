"""What `explain` may show: values that are secret, or look so, become `[hidden]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[hidden]"
_WORDS = "password|passwd|passphrase|secret|token|jaas|credential|key"
_LOOKS_SECRET = re.compile(_WORDS, re.IGNORECASE)
_PAIR = re.compile(rf"([\w.-]*(?:{_WORDS})[\w.-]*\s*[=:]).+", re.IGNORECASE | re.DOTALL)
_SHORT = 6
"""A shorter secret is hidden as a word of its own only: a password `a` would hide every letter a."""
_LOGIN_IN_ADDRESS = re.compile(r"(://[^/\s:@]*:)[^@/\s]+@")


def looks_secret(name: str) -> bool:
    """True for the name of a property that nobody knows and that may hold a secret."""
    return _LOOKS_SECRET.search(name) is not None


class Veil:
    """Hides known secrets wherever they occur, and what looks like one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted({secret for secret in secrets if secret.strip()}, key=len, reverse=True)
        self._known = re.compile("|".join(map(_pattern, known))) if known else None

    def over_known(self, text: str) -> str:
        """A sentence of ours, which may quote the user."""
        return self._known.sub(HIDDEN, text) if self._known else text

    def over(self, text: str) -> str:
        """A text of the user's: one value, one word."""
        text = _PAIR.sub(rf"\1{HIDDEN}", self.over_known(text))
        return _LOGIN_IN_ADDRESS.sub(rf"\1{HIDDEN}@", text)

    def over_words(self, text: str) -> str:
        """Several words between blanks, such as the options of a JVM."""
        return " ".join(map(self.over, text.split(" ")))


def _pattern(secret: str) -> str:
    return rf"(?<!\w){re.escape(secret)}(?!\w)" if len(secret) < _SHORT else re.escape(secret)
