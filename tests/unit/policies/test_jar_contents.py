"""Whether a class path has a class: in a folder or a jar, whatever else lies there."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from legacy_mm.policies.jar_contents import has_class


@pytest.fixture
def class_path(tmp_path: Path) -> list[str]:
    (tmp_path / "classes" / "a").mkdir(parents=True)
    (tmp_path / "classes" / "a" / "InFolder.class").touch()
    with ZipFile(tmp_path / "b.jar", "w") as jar:
        jar.writestr("b/InJar.class", b"")
    (tmp_path / "notes.txt").write_text("no jar")
    return [str(tmp_path / name) for name in ("missing.jar", "notes.txt", "classes", "b.jar")]


@pytest.mark.parametrize(
    ("name", "there"), [("a.InFolder", True), ("b.InJar", True), ("b.InFolder", False), ("a", False)]
)
def test_a_class(class_path: list[str], name: str, there: bool) -> None:
    assert has_class(class_path, name) == there


def test_nothing_has_no_class() -> None:
    assert not has_class((), "a.InFolder")
