"""Log lines about the troubles of a client: few, however often the same is met."""

from __future__ import annotations

from contextlib import suppress

from legacy_mm.base.clock import monotonic
from legacy_mm.logs import events

_SAME_LINE_INTERVAL = 30.0
_UNNAMED = "client"


class ErrorLines:
    """One WARN line per text and half minute. Never raises: an exception in a callback would lose records in hand."""

    def __init__(self, client: str) -> None:
        self._client = client or _UNNAMED
        self._said: dict[str, float] = {}

    def tell(self, text: str, kind: str = "") -> None:
        """Say it, unless something of that kind was said just now."""
        now = monotonic()
        if now - self._said.get(kind, -_SAME_LINE_INTERVAL) >= _SAME_LINE_INTERVAL:
            self._said[kind] = now
            with suppress(Exception):  # a channel or a log that is broken is found out elsewhere
                events.emit(events.CLIENT_ERROR, client=self._client, text=text)
