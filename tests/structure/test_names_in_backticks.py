"""A word in backticks that names a file or module of ours exists: `a/b.py`, `b.py`, `clients.net.login`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.source_tree import CHECKOUT

_QUOTED = re.compile(r"`([\w./*-]+)`")
_FILE = re.compile(r"[\w./-]+\.py")
_EXAMPLE = re.compile(r"(^|/)(test_)?[a-z]\.py$")
_DOTTED = re.compile(r"[a-z_]\w*(\.\w+)+")
PLACES = ("legacy_mm", "compat/laboratory", "tests", "docs", "samples")
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "compat/README.md", "setup.cfg")
OF_USERS = {"handlers.py", "my_handlers.py", "path.py", "script.py", "policy.py", "your_policy.py"}
"""Files that users have."""
OUTSIDE = {"compat", "tests"}
"""Packages of the checkout beside the product's."""
PROPERTIES = {"client", "metrics"}
"""Packages of ours with which properties of Kafka's clients begin."""


def texts(checkout: Path) -> Iterator[Path]:
    """The files whose words are looked at; a decision that was withdrawn may name what is gone."""
    for place in PLACES:
        for path in sorted((checkout / place).rglob("*")):
            if path.suffix in (".py", ".md") and "withdrawn" not in path.read_text(encoding="utf-8")[:400]:
                yield path
    yield from (checkout / page for page in PAGES if (checkout / page).exists())


def unknown(checkout: Path, path: Path, files: set[str], packages: set[str]) -> Iterator[str]:
    """Words of one file that look like a file or a module of ours and are none."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for word in _QUOTED.findall(line):
            if not _EXAMPLE.search(word) and not _is_there(checkout, path, word, files, packages):
                yield f"{path.relative_to(checkout)}:{number}: {word}"


def _is_there(checkout: Path, path: Path, word: str, files: set[str], packages: set[str]) -> bool:
    """Return True for what is a file or a module, or does not look like one."""
    if _FILE.fullmatch(word):
        return _is_file(checkout, path, word, files)
    return not _DOTTED.fullmatch(word) or _is_module(checkout, word, packages)


def _is_file(checkout: Path, path: Path, word: str, files: set[str]) -> bool:
    if "/" not in word:
        return word in files or word in OF_USERS
    return any((root / word).exists() for root in (checkout, checkout / "legacy_mm", checkout / "tests", path.parent))


def _is_module(checkout: Path, word: str, packages: set[str]) -> bool:
    """Return True for a module, a name in one, and anything whose first part is no package of ours."""
    parts = word.removeprefix("legacy_mm.").split(".")
    if parts[0] in OUTSIDE:
        return _resolves(checkout, parts)
    if parts[0] not in packages - PROPERTIES:
        at_home = checkout / "legacy_mm" / parts[0]
        return not word.startswith("legacy_mm.") or at_home.is_dir() or at_home.with_suffix(".py").exists()
    return _resolves(checkout / "legacy_mm", parts)


def _resolves(place: Path, parts: list[str]) -> bool:
    """Return True if these lead to a package, a module, or a name in a module."""
    for at, part in enumerate(parts):
        if (place / part).is_dir():
            place /= part
        elif (module := place / f"{part}.py").exists():
            return all(name in module.read_text(encoding="utf-8") for name in parts[at + 1 :])
        else:
            return False
    return True


def found(checkout: Path) -> list[str]:
    """All of them."""
    paths = [path for place in ("legacy_mm", "compat", "tests", "samples") for path in (checkout / place).rglob("*.py")]
    files = {path.name for path in paths}
    packages = {path.parent.name for path in (checkout / "legacy_mm").glob("*/__init__.py")}
    return [each for path in texts(checkout) for each in unknown(checkout, path, files, packages)]


@pytest.mark.parametrize(
    ("word", "is_there"),
    [
        ("flow/mirror.py", True),
        ("mirror.py", True),
        ("flow.mirror", True),
        ("flow.mirror.Mirror", True),
        ("legacy_mm.flow", True),
        ("flow/gone.py", False),
        ("gone.py", False),
        ("flow.gone", False),
        ("flow.mirror.Gone", False),
        ("legacy_mm.gone", False),
        ("compat.gone", False),
        ("group.instance.id", True),
        ("metrics.num.samples", True),
    ],
)
def test_what_is_not_there_is_found(tmp_path: Path, word: str, is_there: bool) -> None:
    for path, text in {
        "legacy_mm/flow/__init__.py": "",
        "legacy_mm/flow/mirror.py": "class Mirror: ...",
        "legacy_mm/metrics/__init__.py": "",
        "docs/page.md": f"See `{word}`.",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert found(tmp_path) == ([] if is_there else [f"docs/page.md:1: {word}"])


def test_what_stands_in_backticks_is_there() -> None:
    assert not (wrong := found(CHECKOUT)), "\n".join(wrong)
