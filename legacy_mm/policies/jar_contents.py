"""The contents of a Java class path: folders of classes, and jars."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from zipfile import BadZipFile, ZipFile


def has_class(class_path: Iterable[str], name: str) -> bool:
    """Return whether a folder or jar of it has the class of this name."""
    file = name.replace(".", "/") + ".class"
    return any(_holds(Path(entry), file) for entry in class_path)


def _holds(entry: Path, file: str) -> bool:
    if entry.is_dir():
        return (entry / file).exists()
    try:
        with ZipFile(entry) as jar:
            return file in jar.NameToInfo
    except (OSError, BadZipFile):
        return False
