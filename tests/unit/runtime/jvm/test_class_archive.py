"""The jars that a quiet driver opens: enough for Spark's core, whatever the release calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from legacy_mm.runtime.jvm import class_archive
from legacy_mm.runtime.jvm.class_archive import core_jars, other_jars


def test_they_are_all_of_pysparks_jars_once() -> None:
    core, others = core_jars(), other_jars()
    assert sorted([*core, *others]) == sorted(core[0].parent.glob("*.jar"))
    assert not set(core) & set(others)
    assert sum(jar.stat().st_size for jar in others) > sum(jar.stat().st_size for jar in core)


@pytest.mark.parametrize(
    ("name", "core"),
    [
        ("spark-core_2.13-4.0.0.jar", True),
        ("scala-library-2.13.16.jar", True),
        ("hadoop-client-runtime-3.4.1.jar", True),
        ("netty-transport-4.1.118.Final.jar", True),
        ("slf4j-api-2.0.16.jar", True),
        ("log4j-core-2.24.3.jar", True),
        ("a-library-of-tomorrow-1.0.jar", True),
        ("spark-sql_2.13-4.0.0.jar", False),
        ("spark-sql-api_2.13-4.0.0.jar", False),
        ("hive-exec-2.3.10-core.jar", False),
        ("log4j-slf4j2-impl-2.24.3.jar", False),
        ("netty-tcnative-boringssl-static-2.0.70.Final-linux-x86_64.jar", False),
    ],
)
def test_names_decide(tmp_path: Path, name: str, core: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_archive, "pyspark_jars", lambda: str(tmp_path / "*"))
    (tmp_path / name).touch()
    assert core_jars() == ([tmp_path / name] if core else [])
    assert other_jars() == ([] if core else [tmp_path / name])
