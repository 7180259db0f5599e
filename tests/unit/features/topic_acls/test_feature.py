"""The duty of access rules notes what it adds, if that is ever to go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
