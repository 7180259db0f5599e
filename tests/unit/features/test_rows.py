"""The flags of all features: each folder's are there, and each name has one row."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from legacy_mm import features
from legacy_mm.features import schedule
from legacy_mm.features.rows import BY_NAME, FEATURES, as_pair, is_flag, spelled_today

FOLDER = Path(features.__file__).parent


def modules(text: str) -> list[str]:
    """The modules of the features that hold this text."""
    found = (path for path in FOLDER.glob("*/*.py") if text in path.read_text())
    return [f"legacy_mm.features.{path.parent.name}.{path.stem}" for path in sorted(found)]


@pytest.mark.parametrize("module", modules("\nROWS = "))
def test_the_rows_of_a_folder_are_flags(module: str) -> None:
    assert set(importlib.import_module(module).ROWS) <= set(FEATURES)


@pytest.mark.parametrize("module", modules("\ndef scheduled("))
def test_the_duty_of_a_folder_is_scheduled(module: str) -> None:
    assert importlib.import_module(module).scheduled in schedule._DUTIES


def test_a_name_has_one_row() -> None:
    assert len(BY_NAME) == sum(1 + len(row.synonyms) for row in FEATURES)


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
