"""The frame: what lies at the top, one home for metadata, scripts that any sh can read."""

from __future__ import annotations

import configparser
import fnmatch
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.structure.source_tree import CHECKOUT

FOLDERS = {"legacy_mm", "bin", "compat", "tests", "samples", "docs"}
FILES = {
    "setup.cfg",
    "pyproject.toml",
    "CHANGELOG.md",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "NOTICE",
    "SECURITY.md",
}
SCRIPTS = sorted((CHECKOUT / "bin").iterdir())
SAMPLES = sorted((CHECKOUT / "samples").rglob("*.sh"))


def top_level_violations(checkout: Path) -> list[str]:
    """Entries too many or too few; dot-files and what .gitignore names do not count."""
    ignored = [line.strip("/") for line in (checkout / ".gitignore").read_text().split()]
    present = {
        entry.name
        for entry in checkout.iterdir()
        if not entry.name.startswith(".") and not any(fnmatch.fnmatch(entry.name, pattern) for pattern in ignored)
    }
    expected = FOLDERS | FILES
    return [f"{name} does not belong at the top" for name in sorted(present - expected)] + [
        f"{name} is missing" for name in sorted(expected - present)
    ]


def pyproject_violations(text: str) -> list[str]:
    """Tables in pyproject.toml other than the one that pip needs."""
    tables = set(tomllib.loads(text)) - {"build-system"}
    return [f"[{table}] belongs into setup.cfg" for table in sorted(tables)]


def key_violations(text: str) -> list[str]:
    """Keys of setup.cfg that setuptools only takes with a warning."""
    parser = configparser.ConfigParser()
    parser.read_string(text)
    return [
        f"[{section}] {key}: write an underscore"
        for section in ("metadata", "options")
        for key in parser.options(section)
        if "-" in key
    ]


def script_violations(script: Path) -> list[str]:
    """Not executable, or not readable for sh."""
    found = [] if os.access(script, os.X_OK) else [f"{script.name} is not executable"]
    check = subprocess.run(["sh", "-n", script], capture_output=True, text=True, check=False)
    return found + ([f"{script.name}: {check.stderr}"] if check.returncode else [])


def test_the_top_level_is_exactly_this() -> None:
    assert not (found := top_level_violations(CHECKOUT)), "\n".join(found)


def test_pyproject_holds_the_build_system_only() -> None:
    assert pyproject_violations((CHECKOUT / "pyproject.toml").read_text()) == []


def test_setup_cfg_spells_keys_with_underscores() -> None:
    assert key_violations((CHECKOUT / "setup.cfg").read_text()) == []


def test_the_package_is_marked_as_typed() -> None:
    assert (CHECKOUT / "legacy_mm" / "py.typed").is_file()


@pytest.mark.parametrize("script", [*SCRIPTS, *SAMPLES], ids=lambda path: path.name)
def test_a_script_is_executable_and_plain_sh(script: Path) -> None:
    assert script.read_text().startswith("#!/bin/sh\n")
    assert script_violations(script) == []


def test_the_start_script_stays_short() -> None:
    assert len((CHECKOUT / "bin" / "kafka-mirror-maker.sh").read_text().splitlines()) <= 40


def test_a_wrong_top_level_is_found(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("/build/\n*.egg-info/\n")
    for name in (FOLDERS | FILES | {"build", "a.egg-info", ".hidden", "setup.py"}) - {"LICENSE"}:
        (tmp_path / name).mkdir()
    assert top_level_violations(tmp_path) == [
        "setup.py does not belong at the top",
        "LICENSE is missing",
    ]


def test_metadata_in_pyproject_is_found() -> None:
    assert len(pyproject_violations("[build-system]\n[project]\nname = 'x'\n[tool.ruff]\n")) == 2


def test_a_key_with_a_dash_is_found() -> None:
    assert len(key_violations("[metadata]\nlicense-files = x\n[options]\n")) == 1


def test_a_bad_script_is_found(tmp_path: Path) -> None:
    script = tmp_path / "bad"
    script.write_text("#!/bin/sh\nif true; then\n")
    assert len(script_violations(script)) == 2
