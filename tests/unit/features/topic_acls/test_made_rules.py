"""The file of access rules that are ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.features.topic_acls.made_rules import MadeRules, state_folder
from legacy_mm.policies.acl_rules import AclRule

READ = AclRule("t", "LITERAL", "User:x", "*", "READ", "ALLOW")
ALTER = replace(READ, operation="ALTER")
FLOW = ("source/1", "target_2", "A.topic")


def opened(folder: Path, *flow: str) -> MadeRules:
    made = MadeRules(folder)
    made.between(*(flow or FLOW))
    return made


def test_what_came_and_went_is_known_to_the_next_process(tmp_path: Path) -> None:
    folder = tmp_path / "not" / "there"
    opened(folder).note([READ, ALTER], [])
    opened(folder).note([], [ALTER])
    assert MadeRules(folder).between(*FLOW) == {READ}


@pytest.mark.parametrize("other", [("x", *FLOW[1:]), (FLOW[0], "x", FLOW[2]), (*FLOW[:2], "topic")])
def test_other_clusters_and_other_names_have_rules_of_their_own(tmp_path: Path, other: tuple[str, str, str]) -> None:
    opened(tmp_path).note([READ], [])
    made = MadeRules(tmp_path)
    assert made.between(*other) == frozenset()
    made.note([ALTER], [])
    assert made.between(*other) == {ALTER}
    assert made.between(*FLOW) == {READ}


def test_nothing_is_written_without_need(tmp_path: Path) -> None:
    made = MadeRules(tmp_path)
    made.note([READ], [])
    opened(tmp_path).note([], [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["{", "[1]", '[{"topic": "t"}]'])
def test_a_file_that_holds_something_else(tmp_path: Path, text: str) -> None:
    opened(tmp_path).note([READ], [])
    (file,) = tmp_path.iterdir()
    file.write_text(text)
    with pytest.raises(HostError, match="holds no access rules"):
        opened(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match="cannot be written: File exists"):
        opened(tmp_path / "file").note([READ], [])


def test_where_the_files_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert state_folder() == Path("/state/legacy_mm")
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("HOME", "/home/me")
    assert state_folder() == Path("/home/me/.local/state/legacy_mm")
