"""Spark's jars on the class path of the driver's JVM: first those that it needs, then the others where they are wanted.

Java opens each jar of its class path and keeps its table of contents: those of Spark SQL, Hive and the cluster managers
would cost 11 MB. The jar that binds slf4j to log4j would cost 0.4 s: log4j starts slowly, and nobody reads its
lines. An archive of classes stays valid as long as the class path begins as the archive's does.
"""

from __future__ import annotations

import re
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


def core_jars() -> list[Path]:
    """Return the jars for a driver that logs nothing, with tasks of Python on this host. Raises HostError."""
    return [jar for jar in _all() if not _NOT_OF_THE_CORE.match(jar.name)]


def other_jars() -> list[Path]:
    """Return the rest: for Spark SQL, cluster masters and logging, and beside the user's classes. Raises HostError."""
    return [jar for jar in _all() if _NOT_OF_THE_CORE.match(jar.name)]


def _all() -> list[Path]:
    return sorted(Path(pyspark_jars()).parent.glob("*.jar"))
