"""Folders whose making starts Java, kept beside the jars for later processes. Rule: a folder that is there is whole.

A folder belongs to the text of its recipe, so a changed recipe makes another one. Nobody writes into it: copy it.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from compat.laboratory.jars import cache_folder
from legacy_mm.runtime.jvm.jars import locked
from legacy_mm.runtime.jvm.java_home import find_java


def kept_folder(name: str, recipe: Iterable[str | Path], make: Callable[[Path], None]) -> Path:
    """Return the folder of this recipe; where it is not kept yet, one process lets `make` fill it.

    A recipe is all that the content depends on: texts, and files whose content counts.
    """
    digest = hashlib.sha256()
    for part in recipe:
        digest.update(hashlib.sha256(part.read_bytes() if isinstance(part, Path) else part.encode()).digest())
    kept = cache_folder() / f"{name}-{digest.hexdigest()[:16]}"
    if kept.is_dir():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with locked(kept.with_name(f"{kept.name}.lock")), tempfile.TemporaryDirectory(dir=kept.parent) as beside:
        if not kept.is_dir():  # another process may have made it while we waited
            new = Path(beside) / kept.name
            new.mkdir()
            make(new)
            new.rename(kept)
    return kept


def this_java() -> str:
    """Return what tells this Java from another one: where its classes are, and since when."""
    modules = find_java().resolve().parent.parent / "lib" / "modules"
    return f"{modules} {modules.stat().st_mtime if modules.exists() else 0}"
