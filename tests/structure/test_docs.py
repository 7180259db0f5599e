"""The pages of docs/: what they name is there, and the generated one is what the command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from legacy_mm import events
from legacy_mm.cli.legacy_mm import COMMANDS, main
from legacy_mm.compat.messages import WORDING
from legacy_mm.config.catalogue import option_called
from tests.structure.source_tree import CHECKOUT

DOCS = CHECKOUT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
LINES = [wording.text for wording in WORDING.values()] + [event.text for event in events.BY_NAME.values()]


def test_the_differences_are_those_of_the_ledger(capsys: pytest.CaptureFixture[str]) -> None:
    """If not: bin/legacy-mm quirks --markdown > docs/differences.md."""
    assert main(["quirks", "--markdown"]) == 0
    assert capsys.readouterr().out == (DOCS / "differences.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_links_are_there(page: Path) -> None:
    text = page.read_text()
    assert set(re.findall(r"(?<=[`/]legacy-mm )[a-z]+", text)) <= set(COMMANDS)
    assert [name for name in re.findall(r"`--([a-z]+\.[a-z.]+)", text) if option_called(name) is None] == []
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        assert (DOCS / link).is_file()
    assert f"docs/{page.name}" in (CHECKOUT / "README.md").read_text()


def test_every_quoted_line_is_one_that_is_said() -> None:
    table = (DOCS / "operate.md").read_text().partition("## What a log line means")[2]
    quoted = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert len(quoted) > 10
    assert not [line for line in quoted if not any(line in text for text in LINES)]
