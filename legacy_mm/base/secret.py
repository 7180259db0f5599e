"""A value that no line may show. Rule: who needs the text says `reveal()`."""

from __future__ import annotations

from typing import NoReturn


class Secret:
    """A password, a key or a token. It prints as `[hidden]`, and is not pickled: Spark ships what is pickled."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, for a login or for the control channel."""
        return self._text

    def __repr__(self) -> str:
        return "[hidden]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled: credentials travel on the control channel only")
