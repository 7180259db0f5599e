"""Where jars are cached, and one clear line when they cannot be had. No network is used here."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.laboratory import jars
from compat.laboratory.releases import CURRENT, OLD, find_release
from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm import jars as fetching


def test_the_cache_folder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("LEGACY_MM_CACHE", raising=False)
    assert jars.cache_folder() == tmp_path / "xdg" / "legacy_mm"
    monkeypatch.setenv("LEGACY_MM_CACHE", str(tmp_path / "own"))
    assert jars.cache_folder() == tmp_path / "own"


def test_a_folder_that_is_there_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEGACY_MM_CACHE", str(tmp_path))
    folder = jars.jars_folder(find_release(OLD))
    folder.mkdir(parents=True)
    assert jars.kafka_jars(OLD) == folder


def test_a_failed_fetch_says_what_to_do_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEGACY_MM_CACHE", str(tmp_path))
    monkeypatch.setattr(fetching, "find_java", lambda: Path("/bin/false"))
    with pytest.raises(HostError, match="run once with a network") as failure:
        jars.kafka_jars(CURRENT)
    assert "\n" not in str(failure.value)
    assert list((tmp_path / "kafka").iterdir()) == []


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEGACY_MM_CACHE", str(tmp_path / "file"))
    with pytest.raises(HostError, match="LEGACY_MM_CACHE"):
        jars.kafka_jars(CURRENT)


def test_an_unknown_release_is_refused() -> None:
    with pytest.raises(HostError, match=CURRENT):
        find_release("0.1")
