"""The text of `legacy-mm explain`: aligned tables, at most 120 columns, no colours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from legacy_mm.cli.output import INDENT, WIDTH, TableRow, folded, section
from legacy_mm.explain.explanation import Explanation, PropertyRow, SettingRow
from legacy_mm.explain.source_inspection import TopicCopy, Topics
from legacy_mm.words.legacy_tool.stray_words import remark

_MOST_PARTITIONS = 40
_MOST_TOPICS = 40


def render(explanation: Explanation, topics: Topics) -> str:
    """Return the whole text."""
    sections = [*_what_matters(explanation, topics), *_details(explanation, topics)]
    if explanation.exit_code:  # again at the end, where a terminal shows it
        sections.append(_outcome(explanation))
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _what_matters(explanation: Explanation, topics: Topics) -> list[list[str]]:
    """Return the first part: would it run, unknowns, dangers, differences, topics, transactions, rights."""
    return [
        [
            *_outcome(explanation),
            *(line for text in _in_vain(explanation, topics) for line in folded(f"WARN {text}", WIDTH)),
            f"Exit code: {explanation.exit_code}",
        ],
        section("Not known", [(text,) for text in explanation.unknown]),
        section("Take care", [(text,) for text in (*explanation.warnings, topics.attention) if text]),
        section(
            "Different from the legacy tool, with this command line",
            [
                (row.id, f"{row.ours} (legacy tool: {row.legacy}); {row.reason}")
                for row in explanation.differences
                if not row.always
            ],
        ),
        *answers(topics, f" that match {explanation.pattern}" if explanation.pattern else ""),
        section(
            "Rights needed",
            [(row.cluster, row.operation, row.resource, row.reason) for row in explanation.permissions],
        ),
    ]


def _outcome(explanation: Explanation) -> list[str]:
    """Return the lines of the outcome: an error may have several, each with a sense of its own."""
    return [line for text in explanation.outcome.splitlines() for line in folded(text, WIDTH)]


def _in_vain(explanation: Explanation, topics: Topics) -> Iterator[str]:
    """Yield what keeps a line that would run from doing what it says."""
    if ignored := remark([_visible(row.word) for row in explanation.words if row.is_ignored]):
        yield ignored
    if topics.answered and not topics.copies:
        yield f"No topic of the source matches {explanation.pattern}."


def _details(explanation: Explanation, topics: Topics) -> list[list[str]]:
    """Return the second part: each word, variable and property; one line for what holds for every mirror."""
    return [
        section("Words", [(_visible(row.word), row.meaning) for row in explanation.words]),
        section("Environment", [(row.name, row.value, row.meaning) for row in explanation.environment]),
        section("Options of ours", [(row.option, row.value, row.origin) for row in explanation.options]),
        *(section for client in _clients(explanation) for section in _client(explanation, client)),
        starts(topics),
        _always(explanation),
    ]


def _visible(word: str) -> str:
    return word if word.strip() else repr(word)


def _clients(explanation: Explanation) -> Iterable[str]:
    """Yield the consumer, or one for each of its files, and the producer."""
    rows: Sequence[PropertyRow | SettingRow] = (*explanation.properties, *explanation.settings)
    return dict.fromkeys(row.client for row in rows)


def _client(explanation: Explanation, client: str) -> tuple[list[str], list[str]]:
    file = [
        (f"line {row.line}", row.name, row.value, row.meaning) for row in explanation.properties if row.client == client
    ]
    settings = [(row.name, row.value, row.origin, row.reason) for row in explanation.settings if row.client == client]
    return section(f"The {client} file", file), section(f"The {client}'s settings here", settings)


def answers(topics: Topics, which: str = "", flow: str = "") -> list[list[str]]:
    """Return what the clusters say of the topics and of the target; `flow`: the beginning of each title."""
    return [
        _copies(f"{flow}Topics at the source{which}", topics),
        _impossible(flow, topics),
        _transactions(flow, topics),
    ]


def _copies(title: str, topics: Topics) -> list[str]:
    if not topics.answered:
        return [*textwrap.wrap(f"{title}: not known, {topics.why_not}", WIDTH, subsequent_indent=INDENT)]
    if not topics.copies:
        return [f"{title}: none"]
    rows = [(row.topic, f"-> {row.target}", _partitions(row)) for row in topics.copies]
    return _first(title, rows, _MOST_TOPICS, "topics")


def _partitions(row: TopicCopy) -> str:
    own = _counted(row.partitions, "partition")
    return own if row.copy_partitions in (None, row.partitions) else f"{own}; at the target {row.copy_partitions}"


def starts(topics: Topics, flow: str = "") -> list[str]:
    """Return where copying would begin; nothing where no topic is known."""
    rows = [(f"{row.topic}-{row.partition}", _start(row.start), row.because) for row in topics.partitions]
    return _first(f"{flow}Where copying would begin", rows, _MOST_PARTITIONS, "partitions") if rows else []


def _first(title: str, rows: Sequence[TableRow], most: int, what: str) -> list[str]:
    left = len(rows) - most
    more = [f"{INDENT}... and {left} more {what}; --json has all"] if left > 0 else []
    return [*section(title, rows[:most]), *more]


def _always(explanation: Explanation) -> list[str]:
    count = sum(row.always for row in explanation.differences)
    many = f"{_counted(count, 'more difference')} from the legacy tool, which every mirror has"
    return [f"{many}: docs/reference/differences.md, or legacy-mm quirks"] if count else []


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _impossible(flow: str, topics: Topics) -> list[str]:
    title = f"{flow}Topics that the target cannot have; their records would wait, all others are copied"
    if topics.target_unknown:
        return textwrap.wrap(f"{title}: not known, {topics.target_unknown}", WIDTH, subsequent_indent=INDENT)
    return section(title, [(row.topic, row.because) for row in topics.impossible])


def _transactions(flow: str, topics: Topics) -> list[str]:
    version = topics.transaction_version
    if version is None:
        return []
    lines = [f"{flow}Exactly once at the target: transaction version {version}"]
    for risk in topics.risks:
        lines += textwrap.wrap(risk, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)
    return lines


def _start(offset: int | None) -> str:
    return "nowhere" if offset is None else f"from {offset}"
