"""Hides secrets in log lines: known values, in every form they may come in, and text that looks like a credential."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from urllib.parse import quote

HIDDEN = "[hidden]"
_LEAST_PART = 8
_SHORT = 6
"""Length below which a secret is hidden only as a whole word: a password `a` would otherwise hide every letter a."""
_LOOKS_SECRET = (
    (re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(-----END \1-----|\Z)", re.DOTALL), HIDDEN),
    (re.compile(r"(?<=://)[^/\s@]+(?=@)"), HIDDEN),
    (re.compile(r"(authorization\s*[=:]\s*)(?:(?:basic|bearer)\s+)?\S+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (
        re.compile(
            r"""((?:password|passwd|passphrase|secret|token)["']?\s*=\s*)("[^"]*"|'[^']*'|[^\s,;&"']+)""", re.IGNORECASE
        ),
        rf"\1{HIDDEN}",
    ),
)
"""Second protection after the known values: a library's line may quote a secret that we never knew."""


class Secrets:
    """Values that are hidden wherever they occur."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Hide these too, whole, line by line, and as JSON or a URL would write them."""
        self._known |= {form for secret in secrets if secret.strip() for form in _forms(secret)}
        if self._known:
            self._pattern = re.compile("|".join(map(_pattern, sorted(self._known, key=len, reverse=True))))

    def hidden(self, text: str) -> str:
        """Return the text with its secrets hidden."""
        if self._pattern is not None:
            text = self._pattern.sub(HIDDEN, text)
        for pattern, replacement in _LOOKS_SECRET:
            text = pattern.sub(replacement, text)
        return text


def _forms(secret: str) -> set[str]:
    parts = [part.strip() for part in secret.splitlines()] if "\n" in secret else []
    whole = {secret, secret.strip(), json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, safe="")}
    return {form for form in whole if form} | {part for part in parts if len(part) >= _LEAST_PART}


def _pattern(secret: str) -> str:
    return rf"(?<!\w){re.escape(secret)}(?!\w)" if len(secret) < _SHORT else re.escape(secret)
