"""What pages promise, against the code and the figures that they are about. Each test has found a sentence once."""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from legacy_mm.features.rows import BY_NAME as FLAGS
from legacy_mm.features.topic_acls.made_rules import state_folder
from legacy_mm.logs import events
from legacy_mm.logs.events import Event
from legacy_mm.logs.log_lines import LOG_LINES
from legacy_mm.metrics.metric_catalogue import LABELS, METRICS, ONLY_WITH, Metric
from legacy_mm.runtime.jvm.jars import cache_folder
from legacy_mm.words.java_clients.client_properties.apply import CONSUMER_RULES, PRODUCER_RULES
from legacy_mm.words.legacy_tool.messages import WORDING
from tests.structure.source_tree import CHECKOUT, checkout_modules

DOCS = CHECKOUT / "docs"
README = CHECKOUT / "README.md"
GUARANTEES, MEASURED = DOCS / "explanation" / "guarantees.md", DOCS / "explanation" / "measured.md"
OPERATE, SECURE = DOCS / "how-to" / "operate.md", DOCS / "how-to" / "secure.md"
PROPERTIES = DOCS / "reference" / "properties.md"
DECISIONS = DOCS / "decisions"
TOO_MUCH = (
    r"[Nn]othing else\s+changes",
    r"at any time",
    r"every\s+case",
    r"Every\s+line\s+of\s+ours",
    r"no network but",
)
"""Promises of pages that were broader than the truth."""


def rows(page: Path, title: str) -> Iterator[list[str]]:
    """The cells of each row of the tables below a title, without heads."""
    section = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)
    (text,) = (each for each in section if each.startswith(f"{title}\n"))
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith("|---"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def test_each_end_of_a_mirror_says_what_comes_twice() -> None:
    """The codes of the page for operators are those of the promise."""
    codes = {code for row in rows(OPERATE, "Start, stop, restart") for code in re.findall(r"\d+", row[0])}
    assert codes == {"143", "130", "129", "255", "1", "137"}
    section = GUARANTEES.read_text().partition("## When records come twice")[2].partition("\n## ")[0]
    assert codes <= set(re.findall(r"\d+", section))


def loud(event: Event) -> bool:
    wording = WORDING.get(event)
    return max(event.level, wording.level if wording else 0) >= logging.WARNING


def words_of(text: str) -> str:
    """What a line has beside its fields: without any, nobody can search for it."""
    return re.sub(r"\{.*?\}|\W", "", text)


LOUD = [event for event in events.BY_NAME.values() if loud(event) and words_of(event.text)]


@pytest.mark.parametrize("event", LOUD, ids=lambda event: event.name)
def test_a_loud_line_is_explained(event: Event) -> None:
    """In our words or in those of the legacy tool."""
    texts = [event.text] + ([WORDING[event].text] if event in WORDING else [])
    assert any(row.line in text for row in LOG_LINES for text in texts)


def test_each_property_has_a_row_that_says_something() -> None:
    page = re.sub(r"\n  ", " ", PROPERTIES.read_text())
    for rule in (*CONSUMER_RULES, *PRODUCER_RULES):
        said = re.findall(rf"^- `{re.escape(rule.name)}`: (.*)$", page, re.MULTILINE)
        assert said, f"{rule.name} has no row"
        for text in said:
            assert text != "translated", rule.name
            assert " , " not in text and "''" not in text, f"{rule.name}: {text}"
            assert not re.search(r"\b[a-z]+_[a-z]+\b", text), f"{rule.name} names a field of the code: {text}"


@pytest.mark.parametrize("name", ["partitioner.class", "partitioner.ignore.keys"])
def test_partitioners_without_keys_are_told_alike(name: str) -> None:
    """Here and among the known differences."""
    (said,) = re.findall(rf"^- `{re.escape(name)}`: ((?:.|\n  )*)", PROPERTIES.read_text(), re.MULTILINE)
    sentence = "each record goes to the next partition in turn"
    assert sentence in " ".join(said.split())
    assert sentence in " ".join((DOCS / "reference" / "differences.md").read_text().split())


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: f"{metric.level} {metric.name}")
def test_a_unit_is_a_whole_one(metric: Metric) -> None:
    assert not metric.unit.startswith("of "), "what of?"
    assert not re.search(r"\w_\w", metric.unit), "a name of another metric is no unit"


def test_a_level_that_is_not_always_there_says_when() -> None:
    assert ONLY_WITH.keys() <= {metric.level for metric in METRICS}
    assert {level for level in LABELS if level.startswith("mirror_")} <= ONLY_WITH.keys()
    named = {name for text in ONLY_WITH.values() for name in re.findall(r"`([a-z.-]+\.[a-z.-]+)`", text)}
    assert named - {"connect-mirror-maker.sh"} <= FLAGS.keys()


def test_places_that_must_be_writable_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """All folders that the package finds below a user's home."""
    for variable in ("LEGACY_MM_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", "/home/user")
    places = " ".join(row[0] for row in rows(OPERATE, "Places that must be writable"))
    for folder in (cache_folder(), state_folder()):
        assert f"`{folder}`".replace("/home/user", "~") in places
    at_home = {
        module.name
        for module in checkout_modules("legacy_mm").values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "Path.home"
    }
    assert at_home == {cache_folder.__module__, state_folder.__module__}
    assert "places-that-must-be-writable" in SECURE.read_text()


def test_a_download_is_told_where_networks_are_closed() -> None:
    assert any("Maven Central" in row[0] for row in rows(SECURE, "What it connects to"))
    for name in ("Dockerfile", "kubernetes.yaml"):
        text = (CHECKOUT / "samples" / "deploy" / name).read_text()
        assert "LEGACY_MM_KAFKA_HOME" in text, f"{name} does not say what a handler in a jar needs"


def figures(cell: str) -> list[float]:
    return [float(each) for each in re.findall(r"\d+\.\d+", cell)]


def test_the_headline_is_what_was_measured() -> None:
    """The first page and the changelog have the extremes of the table, and not the best of it."""
    table = list(rows(MEASURED, "Throughput"))
    runs = [row for row in table if row[1].isdigit()]
    jar, python = ([float(row[2]) for row in table if row[1] == kind] for kind in ("jar", "Python"))
    ratio, cpu, peak = ([each for row in runs for each in figures(row[place])] for place in (3, 4, 5))
    little = [each for row in runs if "one in a batch" in row[0] for each in figures(row[5])]
    others = [each for each in peak if each not in little]
    said = " ".join(README.read_text().split())
    assert f"{min(ratio):g} to {max(ratio):.0f} times as many records per second" in said
    assert f"with {100 * min(cpu):.0f} to {100 * max(cpu):.0f} % of its CPU" in said
    assert f"{min(others):g} to {max(others):g} times the legacy tool's, up to {max(little):g} with one record" in said
    assert f"{min(jar):g} to {max(jar):g} times, in Python {min(python):g} to {max(python):g} times" in said
    (worst,) = re.findall(r"in bad hours (\d+\.\d+)", MEASURED.read_text())
    assert f"in bad hours of the host {worst} times" in said
    changes = " ".join((CHECKOUT / "CHANGELOG.md").read_text().split())
    assert f"{min(ratio):g} to {max(ratio):.0f} times the rate" in changes and f"up to {max(little):g} times" in changes


@pytest.mark.parametrize("phrase", TOO_MUCH)
def test_no_page_promises_too_much(phrase: str) -> None:
    pages = [README, *(page for page in DOCS.rglob("*.md") if page.parent != DECISIONS)]
    assert [page.name for page in pages if re.search(phrase, page.read_text())] == []


def test_releases_of_brokers_are_told_alike() -> None:
    """The changelog's two sentences, and the matrix of what has run whole."""
    changes = " ".join((CHECKOUT / "CHANGELOG.md").read_text().split())
    (oldest,) = re.findall(r"Tested with brokers (\S+) to", changes)
    assert f"Brokers from {oldest} on" in changes
    whole = [row[0] for row in rows(DOCS / "reference" / "support.md", "Brokers") if row[1] == "test"]
    assert whole[-1].startswith(oldest)


def test_a_withdrawn_decision_is_marked_in_the_index() -> None:
    index = (DECISIONS / "README.md").read_text()
    withdrawn = {page.name for page in DECISIONS.glob("[0-9]*.md") if "\nWithdrawn: " in page.read_text()}
    assert withdrawn
    assert set(re.findall(r"\(([^)]+\.md)\), withdrawn:", index)) == withdrawn


@pytest.mark.parametrize("page", sorted(DECISIONS.glob("*.md")), ids=lambda page: page.name)
def test_a_title_of_a_decision_names_nothing_that_is_gone(page: Path) -> None:
    titles = page.read_text() if page.name == "README.md" else page.read_text().partition("\n")[0]
    for named in re.findall(r"`((?:[a-z_]+/)+[a-z_]*)`", titles):
        assert any((CHECKOUT / root / named).exists() for root in ("", "legacy_mm", "compat")), named


def test_the_way_back_is_part_of_each_page_that_replaces_something() -> None:
    """With exactly once there is a step more."""
    for name in ("replace.md", "upgrade.md"):
        assert "\n## Back\n" in (DOCS / "how-to" / name).read_text()
    assert "exactly-once.md#turn-it-off" in (DOCS / "how-to" / "replace.md").read_text().partition("\n## Back\n")[2]
