"""Message handlers for tests and for the bench: the samples, compiled. Rule: only compiles."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.jars import kafka_jars
from compat.laboratory.kept_folders import kept_folder, this_java
from compat.laboratory.releases import OLD
from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm.java_home import find_java

SAMPLES = CHECKOUT / "samples" / "handlers"
SOURCES = tuple(sorted((SAMPLES / "java" / "handlers").glob("*.java")))
COMPILE_TIMEOUT = 120.0


def compiled(sources: Sequence[Path], release: str = OLD) -> dict[str, Path]:
    """Return a kept jar for each of these sources, by its class's name. Raises HostError if there is no compiler."""
    javac = find_java().with_name("javac")
    if not javac.exists():
        raise HostError(f"handlers are compiled by a JDK, and {javac} is not there: set JAVA_HOME to one")
    jars = kafka_jars(release)

    def make(folder: Path) -> None:
        words = [str(javac), "-nowarn", "-cp", f"{jars}/*", "-d", str(folder), *map(str, sources)]
        subprocess.run(words, check=True, capture_output=True, timeout=COMPILE_TIMEOUT)
        for path in sorted(folder.rglob("*.class")):
            with zipfile.ZipFile(folder / f"{path.stem}.jar", "w") as jar:
                jar.write(path, str(path.relative_to(folder)))

    kept = kept_folder(f"handlers/{jars.name}", [Path(__file__), this_java(), *sources], make)
    return {path.stem: path for path in sorted(kept.glob("*.jar"))}
