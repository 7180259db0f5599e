"""Spark's classes as Java keeps them for a quick start (class data sharing): half of the start of the JVM.

The archive belongs to one Java and one pyspark; a JVM that finds any difference starts without it. `bin/setup` writes
it, and `python -m legacy_mm.runtime.spark.archive_classes` does where the package was installed by pip.

The order of Spark's jars on the class path is here, too: first those that the driver needs.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from legacy_mm.runtime.jvm.java_home import pyspark_jars

_NOT_OF_THE_CORE = re.compile(
    r"""(?:
        spark-(?:catalyst|connect|graphx|hive|hive-thriftserver|kubernetes|mllib|mllib-local|pipelines|repl|sql|sql-api
               |streaming|variant|yarn)_
      | (?:arrow|curator|datanucleus|datasketches|hive|hk2|jersey|jjwt|kubernetes|orc|parquet|vertx|volcano)-
      | (?:derby|zookeeper)
      | (?:HikariCP|JLargeArrays|JTransforms|ST4|antlr-runtime|antlr4-runtime|arpack|arpack_combined_all|blas|lapack
          |icu4j|javolution|jaxb-core|jaxb-runtime|jdo-api|jpam|jta|libfb303|libthrift|opencsv|super-csv|tink)-
      | (?:algebra|breeze|breeze-macros|cats-kernel|connect-repl|spire|spire-macros|spire-platform|spire-util)_
      | (?:commons-math3|leveldbjni-all|rocksdbjni|scala-compiler|univocity-parsers)-
      | log4j-(?:layout-template-json|slf4j2-impl)-
      | netty-(?:codec-dns|codec-http|codec-http2|codec-socks|resolver-dns|tcnative\S*)-
    )""",
    re.VERBOSE,
)
"""Beginnings of names; a jar that nobody has seen yet stays."""

WITHOUT_LOGGERS = (
    "-Dlog4j2.loggerContextFactory=org.apache.logging.log4j.simple.SimpleLoggerContextFactory",
    "-Dorg.apache.logging.log4j.simplelog.level=OFF",
)
"""Options for a JVM with these jars alone: libraries that ask log4j itself get a logger that starts at once."""
_SILENT = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")
_OF_USERS = ("-XX:SharedArchive", "-XX:ArchiveClasses", "-Xshare")


def core_jars() -> list[Path]:
    """Return the jars for a driver that logs nothing, with tasks of Python on this host. Raises HostError."""
    return [jar for jar in _all() if not _NOT_OF_THE_CORE.match(jar.name)]


def other_jars() -> list[Path]:
    """Return the rest: for Spark SQL, cluster masters and logging, and beside the user's classes. Raises HostError."""
    return [jar for jar in _all() if _NOT_OF_THE_CORE.match(jar.name)]


def _all() -> list[Path]:
    return sorted(Path(pyspark_jars()).parent.glob("*.jar"))


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
