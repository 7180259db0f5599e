"""Recognize secrets, and hide them: in log lines, in `explain`, in names of properties and options of Java.

Known values come first (`Secrets`). Names and texts that look like a secret are the second protection: a library's line
may quote one that we never knew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

HIDDEN = "[hidden]"
_WORDS = "password|passwd|passphrase|secret|token"
"""The words that a name of a secret has, wherever it stands."""
_IN_NAMES = rf"{_WORDS}|credential|jaas"
"""The words that names have besides: in a sentence they stand for other things."""
_ABOUT_A_SECRET = (".url", ".class", ".scram.token.auth", ".ms", ".iterations", ".length", ".algorithm")
"""Endings of names of properties that hold none."""
_PROPERTY = re.compile(rf"{_IN_NAMES}|user\.info|\.pem|keystore\.key|oauthbearer\.config", re.IGNORECASE)
"""Names of client properties, of Java and of librdkafka. For whole names only: a path may end with .pem."""
_UNKNOWN_NAME = re.compile(rf"{_IN_NAMES}|key", re.IGNORECASE)
"""A name that nobody knows may be of any key; of a known one it is a serializer, or a key store."""
_PAIR = re.compile(rf"(?<![\w.-])([\w.-]*(?:{_IN_NAMES}|key)[\w.-]*\s*[=:]).+", re.IGNORECASE | re.DOTALL)
_LOGIN_OPTION = re.compile(rf"""(?:{_WORDS})(?!auth\b)\w*\s*=\s*(?:"([^"]+)"|'([^']+)')""", re.IGNORECASE)
_JAVA_PROPERTY = re.compile(rf"-D[^=]*(?:{_WORDS})[^=]*(?<!\.file)(?<!\.toHashes)=(.+)", re.IGNORECASE | re.DOTALL)
"""JMX's `password.file` and `password.toHashes` hold none: a line about the file has to name it."""
_LEAST_PART = 8
_SHORT = 6
"""Length below which a secret is hidden only as a whole word: a password `a` would otherwise hide every letter a."""
_IN_TEXT = (
    (re.compile(r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(-----END \1-----|\Z)", re.DOTALL), HIDDEN),
    (re.compile(r"(?<=://)[^/\s@]+(?=@)"), HIDDEN),
    (re.compile(r"(authorization\s*[=:]\s*)(?:(?:basic|bearer)\s+)?\S+", re.IGNORECASE), rf"\1{HIDDEN}"),
    (re.compile(rf"""((?:{_WORDS})["']?\s*=\s*)("[^"]*"|'[^']*'|[^\s,;&"']+)""", re.IGNORECASE), rf"\1{HIDDEN}"),
)


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
        for pattern, replacement in _IN_TEXT:
            text = pattern.sub(replacement, text)
        return text


class Veil:
    """Hides known secrets wherever they occur, and whatever looks like one, in texts of the user's."""

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


def looks_secret(name: str) -> bool:
    """Return True for the name of an unknown property that may hold a secret."""
    return _UNKNOWN_NAME.search(name) is not None


def is_secret_property(name: str) -> bool:
    """Return True for a property, of Java or of librdkafka, whose value no line may show."""
    return _PROPERTY.search(name) is not None and not name.endswith(_ABOUT_A_SECRET)


def known_secrets(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return values that no line may show, as far as the names of the properties tell, known to us or not."""
    named = [(name, text) for name, text in properties.items() if is_secret_property(name)]
    quoted = [word for name, text in named if "jaas" in name for word in _login_secrets(text)]
    return (*(text for _, text in named if text), *quoted)


def java_secret(option: str) -> str | None:
    """Return the value of a `-Dname=value` that no line may show; None if it may be shown."""
    found = _JAVA_PROPERTY.fullmatch(option)
    return found[1] if found else None


def _login_secrets(text: str) -> Iterator[str]:
    """Yield the secret options of the login modules in a JAAS text."""
    for words in _LOGIN_OPTION.findall(text):
        yield from filter(None, words)


def _forms(secret: str) -> set[str]:
    parts = [part.strip() for part in secret.splitlines()] if "\n" in secret else []
    whole = {secret, secret.strip(), json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, safe="")}
    return {form for form in whole if form} | {part for part in parts if len(part) >= _LEAST_PART}


def _pattern(secret: str) -> str:
    return rf"(?<!\w){re.escape(secret)}(?!\w)" if len(secret) < _SHORT else re.escape(secret)
