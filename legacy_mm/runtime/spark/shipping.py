"""The archive that carries this package and its wheels to the workers of a cluster master.

A worker then needs only Java and the same Python minor version. What is shipped: this package, the distributions that
its tasks import, and a handler's code. Nothing else out of the user's folders, which may hold secrets.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, PackagePath, distribution
from pathlib import Path
from typing import Literal

from legacy_mm.base.errors import HostError

ShippedWork = Literal["copy", "verify", "java"]
"""Copy tasks, those of a comparison, or a Java handler's part in them."""
UNPACKED = "legacy_mm_env"
"""The folder of a worker's task in which the archive is unpacked."""
_SHIPPED: dict[ShippedWork, tuple[str, ...]] = {
    "copy": ("confluent-kafka", "kafka-python", "crc32c", "cramjam"),
    "verify": ("confluent-kafka", "pyarrow"),
    "java": ("jpype1", "packaging"),
}
_OURS = (".py", ".so", ".java")
_CODE = {".py", ".class"}
_UNUSED = {("pyarrow", "tests"), ("pyarrow", "include")}
"""Folders of distributions that no task needs."""


def build_archive(folder: Path, works: Sequence[ShippedWork], code: Mapping[str, Path] = {}) -> Path:
    """Write the archive for such tasks into the folder; its name tells the Python version it is for.

    `code`: name in the archive -> file, or folder of which modules and classes are taken. Raises HostError.
    """
    archive = folder / f"legacy_mm-py{sys.version_info.major}{sys.version_info.minor}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as bundle:
        for path, name in _files(works):
            bundle.write(path, name)
        for name, path in code.items():
            for file in _code(path):
                bundle.write(file, str(Path(name) / file.relative_to(path)))
    return archive


def _files(works: Sequence[ShippedWork]) -> Iterator[tuple[Path, str]]:
    package = Path(__file__).resolve().parents[2]
    for path in sorted(path for suffix in _OURS for path in package.rglob(f"*{suffix}")):
        yield path, str(path.relative_to(package.parent))
    for name in (name for work in works for name in _SHIPPED[work]):
        for file in _distributed(name):
            path = Path(str(file.locate()))
            if path.is_file() and not str(file).startswith("..") and file.parts[:2] not in _UNUSED:
                yield path, str(file)


def _distributed(name: str) -> Sequence[PackagePath]:
    try:
        return distribution(name).files or ()
    except PackageNotFoundError:
        raise HostError(f"{name} is not installed, and would have to travel to the workers") from None


def _code(path: Path) -> list[Path]:
    try:
        found = sorted(file for file in path.rglob("*") if file.suffix in _CODE and file.is_file())
    except OSError as error:
        raise HostError(f"{path} would have to travel to the workers, and cannot be read: {error}") from error
    return [path] if path.is_file() else found
