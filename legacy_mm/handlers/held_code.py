"""The files with a handler's code, held open: what a new process runs is what the mirror began with.

Each copy job with a handler has a process of its own, which opens the jars, folders and the script again. In the legacy
tool jars are opened once. So a file that was removed meanwhile, or replaced by another release of it, is made again
from what is held. A folder is held as a copy in memory, unless it has more than `MOST_FILES` files or `MOST_BYTES`.
"""

from __future__ import annotations

import os
import shutil
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO
from zipfile import ZipFile

from legacy_mm.base.settings import HandlerSettings
from legacy_mm.handlers.loader import script_of

MOST_FILES, MOST_BYTES = 1_000, 32 << 20
"""A larger folder is not held: it holds more than a handler, and would be looked through at each rebalance."""


class HeldCode:
    """The jars, the folders and the script of one handler."""

    def __init__(self, settings: HandlerSettings, folder: Path) -> None:
        """Open the files; `folder` is a private one for what must be made again, and may be removed at any time."""
        self._settings = settings
        self._folder = folder
        self._lock = threading.Lock()
        script = script_of(settings.name)
        self._held = dict(_opened([*settings.class_path, *([script] if script else [])]))
        weakref.finalize(self, _close, [held.file for held in self._held.values()])

    def settings(self) -> HandlerSettings:
        """Return the settings for a process that begins now, with paths at which the files are that were opened."""
        given = self._settings
        name, script = given.name, script_of(given.name)
        with self._lock:
            if script:
                name = name.replace(script, self._path(script), 1)
            return replace(given, name=name, class_path=[self._path(path) for path in given.class_path])

    def _path(self, path: str) -> str:
        held = self._held.get(path)
        if held is None or held.is_at(Path(path)):
            return path
        made = self._folder / str(held.number) / Path(path).name
        if not held.was_made_at(made):
            made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            held.make(made)
        return str(made)


class _HeldFile:
    """One file, by its descriptor."""

    def __init__(self, path: Path) -> None:
        """Open the file; raises OSError."""
        self.file = path.open("rb")
        self.number = self.file.fileno()

    def is_at(self, path: Path) -> bool:
        """Return True if the file of this path is the one that was opened."""
        with suppress(OSError):
            return os.path.samestat(path.stat(), os.fstat(self.number))
        return False

    def was_made_at(self, path: Path) -> bool:
        """Return True if it was made there, and was not removed since."""
        return path.exists()

    def make(self, path: Path) -> None:
        """Write the content there."""
        unfinished = path.with_suffix(".part")
        self.file.seek(0)
        with unfinished.open("wb") as copy:
            shutil.copyfileobj(self.file, copy)
        unfinished.rename(path)


class _HeldFolder:
    """The files of one folder, as a jar in memory."""

    def __init__(self, path: Path, files: Mapping[str, os.stat_result]) -> None:
        """Copy the files of the folder; raises OSError."""
        self._files = files
        self.file = os.fdopen(os.memfd_create("classes"), "w+b")
        self.number = self.file.fileno()
        with ZipFile(self.file, "w") as jar:
            for name in files:
                jar.writestr(name, (path / name).read_bytes())

    def is_at(self, path: Path) -> bool:
        """Return True if all the files are at their places, and none is another one."""
        with suppress(OSError):
            return all(_same(known, (path / name).stat()) for name, known in self._files.items())
        return False

    def was_made_at(self, path: Path) -> bool:
        """Return True if it was made there, and nothing was removed since."""
        return all((path / name).exists() for name in self._files)

    def make(self, path: Path) -> None:
        """Write the files there."""
        with ZipFile(self.file) as jar:
            jar.extractall(path)


def _opened(paths: Iterable[str]) -> Iterator[tuple[str, _HeldFile | _HeldFolder]]:
    for each in dict.fromkeys(paths):
        path = Path(each)
        with suppress(OSError):  # who needs it says so
            if path.is_file():
                yield each, _HeldFile(path)
            elif path.is_dir() and (files := _files_of(path)):
                yield each, _HeldFolder(path, files)


def _close(files: Iterable[IO[bytes]]) -> None:
    for held in files:
        held.close()


def _files_of(folder: Path) -> dict[str, os.stat_result]:
    """Return the files of a folder by their paths in it; none if they are too many."""
    found: dict[str, os.stat_result] = {}
    size = 0
    for parent, _, names in os.walk(folder):
        for path in (Path(parent, name) for name in names):
            if path.is_file():
                known = found[str(path.relative_to(folder))] = path.stat()
                size += known.st_size
        if len(found) > MOST_FILES or size > MOST_BYTES:
            return {}
    return found


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return os.path.samestat(one, other) and (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
