"""Shows the progress of a command in one line of a terminal that is rewritten."""

from __future__ import annotations

from typing import TextIO

_WIDTH = 40
_ERASE = "\r\x1b[K"


class ProgressBar:
    """Draws from 0 to 1, never backwards; nothing is left of it after `clear`."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._reached = 0.0

    def show(self, done: float) -> None:
        """Draw it."""
        self._reached = max(self._reached, min(done, 1.0))
        full = round(_WIDTH * self._reached)
        self._out.write(f"\r[{'#' * full}{'.' * (_WIDTH - full)}] {self._reached:4.0%}")
        self._out.flush()

    def clear(self) -> None:
        """Empty the line."""
        self._out.write(_ERASE)
        self._out.flush()
