"""The duty of access rules notes what it adds, if that is ever to go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.features import flags
from legacy_mm.features.feature import DutyScene, FeatureSettings, TopicNames
from legacy_mm.features.topic_acls.feature import TOPIC_ACLS
from legacy_mm.features.topic_acls.flags import AclSyncSettings
from legacy_mm.policies.acl_rules import AclRule
from legacy_mm.policies.changes import CreateAcl, CreateTopic, DeleteAcl
from tests.fakes.admin import FakeAdmin

NAMES = TopicNames(str, frozenset, lambda expressions: expressions.__contains__)
READ = AclRule("A.t", "LITERAL", "User:x", "*", "READ", "ALLOW")


def scene(settings: AclSyncSettings | None) -> DutyScene:
    return DutyScene(FeatureSettings().having(TOPIC_ACLS, settings), FakeAdmin(), FakeAdmin(), NAMES, 300.0)


def test_off_there_is_none() -> None:
    assert TOPIC_ACLS.duty is not None
    assert TOPIC_ACLS.duty(scene(None)) is None


def test_where_nothing_is_removed_nothing_is_noted() -> None:
    assert TOPIC_ACLS.duty is not None
    made = TOPIC_ACLS.duty(scene(AclSyncSettings(9.0)))
    assert made is not None
    assert (made.interval, made.before_copying, made.note) == (9.0, False, None)


def test_rules_that_were_added_are_written_down_and_other_changes_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert TOPIC_ACLS.duty is not None
    made = TOPIC_ACLS.duty(scene(AclSyncSettings(9.0, remove=True)))
    assert made is not None
    assert made.note is not None
    made.note([CreateAcl(READ)])
    assert list(tmp_path.rglob("*.json")) == [], "which clusters these are is not known before the first look"
    kept = made.duty._made  # type: ignore[attr-defined]
    kept.between("source", "target", "A.topic")
    made.note([CreateAcl(READ), CreateTopic("t", 1, 1)])
    (file,) = tmp_path.rglob("*.json")
    assert [AclRule(**row) for row in json.loads(file.read_text())] == [READ]
    made.note([DeleteAcl(READ)])
    assert json.loads(file.read_text()) == []


ON = {"sync.topic.acls.enabled": ["true"]}


@pytest.mark.parametrize(
    ("more", "settings"),
    [
        ({}, AclSyncSettings(600.0)),
        ({"sync.topic.acls.interval.seconds": ["5"]}, AclSyncSettings(5.0)),
        ({"sync.topic.acls.prefixed": ["true"]}, AclSyncSettings(600.0, prefixed=True)),
        ({"sync.topic.acls.remove": ["true"]}, AclSyncSettings(600.0, remove=True)),
    ],
)
def test_what_they_say(more: dict[str, list[str]], settings: AclSyncSettings) -> None:
    assert flags.settings({**ON, **more})[TOPIC_ACLS] == settings
    assert flags.settings({"sync.topic.acls.interval.seconds": ["5"]})[TOPIC_ACLS] is None


@pytest.mark.parametrize("name", ["sync.topic.acls.prefixed", "sync.topic.acls.remove"])
def test_one_that_shapes_it_needs_it(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name}=true needs sync.topic.acls.enabled, because "):
        flags.settings({name: ["true"]})
