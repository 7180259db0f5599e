"""The archive that carries this package and its wheels to the workers of a cluster master.

A worker then needs only Java and the same Python minor version. What is shipped: this package and the distributions
that its tasks import. No file of the user's and no secret is in it.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Literal

Work = Literal["records", "batches", "verify"]
"""An engine's copy tasks, or those of a comparison."""
_SHIPPED: dict[Work, tuple[str, ...]] = {
    "records": ("confluent-kafka",),
    "batches": ("confluent-kafka", "kafka-python", "crc32c", "cramjam", "numpy", "numba", "llvmlite"),
    "verify": ("confluent-kafka", "pyarrow"),
}
_UNUSED = {("pyarrow", "tests"), ("pyarrow", "include")}
"""Folders of distributions that no task needs."""


def build_archive(folder: Path, work: Work) -> Path:
    """Write the archive for such tasks into the folder; its name tells the Python version it is for."""
    archive = folder / f"legacy_mm-py{sys.version_info.major}{sys.version_info.minor}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as bundle:
        for path, name in _files(_SHIPPED[work]):
            bundle.write(path, name)
    return archive


def _files(shipped: Iterable[str]) -> Iterator[tuple[Path, str]]:
    package = Path(__file__).resolve().parents[1]
    for path in sorted(package.rglob("*.py")):
        yield path, str(path.relative_to(package.parent))
    for name in shipped:
        for file in distribution(name).files or ():
            path = Path(str(file.locate()))
            if path.is_file() and not str(file).startswith("..") and file.parts[:2] not in _UNUSED:
                yield path, str(file)
