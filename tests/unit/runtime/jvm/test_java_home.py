"""Which Java is taken, with stand-ins for old and broken ones."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm.java_home import find_java


def install(home: Path, version: str | None, release: str | None = None) -> Path:
    """A Java that answers to -version with this, and has this release file."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n" if version else "#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    if release:
        (home / "release").write_text(f'JAVA_VERSION="{release}"\n')
    return java


@pytest.fixture
def on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    java = install(tmp_path / "path", "21.0.2")
    monkeypatch.setenv("PATH", f"{java.parent}:/usr/bin:/bin")
    return java


@pytest.mark.parametrize(("version", "release"), [("17.0.1", None), ("25", None), ("21.0.2", "21.0.2")])
def test_java_home_is_taken(on_the_path: Path, tmp_path: Path, version: str | None, release: str | None) -> None:
    java = install(tmp_path / "home", version, release)
    assert find_java(str(tmp_path / "home")) == java


@pytest.mark.parametrize(
    ("version", "release"), [("1.8.0_302", None), ("11.0.2", "11.0.2"), (None, "21.0.2"), (None, None), ("x", None)]
)
def test_an_old_or_broken_java_home_is_passed_over_with_one_line(
    on_the_path: Path,
    tmp_path: Path,
    version: str | None,
    release: str | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    home = tmp_path / "home"
    install(home, version, release)
    assert find_java(str(home)) == on_the_path
    (line,) = caplog.records
    assert (line.levelno, str(home) in line.getMessage()) == (logging.WARNING, True)


def test_a_java_home_that_is_not_there_is_passed_over(on_the_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    assert find_java() == on_the_path


def test_no_java_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(HostError, match="no Java 17 or newer"):
        find_java("/nowhere")


def shim(folder: Path, home: Path) -> Path:
    """One program for many names, as jenv and mise have it: it looks at the one that it was started by."""
    folder.mkdir()
    program = folder / "shim"
    program.write_text(f'#!/bin/sh\n[ "${{0##*/}}" = java ] && exec {home}/bin/java "$@"\nexit 127\n')
    program.chmod(0o755)
    (folder / "java").symlink_to("shim")
    return folder


def wrapper(folder: Path, home: Path) -> Path:
    """A script that finds Java beside itself."""
    folder.mkdir()
    (folder / "home").symlink_to(home)
    (folder / "java").write_text('#!/bin/sh\nexec "$(dirname "$0")/home/bin/java" "$@"\n')
    (folder / "java").chmod(0o755)
    return folder


@pytest.mark.parametrize("make", [shim, wrapper])
def test_what_only_starts_java_leads_to_it(
    make: Callable[[Path, Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We start Java by a link of another name."""
    real = find_java()
    folder = make(tmp_path / "first", real.parent.parent)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert find_java() == real
