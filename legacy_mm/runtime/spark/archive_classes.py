"""Make later starts quick: the archive of Spark's classes for the Java in use, and our Java sources compiled.

`python -m legacy_mm.runtime.spark.archive_classes` writes both.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from legacy_mm.base.clock import Deadline
from legacy_mm.base.settings import JvmSettings, SparkSettings
from legacy_mm.handlers.bridge_signatures import CONNECT_SIGNATURES, SIGNATURES
from legacy_mm.handlers.java_source import BY_ARGUMENTS, source, transform_source
from legacy_mm.policies.compiled_java import path_for as compiled_path
from legacy_mm.runtime.jvm import compile_ahead, mbeans
from legacy_mm.runtime.jvm.class_archive import path_for
from legacy_mm.runtime.jvm.gateway import Jvm
from legacy_mm.runtime.jvm.java_home import find_java
from legacy_mm.runtime.jvm.mbeans import MBeans
from legacy_mm.runtime.spark.runner import one_element
from legacy_mm.runtime.spark.session import SparkHost, java_when_asked

_WRITING_TIMEOUT = 120.0


def write() -> Path:
    """Write what is missing, and return the archive's path. Raise HostError, OSError."""
    with java_when_asked(JvmSettings()) as java:
        _compile(java)
    return _archive()


def _compile(java: Callable[[], Jvm]) -> None:
    """Compile our Java sources; Java is not started where all jars are there."""
    bridges = ((source(count), SIGNATURES[count]) for count in BY_ARGUMENTS)
    sources = [(mbeans.source(), ()), *bridges, (transform_source(), CONNECT_SIGNATURES)]
    for text, signatures in sources:
        if not compiled_path(text).exists():
            compile_ahead.write(java(), text, signatures)


def _archive() -> Path:
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
            MBeans(host.jvm).publish({"legacy_mm:type=any": [("count", "double", "Double", 1.0)]})
        finally:
            host.stop(Deadline.after(_WRITING_TIMEOUT))
        new.replace(path)
    return path


if __name__ == "__main__":
    write()
