"""Spark's classes as Java keeps them for a quick start (class data sharing): half of the start of the JVM.

The archive belongs to one Java and one pyspark; a JVM that finds any difference starts without it. `bin/setup` writes
it, and `python -m legacy_mm.runtime.spark.archive_classes` does where the package was installed by pip.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from legacy_mm.runtime.jvm.java_home import pyspark_jars
from legacy_mm.runtime.jvm.spark_jars import core_jars

_SILENT = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_OF_USERS = ("-XX:SharedArchive", "-XX:ArchiveClasses", "-Xshare")


def options(java: Path, given: Sequence[str]) -> list[str]:
    """Return the JVM options that use the archive of this Java, unless the user's options name one."""
    path = path_for(java)
    if not path.exists() or any(option.startswith(_OF_USERS) for option in given):
        return []
    return [f"-XX:SharedArchiveFile={path}", *_SILENT]


def path_for(java: Path) -> Path:
    """Return the path of this Java's archive, which may be missing. Times count in whole seconds, as the JVM
    compares them and as the layers of an image keep them.
    """
    parts = (java.resolve().parent.parent / "lib" / "modules", Path(pyspark_jars()).parent)
    known = hashlib.sha256(" ".join(jar.name for jar in core_jars()).encode())
    for part in parts:
        written = int(part.stat().st_mtime) if part.exists() else 0
        known.update(f"{part} {written}\n".encode())
    return Path(sys.prefix) / "share" / "legacy_mm" / f"spark-classes-{known.hexdigest()[:16]}.jsa"
