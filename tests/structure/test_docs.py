"""The pages of docs/: what they name is there, and the generated ones are what the rows make."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from legacy_mm.cli import reference
from legacy_mm.cli.admin_calls import TOKEN_FILE
from legacy_mm.cli.commands import COMMANDS
from legacy_mm.features.flag import Flag
from legacy_mm.features.rows import FLAGS
from legacy_mm.logs import events
from legacy_mm.logs.log_lines import LOG_LINES, LogLine
from legacy_mm.words.legacy_tool.legacy_options import ROWS
from legacy_mm.words.legacy_tool.messages import WORDING
from legacy_mm.words.mirror_maker_2.connect_line import SECRETS_DIR
from legacy_mm.words.options.option_catalogue import option_called
from tests.fixtures.doc_blocks import LANGUAGES, NOT_RUN, OUTPUT, PAGES, SHELL, blocks
from tests.structure.source_tree import CHECKOUT

DOCS = CHECKOUT / "docs"
LADDER = sorted((row for row in FLAGS if row.is_feature), key=lambda row: row.step)
MOST_WORDS, MOST_ARCHITECTURE, WIDTH = 1300, 1800, 100
DECISIONS = sorted((DOCS / "decisions").glob("*.md"))
OTHERS = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "samples/failover/README.md")
TEXTS = (*(CHECKOUT / name for name in OTHERS), *PAGES, *DECISIONS)
OLD_OPTIONS = {row.option.name for row in ROWS}
OF_COMMANDS = {option.removeprefix("--") for option in (SECRETS_DIR, TOKEN_FILE)}
LINES = [wording.text for wording in WORDING.values()] + [event.text for event in events.BY_NAME.values()]


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_reference_page_is_what_the_rows_make(name: str) -> None:
    """If not: bin/reference."""
    assert reference.PAGES[name]() == (DOCS / "reference" / name).read_text()


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.name)
def test_lines_are_short(page: Path) -> None:
    """Output of commands, commands, rows of tables and titles are as long as they are."""
    fence, long = "", []
    for line in page.read_text().splitlines():
        if line.strip().startswith("```"):
            fence = "" if fence else line.strip()
        elif len(line) > WIDTH and fence != "```text" and not line.startswith(("|", "#", "    ")):
            long.append(line)
    assert long == []


def test_the_architecture_can_be_read_in_one_go() -> None:
    assert len((CHECKOUT / "ARCHITECTURE.md").read_text().split()) <= MOST_ARCHITECTURE


def test_decisions_are_numbered_and_complete() -> None:
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    assert [page.name[:3] for page in pages] == [f"{number:03d}" for number in range(1, len(pages) + 1)]
    index = (DOCS / "decisions" / "README.md").read_text()
    for page in pages:
        heads = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
        assert heads == ["Context", "Decision", "Measurement", "Test"], page.name
        assert f"]({page.name})" in index
        for path in re.findall(r"`(tests/[\w/]+\.py)`", page.read_text()):
            assert (CHECKOUT / path).is_file(), f"{page.name} names {path}"


@pytest.mark.parametrize("page", sorted((CHECKOUT / "compat" / "reports").glob("*.md")), ids=lambda page: page.name)
def test_a_test_that_a_report_names_is_there(page: Path) -> None:
    """Who reads what was seen can run it."""
    for path, name in re.findall(r"(tests/[\w/]+\.py)(?:::(\w+))?", page.read_text()):
        assert (CHECKOUT / path).is_file(), path
        assert not name or f"\ndef {name}(" in (CHECKOUT / path).read_text(), f"{path}::{name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_links_are_there(page: Path) -> None:
    text = page.read_text()
    assert set(re.findall(r"(?:^|(?<=[`/ ]))legacy-mm ([a-z][a-z-]*)", text, re.MULTILINE)) <= set(COMMANDS)
    assert [name for name in re.findall(r"(?<=[` ])--([a-z]+\.[a-z.]+[a-z])", text) if unknown(name)] == []
    for link in re.findall(r"\]\(([^)#]+)[)#]", text):
        assert (page.parent / link).exists(), link
    for link, place in re.findall(r"\]\(([^)#]*)#([^)]+)\)", text):
        heads = re.findall(r"^#+ (.*)$", (page.parent / link if link else page).read_text(), re.MULTILINE)
        assert place in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}, place
    assert page.parent.name == "reference" or len(text.split()) <= MOST_WORDS


def unknown(option: str) -> bool:
    return option_called(option) is None and option not in OLD_OPTIONS | OF_COMMANDS


def test_readme_names_every_page() -> None:
    linked = re.findall(r"\]\((docs/[^)#]+\.md)\)", (CHECKOUT / "README.md").read_text())
    assert set(linked) == {str(page.relative_to(CHECKOUT)) for page in PAGES} - {"README.md"}


def test_what_is_not_run_is_in_some_page() -> None:
    """Everything else that a page tells a reader to do is done by tests/brokers/test_docs.py."""
    found = [block for page in PAGES for block in blocks(page.read_text())]
    assert {block.language for block in found} <= LANGUAGES
    others = {block.first for block in found if block.language not in (SHELL, OUTPUT)}
    assert set(NOT_RUN) <= others | {command for block in found for command in block.commands()}


@pytest.mark.parametrize("row", LADDER, ids=lambda row: row.name)
def test_every_feature_has_its_step_and_its_sample(row: Flag) -> None:
    assert f"### {row.step}. `{row.name}`\n" in (DOCS / "how-to" / "features.md").read_text()
    assert len(list((CHECKOUT / "samples" / "features").glob(f"{row.step}-*.properties"))) == 1


def test_what_has_run_is_in_the_support_matrix() -> None:
    """Release and date of each row that the slow tests have written."""
    lines = (DOCS / "reference" / "support.md").read_text().splitlines()
    for what, runs in json.loads((CHECKOUT / "compat/reports/support.json").read_text()).items():
        for run in runs.values():
            assert any(what.split()[1] in line and run["date"] in line for line in lines), what


@pytest.mark.parametrize("row", LOG_LINES, ids=lambda row: row.line)
def test_a_log_line_of_the_reference_is_one_that_is_said(row: LogLine) -> None:
    assert any(row.line in text for text in LINES)


def test_the_promise_is_one_click_from_the_first_page() -> None:
    """What is lost, and what comes twice, stands on a page of its own."""
    assert "(docs/explanation/guarantees.md)" in (CHECKOUT / "README.md").read_text()
    page = (DOCS / "explanation" / "guarantees.md").read_text()
    assert "## When records come twice" in page and "## When records are lost" in page


NAMING = (CHECKOUT / "ARCHITECTURE.md", *(DOCS / "decisions").glob("[0-9]*.md"))
NAMED_FILES = sorted(
    {name for page in NAMING for name in re.findall(r"`((?:[a-z_]+/)*[a-z_0-9]+\.py)`", page.read_text())}
)


@pytest.mark.parametrize("name", NAMED_FILES)
def test_a_file_that_the_architecture_or_a_decision_names_is_there(name: str) -> None:
    """By its path, or, beside another file of its folder, by its name alone."""
    folders = [CHECKOUT / folder for folder in ("legacy_mm", "tests", "compat")]
    assert (CHECKOUT / name).is_file() or any(next(folder.rglob(name), None) for folder in folders)
