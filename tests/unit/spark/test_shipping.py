"""The archive for cluster workers holds what a copy task imports, and nothing of the user's."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from legacy_mm.spark.shipping import build_archive


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    archive = build_archive(tmp_path_factory.mktemp("archive"), "records")
    assert archive.name == f"legacy_mm-py{sys.version_info.major}{sys.version_info.minor}.zip"
    return set(zipfile.ZipFile(archive).namelist())


def test_it_has_this_package_and_its_client(names: set[str]) -> None:
    assert {"legacy_mm/__init__.py", "legacy_mm/dataplane/task.py", "legacy_mm/spark/worker_daemon.py"} <= names
    assert "confluent_kafka/__init__.py" in names
    assert any(name.startswith("confluent_kafka/cimpl") for name in names)
    assert any("librdkafka" in name for name in names), "the native library travels too"


def test_it_has_nothing_else(names: set[str]) -> None:
    tops = {Path(name).parts[0].partition("-")[0].partition(".")[0] for name in names}
    assert tops == {"legacy_mm", "confluent_kafka"}
