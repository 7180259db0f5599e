"""The text of `legacy-mm explain`: aligned tables, at most 120 columns, no colours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from legacy_mm.cli.source_look import Topics
from legacy_mm.compat.explanation import Explanation, PropertyRow, SettingRow

_WIDTH = 120
_INDENT = "  "
_GAP = "  "
_MOST_WIDE = 44
_MOST_WIDE_OF_TWO = 64
"""Columns of a table but its last one; longer texts are folded."""
_MOST_PARTITIONS = 40

Row = Sequence[str]


def render(explanation: Explanation, topics: Topics) -> str:
    """The whole text."""
    sections = [
        [*_folded(explanation.outcome, _WIDTH), f"Exit code: {explanation.exit_code}"],
        _section("Words", [(_visible(row.word), row.meaning) for row in explanation.words]),
        _section("Environment", [(row.name, row.value, row.meaning) for row in explanation.environment]),
        _section("Options of ours", [(row.option, row.value, row.origin) for row in explanation.options]),
        *(section for client in _clients(explanation) for section in _client(explanation, client)),
        _section("Engine", [(explanation.engine,)] if explanation.engine else []),
        _folded(f"Attention: {topics.attention}", _WIDTH) if topics.attention else [],
        _topics(explanation.pattern, topics),
        _impossible(topics),
        _section(
            "Permissions needed",
            [(row.cluster, row.operation, row.resource, row.reason) for row in explanation.permissions],
        ),
        _section(
            "Different from the old tool, with this command line",
            [
                (row.id, f"{row.ours} (old tool: {row.legacy}); {row.reason}")
                for row in explanation.differences
                if not row.always
            ],
        ),
        _section(
            "Different from the old tool, always (`legacy-mm quirks` has the reasons)",
            [(row.id, f"old tool: {row.legacy}; ours: {row.ours}") for row in explanation.differences if row.always],
        ),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _section(title: str, rows: Sequence[Row]) -> list[str]:
    return [title, *table(rows)] if rows else []


def _visible(word: str) -> str:
    return word if word.strip() else repr(word)


def _clients(explanation: Explanation) -> Iterable[str]:
    """The consumer, or one for each of its files, and the producer."""
    rows: Sequence[PropertyRow | SettingRow] = (*explanation.properties, *explanation.settings)
    return dict.fromkeys(row.client for row in rows)


def _client(explanation: Explanation, client: str) -> tuple[list[str], list[str]]:
    file = [
        (f"line {row.line}", row.name, row.value, row.meaning) for row in explanation.properties if row.client == client
    ]
    settings = [(row.name, row.value, row.origin, row.reason) for row in explanation.settings if row.client == client]
    return _section(f"The {client} file", file), _section(f"The {client} as librdkafka gets it", settings)


def _topics(pattern: str, topics: Topics) -> list[str]:
    title = f"Topics at the source{f' that match {pattern}' if pattern else ''}"
    if not topics.answered:
        return [*textwrap.wrap(f"{title}: not known, {topics.why_not}", _WIDTH, subsequent_indent=_INDENT)]
    if not topics.partitions:
        return [f"{title}: none"]
    shown = topics.partitions[:_MOST_PARTITIONS]
    starts = [(f"{row.topic}-{row.partition}", _start(row.start), row.because) for row in shown]
    left = len(topics.partitions) - len(shown)
    return [*_section(title, starts), *([f"{_INDENT}... and {left} more partitions; --json has all"] if left else [])]


def _impossible(topics: Topics) -> list[str]:
    title = "Topics that the target cannot have; their records would wait, all others are copied"
    if topics.target_unknown:
        return textwrap.wrap(f"{title}: not known, {topics.target_unknown}", _WIDTH, subsequent_indent=_INDENT)
    return _section(title, [(row.topic, row.because) for row in topics.impossible])


def _start(offset: int | None) -> str:
    return "nowhere" if offset is None else f"from {offset}"


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Lines of a table; a cell that is too long goes on in the line below."""
    most = _MOST_WIDE_OF_TWO if len(rows[0]) == 2 else _MOST_WIDE
    narrow = [min(most, max(len(row[column]) for row in rows)) for column in range(len(rows[0]) - 1)]
    last = _WIDTH - len(_INDENT) - sum(width + len(_GAP) for width in narrow)
    for row in rows:
        cells = [_folded(text, width) for text, width in zip(row, [*narrow, last], strict=True)]
        for line in zip_longest(*cells, fillvalue=""):
            yield _joined(line, [*narrow, 0])


def _folded(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def _joined(cells: Iterable[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return (_INDENT + _GAP.join(padded)).rstrip()
