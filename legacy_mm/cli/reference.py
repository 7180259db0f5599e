"""Writes the pages of docs/reference that are made from rows and docstrings: `bin/reference`.

A page is text with lines of at most 100 characters. Rule: a fact stands in its row; no page is edited by hand.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from legacy_mm import client
from legacy_mm.base.option import Option
from legacy_mm.cli import explain
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.explain.differences import DIFFERENCES
from legacy_mm.explain.origin import understood
from legacy_mm.features.flag import Flag
from legacy_mm.features.rows import FLAGS
from legacy_mm.handlers import api
from legacy_mm.logs.log_lines import LOG_LINES
from legacy_mm.metrics.client_mbeans import UNCOUNTED
from legacy_mm.metrics.metric_catalogue import LABELS, METRICS, ONLY_WITH
from legacy_mm.words.java_clients.client_properties import consumer, producer
from legacy_mm.words.java_clients.client_properties.apply import SECURITY_RULES
from legacy_mm.words.mirror_maker_2 import connect_names
from legacy_mm.words.mirror_maker_2.driver_file import DriverFile, Pair
from legacy_mm.words.mirror_maker_2.flow_reading import FlowReading
from legacy_mm.words.options.option_catalogue import OPTIONS

WIDTH = 100
_MBEANS = (
    "Where MirrorMaker 2's file runs, JMX shows `kafka.connect.mirror`, `kafka.connect`, `kafka.consumer`, "
    "`kafka.producer` and `kafka.admin.client` with the names and attributes of releases 3.9 and 4.3. Values that hold "
    "signs such as `:` or `*` are quoted as there. Clients have the ids that MirrorMaker 2's clients for the same work "
    "have, also for brokers and their quotas; a `client.id` of the file's consumers and admin clients stands in front, "
    "one of the worker or of the producer instead:"
)
_ABSENT_MBEANS = (
    "Absent are the beans of clients that are not here: a worker's for its topics of offsets, status and "
    "configurations, the producers of heartbeats, checkpoints and offset syncs, and the connectors' second admin "
    "clients; and so are the counts of records of the tasks for heartbeats and checkpoints. A flow that has only "
    "heartbeats, and a standalone worker, have no member of a workers' group."
)
_HEAD = "Made by `bin/reference`: do not edit."


def main(words: Sequence[str]) -> int:
    """Write all pages into a folder, the only word; return exit code 0."""
    folder = Path(words[0])
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
    return ExitCode.DONE


def _page(title: str, introduction: str, lines: Iterator[str]) -> str:
    return "\n".join([f"# {title}", "", _HEAD, "", *_wrapped(introduction), "", *lines]).rstrip() + "\n"


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _item(text: str) -> list[str]:
    return _wrapped(text, "- ", "  ")


def _sentence(text: str) -> str:
    return text if text.endswith((".", ")")) else f"{text}."


def options() -> str:
    """Return the page of options that the legacy tool does not have."""

    def lines() -> Iterator[str]:
        flags = {row.option.name for row in FLAGS}
        for row in OPTIONS:
            if row.name not in flags:
                yield from _option(row)

    introduction = (
        "Options that the legacy tool does not have. Each is also a variable of the environment, and a line of the "
        "file that `--features.config` names. The options of the legacy tool keep their meaning; "
        "`kafka-mirror-maker.sh --help` prints them. Feature flags are in [features](features.md)."
    )
    return _page("Options", introduction, lines())


def _option(row: Option, level: int = 2) -> Iterator[str]:
    default = "none" if row.default is None else f"`{row.default}`" if row.default else "empty"
    yield f"{'#' * level} `--{row.name}`"
    yield ""
    yield from _wrapped(_sentence(row.help))
    yield ""
    yield from _item(f"Value: {row.argument}" + (f", one of {_codes(row.choices)}" if row.choices else ""))
    yield from _item(f"Default: {default.replace(',', ', ')}")
    yield f"- Variable: `{row.environment_variable}`"
    if row.repeated:
        yield "- May be repeated."
    yield ""


def _codes(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def features() -> str:
    """Return the page of feature flags: changes, needs, rights, settings."""
    ladder = sorted((row for row in FLAGS if row.is_feature), key=lambda row: row.step)
    others = [row for row in FLAGS if not row.is_feature]

    def lines() -> Iterator[str]:
        for row in ladder:
            yield from _feature(row)
        yield "## Settings of features"
        yield ""
        for row in others:
            yield from _option(row.option, level=3)

    introduction = (
        "MirrorMaker 2's features, in the order in which a running mirror can take them up. All are off. Rights come "
        "on top of those of mirroring ([secured clusters](../how-to/secure.md)). How to turn them on, and back: "
        "[features](../how-to/features.md)."
    )
    return _page("Features and rights", introduction, lines())


def _feature(row: Flag) -> Iterator[str]:
    yield f"## {row.step}. `{row.name}`"
    yield ""
    yield from _wrapped(_sentence(row.option.help))
    yield ""
    yield from _item(f"Changes: {_sentence(row.changes)}")
    for other in row.needs:
        yield from _item(f"Needs `{other.name}`: {_sentence(other.because)}")
    source, target = row.rights
    if not source and not target:
        yield "- Rights: no further ones."
    if source:
        yield from _item(f"Rights at the source: {_sentence(source)}")
    if target:
        yield from _item(f"Rights at the target: {_sentence(target)}")
    if row.synonyms:
        yield from _item(f"Other spellings: {_codes(row.synonyms)}")
    yield f"- Variable: `{row.option.environment_variable}`"
    yield ""


def properties() -> str:
    """Return the page of client properties: what each line of a consumer or producer file becomes."""

    def lines() -> Iterator[str]:
        sections = {
            "Consumer file": consumer.RULES,
            "Producer file": producer.RULES,
            "Both files, logins and TLS": SECURITY_RULES,
        }
        for title, rules in sections.items():
            yield f"## {title}"
            yield ""
            for rule in sorted(rules, key=lambda rule: rule.name):
                text = understood(rule, rule.name)
                reason = "" if rule.reason in text else f" ({rule.reason})"
                yield from _item(f"`{rule.name}`: {text}{reason}")
            yield ""

    introduction = (
        "What each property of the Java clients means. `legacy-mm explain` shows it for your files, with values and "
        "places. A name that is not here is unknown to the Java client as well: it is ignored with the legacy tool's "
        "warning. `librdkafka.NAME` sets the property of that name, in librdkafka's unit; what only librdkafka knows "
        "is for a membership that it keeps, and is refused where it is about TLS or a login."
    )
    return _page("Client properties", introduction, lines())


def metrics() -> str:
    """Return the page of metrics at `/metrics`: name, labels, kind, unit."""

    def lines() -> Iterator[str]:
        levels = defaultdict(list)
        for metric in METRICS:
            if metric.kind != "rate":
                levels[metric.level].append(metric)
        for level, rows in levels.items():
            yield f"## Level `{level}`"
            yield ""
            labels = ("flow", *LABELS.get(level, ()))
            only = f" Only with {ONLY_WITH[level]}." if level in ONLY_WITH else ""
            yield from _wrapped(f"Labels: {_codes(labels)}.{only}")
            yield ""
            for row in rows:
                yield from _item(f"`{row.prometheus}`: {row.kind}, {row.unit}")
            yield ""
        yield from _mbeans()

    introduction = (
        "Served with `--metrics.port` at `/metrics`. Rates are left to Prometheus. "
        "`flow` is SOURCE->TARGET by aliases, `client_id` is GROUP-STREAM, with MirrorMaker 2's file its client id. "
        "Several hosts of a group each report their own partitions: sum over them. Lag of each topic: `sum by (topic) "
        "(legacy_mm_consumer_partition_records_lag)`. The MBeans of the legacy tool show the same numbers under its "
        "names."
    )
    return _page("Metrics", introduction, lines())


def _mbeans() -> Iterator[str]:
    """Yield what JMX shows with MirrorMaker 2's file: the client ids, the beans, and what nobody counts."""
    yield "## MBeans"
    yield ""
    yield from _wrapped(_MBEANS)
    yield ""
    flow = FlowReading.of_driver(DriverFile({"clusters": "A, B", "A->B.enabled": "true"}), Pair("A", "B"))
    names = connect_names.read(flow, 1, (), in_group=True)
    clients = {
        "the member of the workers' group, in `kafka.connect`": [names.worker],
        "a stream, in `kafka.consumer`": names.consumers,
        "all streams together, in `kafka.producer`": [connect_names.producer_id(flow)],
        "admin clients, in `kafka.admin.client`": [
            *(names.admin_of_worker, names.admin_at_source, names.admin_at_target),
            *(names.groups_at_source, names.groups_at_target),
        ],
    }
    for client_kind, ids in clients.items():
        yield from _item(f"{client_kind}: {_codes(ids)}")
    yield ""
    yield from _wrapped(_ABSENT_MBEANS)
    yield ""
    yield from _wrapped("These attributes are not counted; they answer as in Java before there is a sample:")
    yield ""
    for row in UNCOUNTED:
        yield from _item(f"{_codes(row.attributes.split())}: {row.reason}")
    yield ""


def log_lines() -> str:
    """Return the page of log lines that operators meet."""

    def lines() -> Iterator[str]:
        for row in LOG_LINES:
            yield f"## `{row.line}`"
            yield ""
            yield from _wrapped(row.meaning)
            yield ""
            yield from _wrapped(f"What to do: {row.advice}")
            yield ""

    introduction = (
        "Lines at WARN and ERROR, and some at INFO. Search this page for a part of the line. Words in braces stand for "
        "names. Lines in the legacy tool's words mean what they meant there."
    )
    return _page("Log lines", introduction, lines())


def differences() -> str:
    """Return the page of known differences from the legacy tool."""

    def lines() -> Iterator[str]:
        yield from _index_of_differences()
        for row in DIFFERENCES:
            yield f"## {row.id}"
            yield ""
            yield from _item(f"Concerns: {_sentence(', '.join(row.applies.labels))}")
            yield from _item(f"The legacy tool: {_sentence(row.legacy)}")
            yield from _item(f"legacy_mm: {_sentence(row.ours)}")
            yield from _item(f"Why: {_sentence(row.reason)}")
            yield ""

    introduction = (
        "Where legacy_mm knowingly differs from the legacy tool. `legacy-mm explain` shows the rows that concern your "
        "command line; `legacy-mm quirks` prints all. The table leads from a property or an option to its rows."
    )
    return _page("Differences from the legacy tool", introduction, lines())


def _index_of_differences() -> Iterator[str]:
    """Yield a table: properties and options -> the rows that concern them; those with the same rows share a line."""
    rows: defaultdict[str, list[str]] = defaultdict(list)
    for row in DIFFERENCES:
        for label in row.applies.labels:
            rows[label].append(row.id)
    names: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for label in sorted(rows, key=lambda label: (label.startswith("every "), label.lstrip("`-"))):
        names[tuple(rows[label])].append(label)
    yield "| concerns | rows |"
    yield "|---|---|"
    for ids, group in names.items():
        links = (f"[{each}](#{each.replace('.', '')})" for each in ids)  # an anchor has no full stop
        yield f"| {', '.join(group)} | {', '.join(links)} |"
    yield ""


def python_api() -> str:
    """Return the page of what users import: `legacy_mm.client` and the handler interface."""

    def lines() -> Iterator[str]:
        handlers = [name for name, member in vars(api).items() if inspect.isclass(member) and _is_public(name, member)]
        for module, names in ((client, client.__all__), (api, handlers)):
            yield f"## {module.__name__}"
            yield ""
            yield from _docstring(module)
            for name in names:
                member = getattr(module, name)
                yield f"### {name}"
                yield ""
                yield from _docstring(member)
                if inspect.isclass(member):
                    yield from _methods(member)

    introduction = "What programs of users import. Everything else may move."
    return _page("Python API", introduction, lines())


def _is_public(name: str, member: type) -> bool:
    return not name.startswith("_") and member.__module__ == api.__name__


def _methods(member: type) -> Iterator[str]:
    for name, function in vars(member).items():
        if isinstance(function, staticmethod | classmethod):
            function = function.__func__
        if not name.startswith("_") and inspect.isfunction(function) and function.__doc__:
            summary = " ".join(inspect.cleandoc(function.__doc__).split("\n\n")[0].split())
            yield from _item(f"`{name}({', '.join(inspect.signature(function).parameters)})`: {summary}")
    yield ""


def _docstring(member: object) -> Iterator[str]:
    """Yield the lines of a docstring; an indented part behind `::` becomes a block of code."""
    parts = (inspect.getdoc(member) or "").split("\n\n")
    literal = False
    for part in parts:
        if literal and part.startswith("    "):
            yield from ["```text", *textwrap.dedent(part).splitlines(), "```", ""]
            continue
        literal = part.endswith("::")
        if text := part.removesuffix("::").strip():
            yield from _wrapped(" ".join(text.split()))
            yield ""


def explanation() -> str:
    """Return the page about the JSON document of `explain`, which its docstring describes."""
    paragraphs = inspect.cleandoc(explain.__doc__ or "").split("\n\n")

    def lines() -> Iterator[str]:
        for part in paragraphs[1:]:
            items = part.split("\n- ") if part.startswith("- ") else []
            yield from (line for item in items for line in _item(" ".join(item.removeprefix("- ").split())))
            yield from [] if items else _wrapped(" ".join(part.split()))
            yield ""

    return _page("The document of explain", " ".join(paragraphs[0].split()), lines())


PAGES: Mapping[str, Callable[[], str]] = {
    "options.md": options,
    "features.md": features,
    "properties.md": properties,
    "metrics.md": metrics,
    "log-lines.md": log_lines,
    "differences.md": differences,
    "python-api.md": python_api,
    "explain.md": explanation,
}
"""Name of each page and the function that makes it."""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
