"""Archives of the classes that a broker loads (class data sharing): its JVM is up in half the time.

An archive belongs to one Java and one folder of jars. A JVM that finds any difference starts without it, in silence.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from compat.laboratory.jars import cache_folder, jars_folder
from compat.laboratory.kept_folders import this_java
from compat.laboratory.releases import Release
from legacy_mm.runtime.jvm.jars import locked

_SILENT = ("-Xlog:disable", "-Xlog:all=error:stderr")


class ClassArchive:
    """The archive for one program of a release."""

    def __init__(self, release: Release, program: str) -> None:
        digest = hashlib.sha256(this_java().encode()).hexdigest()[:8]
        self._path = cache_folder() / "classes" / f"{jars_folder(release).name}-{program}-{digest}.jsa"

    def options(self) -> list[str]:
        """Return the options for a JVM: none while there is no archive."""
        return [f"-XX:SharedArchiveFile={self._path}", *_SILENT] if self._path.exists() else []

    def write(self, run: Callable[[str], None]) -> None:
        """Write it, if it is missing: `run` runs the program with this option, and ends it by SIGTERM."""
        if self._path.exists():
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._path.with_suffix(".lock")), tempfile.TemporaryDirectory(dir=self._path.parent) as folder:
            if not self._path.exists():
                new = Path(folder) / self._path.name
                run(f"-XX:ArchiveClassesAtExit={new}")
                new.replace(self._path)
