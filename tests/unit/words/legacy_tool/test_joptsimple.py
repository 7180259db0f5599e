"""The reading of words and the help, against the real option library of each release (`compat/recorded`)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from legacy_mm.words.legacy_tool.command_line import ParsedLine, parse
from legacy_mm.words.legacy_tool.joptsimple import OptionError
from legacy_mm.words.legacy_tool.releases import grammar_of
from tests.unit.words.conftest import RECORDED

RELEASES: list[dict[str, Any]] = json.loads((RECORDED / "joptsimple.json").read_text())["releases"]


def asked(line: ParsedLine, name: str) -> str:
    option = line.grammar.options[name]
    try:
        if option.argument is None:
            return "null"
        return str(line.integer(name) if option.type == "Integer" else line.value(name))
    except OptionError as error:
        return str(error)


def said(words: list[str], release: str) -> str:
    try:
        line = parse(words, grammar_of(release))
    except OptionError as error:
        return str(error)
    return "".join(f"{name}={asked(line, name)};" for name in sorted(line.grammar.options) if line.has(name))


@pytest.mark.parametrize("recorded", RELEASES, ids=lambda recorded: recorded["release"])
def test_every_recorded_call_is_read_alike(recorded: dict[str, Any]) -> None:
    calls = recorded["calls"]
    ours = {str(call["words"]): said(call["words"], recorded["release"]) for call in calls}
    assert ours == {str(call["words"]): call["said"] for call in calls}
    assert len(calls) > 100


@pytest.mark.parametrize("recorded", RELEASES, ids=lambda recorded: recorded["release"])
def test_help(recorded: dict[str, Any]) -> None:
    assert grammar_of(recorded["release"]).option_table() == recorded["help"]
