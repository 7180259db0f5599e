"""The pages of docs/: what they name is there, and the generated one is what the command prints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from legacy_mm import events
from legacy_mm.cli.legacy_mm import COMMANDS, main
from legacy_mm.compat.legacy_options import ROWS
from legacy_mm.compat.messages import WORDING
from legacy_mm.config.catalogue import option_called
from legacy_mm.config.feature import Feature
from legacy_mm.config.features import FEATURES
from tests.fixtures.doc_blocks import LANGUAGES, NOT_RUN, PAGES, SHELL, blocks
from tests.structure.source_tree import CHECKOUT

DOCS = CHECKOUT / "docs"
LADDER = sorted((row for row in FEATURES if row.is_feature), key=lambda row: row.step)
LONGEST = 150
OLD_OPTIONS = {row.option.name for row in ROWS}
LINES = [wording.text for wording in WORDING.values()] + [event.text for event in events.BY_NAME.values()]


def test_the_differences_are_those_of_the_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    """If not: bin/legacy-mm quirks --markdown > docs/differences.md."""
    assert main(["quirks", "--markdown"]) == 0
    assert capsys.readouterr().out == (DOCS / "differences.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_links_are_there(page: Path) -> None:
    text = page.read_text()
    assert set(re.findall(r"(?:^|(?<=[`/ ]))legacy-mm ([a-z]+)", text, re.MULTILINE)) <= set(COMMANDS)
    assert [name for name in re.findall(r"(?<=[` ])--([a-z]+\.[a-z.]+[a-z])", text) if unknown(name)] == []
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (page.parent / link).is_file()
    assert len(text.splitlines()) <= LONGEST


def unknown(option: str) -> bool:
    return option_called(option) is None and option not in OLD_OPTIONS


def test_readme_names_every_page() -> None:
    linked = re.findall(r"\]\(docs/([^)#]+)\)", (CHECKOUT / "README.md").read_text())
    assert set(linked) == {page.name for page in DOCS.glob("*.md")}


def test_what_is_not_run_is_in_some_page() -> None:
    """Everything else that a page tells a reader to do is done by tests/brokers/test_docs.py."""
    found = [block for page in PAGES for block in blocks(page.read_text())]
    assert {block.language for block in found} <= LANGUAGES
    others = {block.first for block in found if block.language != SHELL}
    assert set(NOT_RUN) <= others | {command for block in found for command in block.commands()}


@pytest.mark.parametrize("row", LADDER, ids=lambda row: row.name)
def test_every_feature_has_its_section(row: Feature) -> None:
    """Under its number and name, with its rights in the words of the table, its sample file and what it needs."""
    page = (DOCS / "features.md").read_text()
    section = page.partition(f"## {row.step}. `{row.name}`\n")[2].partition("\n## ")[0]
    assert [right for right in row.rights if right not in section] == []
    assert [other.name for other in row.needs if f"`{other.name}`" not in section] == []
    (sample,) = (CHECKOUT / "samples" / "features").glob(f"{row.step}-*.properties")
    assert f"`{sample.name}`" in section
    assert "Back: " in section or "Switching it on or off" in section


def test_what_has_run_is_in_the_support_matrix() -> None:
    """Release and date of each row that the slow tests have written."""
    lines = (DOCS / "support.md").read_text().splitlines()
    for what, runs in json.loads((CHECKOUT / "compat/reports/support.json").read_text()).items():
        for run in runs.values():
            assert any(what.split()[1] in line and run["date"] in line for line in lines), what


def test_every_quoted_line_is_one_that_is_said() -> None:
    table = (DOCS / "operate.md").read_text().partition("## What a log line means")[2]
    quoted = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert len(quoted) > 10
    assert not [line for line in quoted if not any(line in text for text in LINES)]
