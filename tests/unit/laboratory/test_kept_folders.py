"""Folders that are kept beside the jars: made once, whole, and made anew for a changed recipe. No Java is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compat.laboratory.formatted_folders import FormattedFolders
from compat.laboratory.kept_folders import kept_folder
from compat.laboratory.releases import CURRENT, find_release

SLOW_MAKER = """
import sys, time
from pathlib import Path
from compat.laboratory.kept_folders import kept_folder

def make(folder):
    with Path(sys.argv[1]).open("a") as log:
        log.write("made\\n")
    (folder / "first").touch()
    time.sleep(0.5)
    (folder / "last").touch()

print(sorted(each.name for each in kept_folder("a/b", ["recipe"], make).iterdir()))
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEGACY_MM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    """Writes a file into each folder that it makes."""

    made = 0

    def __call__(self, folder: Path) -> None:
        self.made += 1
        (folder / "number").write_text(f"{self.made}")


def test_a_folder_is_made_once(cache: Path) -> None:
    make = Maker()
    folders = {kept_folder("stores/all", ["text"], make) for _ in range(3)}
    assert make.made == 1
    (folder,) = folders
    assert folder.parent == cache / "stores" and folder.name.startswith("all-")
    assert [each.name for each in folder.iterdir()] == ["number"]


def test_another_recipe_is_another_folder(tmp_path: Path) -> None:
    make, source = Maker(), tmp_path / "Oracle.java"
    source.write_text("class Oracle {}")
    recipes: list[list[str | Path]] = [[source], [source, "17"], [source, "1", "7"], [source, "21"]]
    assert len({kept_folder("programs/Oracle", recipe, make) for recipe in recipes}) == make.made == len(recipes)
    source.write_text("class Oracle { int changed; }")
    assert (kept_folder("programs/Oracle", [source], make) / "number").read_text() == "5"


def test_what_was_not_finished_is_not_used(cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise InterruptedError

    with pytest.raises(InterruptedError):
        kept_folder("stores/all", ["text"], fail)
    assert [each for each in (cache / "stores").iterdir() if each.is_dir()] == []
    make = Maker()
    assert [each.name for each in kept_folder("stores/all", ["text"], make).iterdir()] == ["number"]
    assert make.made == 1


def test_of_two_processes_one_makes_it(tmp_path: Path) -> None:
    words = [sys.executable, "-c", SLOW_MAKER, str(tmp_path / "log")]
    processes = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=60)[0] for process in processes] == ["['first', 'last']\n"] * 2
    assert (tmp_path / "log").read_text() == "made\n"


def test_a_killed_maker_leaves_nothing_that_is_used(tmp_path: Path) -> None:
    """Nor does its lock stay."""
    words = [sys.executable, "-c", SLOW_MAKER.replace("time.sleep(0.5)", "import os; os.kill(os.getpid(), 9)")]
    assert subprocess.run([*words, str(tmp_path / "log")], check=False, timeout=60).returncode == -9
    make = Maker()
    assert [each.name for each in kept_folder("a/b", ["recipe"], make).iterdir()] == ["number"]
    assert make.made == 1


def test_a_broker_s_folder_is_formatted_once(tmp_path: Path) -> None:
    folders = FormattedFolders(find_release(CURRENT), ["--standalone"])
    logs = [tmp_path / "one", tmp_path / "two"]

    def by_tool() -> None:
        logs[0].mkdir()
        (logs[0] / "bootstrap.checkpoint").write_text("levels")
        (logs[0] / "meta.properties").write_text("node.id=1\n")

    for node, each in enumerate(logs, 1):
        folders.format(each, node, "cluster", by_tool)
    assert (logs[0] / "meta.properties").read_text() == "node.id=1\n"
    assert "node.id=2\ncluster.id=cluster\n" in (logs[1] / "meta.properties").read_text()
    assert (logs[1] / "bootstrap.checkpoint").read_text() == "levels"
