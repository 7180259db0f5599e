"""What `explain` may show: values that are secret, or look so, become `[hidden]`."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[hidden]"
_WORDS = "password|passwd|passphrase|secret|token|jaas|credential|key"
_LOOKS_SECRET = re.compile(_WORDS, re.IGNORECASE)
_PAIR = re.compile(rf"([\w.-]*(?:{_WORDS})[\w.-]*\s*[=:]).+", re.IGNORECASE | re.DOTALL)
_LOGIN_IN_ADDRESS = re.compile(r"(://[^/\s:@]*:)[^@/\s]+@")


def looks_secret(name: str) -> bool:
    """True for the name of a property that nobody knows and that may hold a secret."""
    return _LOOKS_SECRET.search(name) is not None


class Veil:
    """Hides known secrets wherever they occur, and what looks like one."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted({secret for secret in secrets if secret.strip()}, key=len, reverse=True)

    def over(self, text: str) -> str:
        """A text of the user's: one value, one word."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return _LOGIN_IN_ADDRESS.sub(rf"\1{HIDDEN}@", _PAIR.sub(rf"\1{HIDDEN}", text))

    def over_words(self, text: str) -> str:
        """Several words between blanks, such as the options of a JVM."""
        return " ".join(map(self.over, text.split(" ")))
