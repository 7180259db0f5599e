"""Write the archive of Spark's classes for the Java in use: `python -m legacy_mm.spark.archive_classes`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from legacy_mm.clock import Deadline
from legacy_mm.config.settings import JvmSettings, SparkSettings
from legacy_mm.jvm.class_archive import path_for
from legacy_mm.jvm.java_home import find_java
from legacy_mm.spark.runner import one_element
from legacy_mm.spark.session import SparkHost

_WRITING_TIMEOUT = 120.0


def write() -> Path:
    """Run Spark once, unless the archive is there, and keep the classes it used (ten seconds). HostError, OSError."""
    path = path_for(find_java())
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        new = Path(folder) / path.name
        settings = SparkSettings(jvm=JvmSettings(options=(f"-XX:ArchiveClassesAtExit={new}", "-Xlog:disable")))
        host = SparkHost(settings, streams=1)
        try:
            one_element(host.context(), 0).count()
            host.jvm.topic_matcher(".*").matching(["any"])
        finally:
            host.stop(Deadline.after(_WRITING_TIMEOUT))
        new.replace(path)
    return path


if __name__ == "__main__":
    write()
