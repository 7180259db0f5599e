"""Where tests keep jars if the user's own folder cannot be written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compat.laboratory.checkout import CHECKOUT
from tests.fixtures.cache import pytest_configure

NAME = "LEGACY_MM_CACHE"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The parent of the user's folder; nothing names another one."""
    monkeypatch.setenv(NAME, "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_home_that_cannot_be_written_is_left_alone(home: Path) -> None:
    home.touch()  # a file, in which root cannot make a folder either
    pytest_configure()
    assert Path(os.environ[NAME]).is_relative_to(CHECKOUT)


def test_a_home_that_can_be_written_has_the_cache(home: Path) -> None:
    pytest_configure()
    assert not os.environ[NAME]
    assert (home / ".cache" / "legacy_mm").is_dir()


def test_a_folder_that_somebody_names_is_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.touch()
    monkeypatch.setenv(NAME, "named")
    pytest_configure()
    assert os.environ[NAME] == "named"
