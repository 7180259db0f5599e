"""The archive for cluster workers holds what a copy task imports, and nothing of the user's."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from legacy_mm.protocol.kernels import WHY_UNCOMPILED
from legacy_mm.runtime.spark import shipping
from legacy_mm.runtime.spark.shipping import build_archive


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_archive(tmp_path_factory.mktemp("archive"), ["copy"])


@pytest.fixture(scope="module")
def names(archive: Path) -> set[str]:
    assert archive.name == f"legacy_mm-py{sys.version_info.major}{sys.version_info.minor}.zip"
    return set(zipfile.ZipFile(archive).namelist())


def test_it_has_this_package_and_its_client(names: set[str]) -> None:
    assert {
        "legacy_mm/__init__.py",
        "legacy_mm/assembly/copy_task.py",
        "legacy_mm/runtime/spark/worker_daemon.py",
    } <= names
    assert "legacy_mm/handlers/HandlerBridge.java" in names
    assert "confluent_kafka/__init__.py" in names
    assert any(name.startswith("confluent_kafka/cimpl") for name in names)
    assert any("librdkafka" in name for name in names), "the native library travels too"
    assert bool(WHY_UNCOMPILED) != any(name.startswith("legacy_mm/protocol/record_kernels.c") for name in names)


def test_it_has_nothing_else(names: set[str]) -> None:
    tops = {Path(name).parts[0].partition("-")[0].partition(".")[0] for name in names}
    assert tops == {"legacy_mm", "confluent_kafka", "kafka", "kafka_python", "crc32c", "cramjam"}


def test_it_is_small(archive: Path) -> None:
    assert archive.stat().st_size < 20 << 20


def test_what_is_shipped_is_enough_for_a_task() -> None:
    """It imports no distribution that does not travel; on this host all are there, so that nobody would notice."""
    program = """
import subprocess
import sys
from importlib.metadata import packages_distributions
class OnlyShipped:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in OTHERS:
            raise ImportError(f"{name} is not shipped")
SHIPPED = {"legacy-mm", "confluent-kafka", "kafka-python", "crc32c", "cramjam", "pyspark", "py4j"}
OTHERS = {top for top, owners in packages_distributions().items() if not SHIPPED & {each.lower() for each in owners}}
sys.meta_path.insert(0, OnlyShipped())
import legacy_mm.assembly.copy_task
assert "pyarrow" in OTHERS
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_files_without_a_time_travel_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Images and stores that are built the same twice have 1970 everywhere, or 1 s later."""
    file = tmp_path / "legacy_mm" / "runtime" / "spark" / "shipping.py"
    file.parent.mkdir(parents=True)
    file.touch()
    os.utime(file, (0, 0))
    monkeypatch.setattr(shipping, "__file__", str(file))
    assert "legacy_mm/runtime/spark/shipping.py" in zipfile.ZipFile(build_archive(tmp_path, ["copy"])).namelist()
