"""The code of a handler that lies elsewhere, or is another one, when the next process begins."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from legacy_mm.base.settings import HandlerSettings
from legacy_mm.handlers.held_code import MOST_BYTES, MOST_FILES, HeldCode


def removed(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    """As package managers do it: by another file of the same name."""
    other = path.with_name("other")
    other.write_text("another release")
    other.rename(path)


def test_what_is_in_its_place_is_named_by_its_place(tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_text("code")
    given = HandlerSettings("a.B", class_path=[str(jar), str(tmp_path), str(tmp_path / "none.jar")])
    made = tmp_path / "made"
    assert HeldCode(given, made).settings() == given
    assert not made.exists()


@pytest.mark.parametrize("change", [removed, replaced])
def test_the_code_of_the_start_is_made_again(tmp_path: Path, change: Callable[[Path], None]) -> None:
    """More than once, because its new place does not live for ever either."""
    jar, made = tmp_path / "a.jar", tmp_path / "made"
    jar.write_text("code")
    held = HeldCode(HandlerSettings("a.B", class_path=[str(jar)]), made)
    change(jar)
    for _ in range(2):
        (path,) = map(Path, held.settings().class_path)
        assert (path.name, path.read_text()) == ("a.jar", "code")
        assert path.is_relative_to(made)
        assert held.settings().class_path == [str(path)], "made once"
        path.unlink()


def test_a_script_keeps_the_name_of_its_class(tmp_path: Path) -> None:
    script = tmp_path / "handler.py"
    script.write_text("class Two: ...")
    held = HeldCode(HandlerSettings(f"{script}:Two"), tmp_path / "made")
    script.unlink()
    path, name = held.settings().name.rsplit(":", 1)
    assert (name, Path(path).name, Path(path).read_text()) == ("Two", "handler.py", "class Two: ...")


def emptied(folder: Path) -> None:
    """As systemd-tmpfiles does it where the folder itself is younger."""
    for path in folder.rglob("*.class"):
        path.unlink()


def rewritten(folder: Path) -> None:
    (folder / "a" / "B.class").write_text("another release")


@pytest.mark.parametrize("change", [shutil.rmtree, emptied, rewritten])
def test_a_folder_of_classes_is_made_again(tmp_path: Path, change: Callable[[Path], None]) -> None:
    folder, made = tmp_path / "classes", tmp_path / "made"
    (folder / "a").mkdir(parents=True)
    for name in ("B", "B$1"):
        (folder / "a" / f"{name}.class").write_text(name)
    given = HandlerSettings("a.B", class_path=[str(folder)])
    held = HeldCode(given, made)
    assert held.settings() == given
    change(folder)
    for _ in range(2):
        (path,) = map(Path, held.settings().class_path)
        assert path.is_relative_to(made)
        assert {each.name: each.read_text() for each in (path / "a").iterdir()} == {"B.class": "B", "B$1.class": "B$1"}
        assert held.settings().class_path == [str(path)]
        emptied(path)


@pytest.mark.parametrize(("files", "size"), [(MOST_FILES + 1, 0), (1, MOST_BYTES + 1)])
def test_a_folder_of_more_than_a_handler_is_not_held(tmp_path: Path, files: int, size: int) -> None:
    folder = tmp_path / "classes"
    folder.mkdir()
    for number in range(files):
        with (folder / str(number)).open("wb") as file:
            file.truncate(size)
    held = HeldCode(HandlerSettings("a.B", class_path=[str(folder)]), tmp_path / "made")
    shutil.rmtree(folder)
    assert held.settings().class_path == [str(folder)]
