"""A copy of the checkout in which one file is another. Rule: all but that file are links, so a copy takes milliseconds.

Commands, copy tasks and pytest run in the copy as in a checkout: it has a virtual environment of its own, whose only
difference is where `legacy_mm` is.
"""

from __future__ import annotations

import sys
from pathlib import Path

from compat.laboratory.checkout import CHECKOUT

_NOT_COPIED = {".git", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
_FINDER = "__editable__"
"""The beginning of the names of setuptools' files that lead to this checkout."""


def plant(copy: Path, file: str, text: str) -> Path:
    """Make the copy in a new folder, with this text in `file`; return its Python."""
    copy.mkdir(parents=True)
    _link_all(CHECKOUT, copy, {".venv", Path(file).parts[0], "bin"})
    _copy_commands(copy / "bin")
    _open_path(copy, Path(file))
    planted = copy / file
    planted.write_text(text, encoding="utf-8")
    for compiled in planted.parent.glob(f"{planted.stem}.*.so"):
        compiled.unlink()
    return _make_environment(copy)


def _link_all(source: Path, copy: Path, left_out: set[str]) -> None:
    for entry in source.iterdir():
        if entry.name not in left_out and entry.name not in _NOT_COPIED:
            (copy / entry.name).symlink_to(entry)


def _copy_commands(copy: Path) -> None:
    """Copy the start scripts: they look for what is beside the file that a link leads to."""
    copy.mkdir()
    for script in (CHECKOUT / "bin").iterdir():
        (copy / script.name).write_bytes(script.read_bytes())
        (copy / script.name).chmod(0o755)


def _open_path(copy: Path, file: Path) -> None:
    """Make real folders down to the file, of links to all that is beside it."""
    for parent, below in zip(reversed(file.parents[:-1]), file.parts[1:], strict=True):
        (copy / parent).mkdir()
        _link_all(CHECKOUT / parent, copy / parent, {below})


def _make_environment(copy: Path) -> Path:
    ours, theirs = copy / ".venv", CHECKOUT / ".venv"
    packages = Path("lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")
    (ours / packages).mkdir(parents=True)
    for name in ("pyvenv.cfg", "share", ".setup-stamp"):
        (ours / name).symlink_to(theirs / name)
    for folder in ("bin", "libexec"):
        (ours / folder).mkdir()
    (ours / "bin" / "python").symlink_to((theirs / "bin" / "python").resolve())
    (ours / "libexec" / "java").symlink_to("../bin/python")
    for entry in (theirs / packages).iterdir():
        if not entry.name.startswith(_FINDER):
            (ours / packages / entry.name).symlink_to(entry)
    (ours / packages / "planted.pth").write_text(f"{copy}\n", encoding="utf-8")
    return ours / "bin" / "python"
