"""The archive of Spark's classes: one per Java and pyspark, used by a JVM that it fits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from legacy_mm.runtime.jvm import class_archive
from legacy_mm.runtime.jvm.class_archive import core_jars, other_jars, path_for
from legacy_mm.runtime.jvm.java_home import find_java

GATEWAY = "org.apache.spark.api.python.PythonGatewayServer"


def test_the_archive_that_setup_has_written_is_taken(tmp_path: Path) -> None:
    java = find_java()
    options = class_archive.options(java, ())
    if not options:
        pytest.skip("no archive here: bin/setup writes one")
    for jars in (core_jars(), [*core_jars(), *other_jars()]):  # and with the user's classes behind these
        path = ":".join(map(str, jars))
        command = [str(java), *options, "-Xshare:on", "-Xlog:class+load", "-cp", path, GATEWAY]
        environment = {**os.environ, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(tmp_path / "gateway")}
        told = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, check=True, timeout=60
        ).stdout
        assert f"{GATEWAY} source: shared objects file (top)" in told


@pytest.mark.parametrize("option", ["-Xshare:off", "-XX:SharedArchiveFile=/mine.jsa", "-XX:ArchiveClassesAtExit=/x"])
def test_the_user_s_own_wish_holds(option: str) -> None:
    assert class_archive.options(find_java(), ["-Xmx1g", option]) == []


def test_another_java_has_no_archive(tmp_path: Path) -> None:
    other = tmp_path / "bin" / "java"
    other.parent.mkdir()
    other.touch()
    assert class_archive.options(other, ()) == []


def test_a_layer_of_an_image_keeps_whole_seconds(tmp_path: Path) -> None:
    modules = tmp_path / "lib" / "modules"
    modules.parent.mkdir()
    modules.touch()
    java = tmp_path / "bin" / "java"
    found = []
    for seconds in (5.9, 5.0, 6.0):
        os.utime(modules, (0, seconds))
        found.append(path_for(java))
    assert found[0] == found[1] != found[2]
