"""The files with a handler's code, held open: what a new process runs is what the mirror began with.

Each copy job with a handler has a process of its own, which opens the jars and the script again. In the legacy tool
they are opened once. So a file that was removed meanwhile, or replaced by another release of it, is made again from
what is held. Folders are not held.
"""

from __future__ import annotations

import os
import shutil
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from legacy_mm.config.settings import HandlerSettings
from legacy_mm.handlers.loader import script_of


class HeldCode:
    """The jars and the script of one handler."""

    def __init__(self, settings: HandlerSettings, folder: Path) -> None:
        """Open the files; `folder` is a private one for what must be made again, and may be removed at any time."""
        self._settings = settings
        self._folder = folder
        self._lock = threading.Lock()
        script = script_of(settings.name)
        self._files = dict(_opened([*settings.class_path, *([script] if script else [])]))
        weakref.finalize(self, _close, list(self._files.values()))

    def settings(self) -> HandlerSettings:
        """Return the settings for a process that begins now, with paths at which the files are that were opened."""
        given = self._settings
        name, script = given.name, script_of(given.name)
        with self._lock:
            if script:
                name = name.replace(script, self._path(script), 1)
            return replace(given, name=name, class_path=[self._path(path) for path in given.class_path])

    def _path(self, path: str) -> str:
        held = self._files.get(path)
        if held is None or _is_at(path, held):
            return path
        made = self._folder / str(held) / Path(path).name
        if not made.exists():
            made.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished = made.with_suffix(".part")
            os.lseek(held, 0, os.SEEK_SET)
            with open(held, "rb", closefd=False) as code, unfinished.open("wb") as copy:  # noqa: PTH123 - it has no path
                shutil.copyfileobj(code, copy)
            unfinished.rename(made)
        return str(made)


def _opened(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    for path in dict.fromkeys(paths):
        with suppress(OSError):  # who needs it says so
            if Path(path).is_file():
                yield path, os.open(path, os.O_RDONLY)


def _close(files: Iterable[int]) -> None:
    for held in files:
        os.close(held)


def _is_at(path: str, held: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(held))  # noqa: PTH116 - beside what is no path
    except OSError:
        return False
