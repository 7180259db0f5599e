"""The flags of all features: each folder's are there, and each name has one row."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from legacy_mm import features
from legacy_mm.features import flags, rows, schedule
from legacy_mm.features.feature import DutyScene, Feature, TopicNames
from legacy_mm.features.rows import BY_NAME, FEATURES, FLAGS, as_pair, is_flag, spelled_today
from legacy_mm.features.schedule import feature_duties
from tests.fakes.admin import FakeAdmin

FOLDER = Path(features.__file__).parent
NAMES = TopicNames(str, frozenset, lambda expressions: expressions.__contains__)
OTHERS = {
    "naming": "a flow always has names, so its settings are a field",
    "cutover": "a command of legacy-mm, not a part of a flow",
}
"""Folders without a line -> why."""
FILTERS_BY = {"topic_configs": {"topic_creation"}}
"""Folder -> those that read their flags by it, and go with it."""
LINES = re.compile(r"^    ([A-Z_]+),$", re.MULTILINE)


def test_each_folder_has_one_line() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/__init__.py")} - OTHERS.keys()
    assert sorted(each.name for each in FEATURES) == sorted(folders)
    assert sorted(LINES.findall(Path(rows.__file__).read_text())) == sorted(name.upper() for name in folders)


@pytest.mark.parametrize("folder", [each.name for each in FEATURES])
def test_a_line_is_all_that_names_a_duty(folder: str) -> None:
    """Its module is loaded where it is on, by its own folder (invariant E)."""
    (feature,) = (each for each in FEATURES if each.name == folder)
    module = importlib.import_module(f"legacy_mm.features.{folder}.feature")
    assert getattr(module, folder.upper()) is feature
    text = "".join(path.read_text() for path in FOLDER.glob("*.py"))
    assert set(re.findall(rf"features\.{folder}\.(\w+)", text)) <= {"feature"}


@pytest.mark.parametrize("left_out", FEATURES, ids=repr)
def test_the_others_work_without_it(left_out: Feature[object], monkeypatch: pytest.MonkeyPatch) -> None:
    """As if its line and its folder were gone: all other flags are read, and duties made."""
    names = {left_out.name, *FILTERS_BY.get(left_out.name, ())}
    others = tuple(each for each in FEATURES if each.name not in names)
    gone = {row for each in FEATURES if each.name in names for row in each.flags}
    monkeypatch.setattr(flags, "FEATURES", others)
    monkeypatch.setattr(schedule, "FEATURES", others)
    monkeypatch.setattr(flags, "FLAGS", tuple(row for row in FLAGS if row not in gone))
    needed = {row.name for row in FLAGS if row in gone}
    on = [row for row in FLAGS if row.is_feature and row not in gone and row.name != "detect.loops"]
    while dropped := [row for row in on if needed & {other.name for other in row.needs}]:
        needed |= {row.name for row in dropped}
        on = [row for row in on if row not in dropped]
    given = {row.name: ["true"] for row in on}
    read = flags.settings(given, {"source.cluster.alias": ["a"], "target.cluster.alias": ["b"]})
    assert read[left_out] is None
    assert set(read.switched_on) <= set(others)
    scene = DutyScene(read, FakeAdmin(), FakeAdmin(), NAMES, 300.0)
    expected = [each.duty(scene) for each in others if each.duty is not None]
    found, _ = feature_duties(read, FakeAdmin(), FakeAdmin(), NAMES, 300.0)
    assert sorted(each.duty.name for each in found) == sorted(each.duty.name for each in expected if each is not None)


def test_a_name_has_one_row() -> None:
    assert len(BY_NAME) == sum(1 + len(row.synonyms) for row in FLAGS)


@pytest.mark.parametrize(
    ("name", "today"),
    [
        ("sync.topic.acls", "sync.topic.acls.enabled"),
        ("admin.security.protocol", "source.admin"),
        ("remote.admin.x", "target.admin"),
        ("tasks.max", None),
        ("acks", None),
    ],
)
def test_other_spellings(name: str, today: str | None) -> None:
    assert spelled_today(name) == today
    assert is_flag(name) == (today is not None or name == "tasks.max")


def test_a_java_property_of_a_client_is_a_pair() -> None:
    assert as_pair("admin.security.protocol", "SSL") == "security.protocol=SSL"
    assert as_pair("sync.topic.acls", "true") == "true"
