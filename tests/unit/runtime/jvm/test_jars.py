"""Jars of Kafka: where they are kept, and a fetch that fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.runtime.jvm import jars


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEGACY_MM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert jars.cache_folder() == tmp_path / "legacy_mm"
    monkeypatch.setenv("LEGACY_MM_CACHE", str(tmp_path / "own"))
    assert jars.cache_folder() == tmp_path / "own"
