"""Tables, JSON documents and the progress of long commands, as every command prints them."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TextIO

WIDTH = 120
INDENT = "  "
_GAP = "  "
_MOST_WIDE = 44
_MOST_WIDE_OF_TWO = 64
"""Columns of a folded table but its last one; longer texts are folded."""
_LEAST_WIDE = 24
"""Columns of its last one, which has the longest texts."""
_BAR_WIDTH = 40
_ERASE = "\r\x1b[K"

TableRow = Sequence[str]


def print_lines(lines: Iterable[str]) -> None:
    """Print each line on standard output."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def print_json(document: object, *, indent: int = 2) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(as_json(document, indent=indent))


def as_json(document: object, *, indent: int | None = 2) -> str:
    """Return a JSON document as the text that is printed; without an indent on one line."""
    return json.dumps(document, indent=indent) + "\n"


def columns(titles: TableRow, rows: Sequence[TableRow]) -> Iterator[str]:
    """Yield the lines of a table whose columns are as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    return (_joined(row, widths) for row in (titles, *rows))


def section(title: str, rows: Sequence[TableRow]) -> list[str]:
    """Return a title and its table; nothing without rows."""
    return [title, *folded_table(rows)] if rows else []


def folded_table(rows: Sequence[TableRow]) -> Iterator[str]:
    """Yield the lines of a table; a cell that is too long continues in the line below."""
    most = _MOST_WIDE_OF_TWO if len(rows[0]) == 2 else _MOST_WIDE
    narrow = [max(1, min(most, max(len(row[column]) for row in rows))) for column in range(len(rows[0]) - 1)]
    while (last := WIDTH - len(INDENT) - sum(width + len(_GAP) for width in narrow)) < _LEAST_WIDE:
        narrow[narrow.index(max(narrow))] -= 1
    for row in rows:
        cells = [folded(text, width) for text, width in zip(row, [*narrow, last], strict=True)]
        for line in zip_longest(*cells, fillvalue=""):
            yield INDENT + _joined(line, [*narrow, 0])


def folded(text: str, width: int) -> list[str]:
    """Return the lines of a text that is too long for one."""
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _joined(cells: Iterable[str], widths: Sequence[int]) -> str:
    return _GAP.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


class ProgressBar:
    """Draws from 0 to 1, never backwards; nothing is left of it after `clear`."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._reached = 0.0

    def show(self, done: float) -> None:
        """Draw it."""
        self._reached = max(self._reached, min(done, 1.0))
        full = round(_BAR_WIDTH * self._reached)
        self._out.write(f"\r[{'#' * full}{'.' * (_BAR_WIDTH - full)}] {self._reached:4.0%}")
        self._out.flush()

    def clear(self) -> None:
        """Empty the line."""
        self._out.write(_ERASE)
        self._out.flush()
