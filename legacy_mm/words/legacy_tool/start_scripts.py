"""Our start scripts in the `bin` of a Kafka, in place of the old ones, and back again.

What is put there is a few lines that become the script of this installation. The original is kept beside it under
`KEPT`; no original is ever written over, and each step can be repeated after a break. `kafka-run-class.sh` starts
brokers too, so it is replaced only where it is asked for, and what it hands on never needs this installation.
"""

from __future__ import annotations

import filecmp
import itertools
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path, PurePath

from legacy_mm.base.errors import HostError

KEPT = ".before-legacy_mm"
SUFFIXES = (".sh", "")
_MARK = "# Put here by `legacy-mm install`"
_MIRROR_MAKER, _DRIVER, _RUN_CLASS = "kafka-mirror-maker", "connect-mirror-maker", "kafka-run-class"
_SHIPPED = f"{_MIRROR_MAKER}.sh"
_CLASS = "kafka.tools.MirrorMaker"
JARS = ("libs", "share/java/kafka")
"""Folders of jars in a Kafka of Apache's and of Confluent's; the script below asks for them, too."""
_SCRIPT = """\
#!/bin/sh
{mark}. `legacy-mm uninstall --kafka-home DIR` takes it away again.
#
# The script that was here before, if there was one, is kept beside it:
#
#     {name}{kept}
#
# {what}
#
# It may be copied and linked to under other names: it contains the path of legacy_mm, and looks up its own path.
# LEGACY_MM_KAFKA_HOME is the Kafka with other classes and jars, such as those of message handlers.
#
# Image builds and roles patch Kafka's script by line number: line 16 was, and is, before the first command.
#
#

here=$(CDPATH='' cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd -P) || exit 1
home=$(dirname -- "$here")
if [ -z "${{LEGACY_MM_KAFKA_HOME-}}" ] && {{ [ -d "$home/libs" ] || [ -d "$home/share/java/kafka" ]; }}; then
    LEGACY_MM_KAFKA_HOME=$home
    export LEGACY_MM_KAFKA_HOME
fi
{command}
"""
_MIRROR = """exec {ours} "$@"
"""
_EITHER = """for word; do
    if [ "$word" = {class_name} ]; then
        exec {ours} "$@"
    fi
done
exec "$here/{name}{kept}" "$@"
"""


def shipped() -> Path:
    """Return the folder of our scripts: the checkout's `bin`, else that of the installation; raise HostError."""
    checkout = Path(__file__).resolve().parents[3]
    # setup.cfg: a folder called bin beside site-packages need not be ours.
    if (checkout / "setup.cfg").is_file() and (checkout / "bin" / _SHIPPED).is_file():
        return checkout / "bin"
    for file in _installed_files():
        if file.match(_SHIPPED) and (path := Path(str(file.locate())).resolve()).is_file():
            return path.parent
    raise HostError(f"{_SHIPPED} is neither in {checkout / 'bin'} nor installed: install legacy-mm again")


def _installed_files() -> list[metadata.PackagePath]:
    try:
        return metadata.files("legacy-mm") or []
    except metadata.PackageNotFoundError:
        return []


def home_of(script: str, path: str | None) -> str:
    """Return the Kafka that a script of ours would set at this place, or be found at by PATH; empty if none."""
    if PurePath(script).name.removesuffix(".sh") not in (_MIRROR_MAKER, _DRIVER, _RUN_CLASS):
        return ""
    home = Path(os.path.realpath(shutil.which(script, path=path) or script)).parents[1:2]
    return next((str(each) for each in home if any((each / jars).is_dir() for jars in JARS)), "")


def install(kafka_home: Path, ours: Path, *, run_class: bool, driver: bool = False) -> Iterator[str]:
    """Install the scripts of the folder `ours`; yield each action as a line. Raises HostError.

    `driver`: also the one of MirrorMaker 2's dedicated mode.
    """
    folder, suffixes = _bin_of(kafka_home)
    if folder.resolve() == ours.resolve():
        raise HostError(f"{folder} is where legacy_mm itself is: name the folder of a Kafka")
    for suffix in suffixes:
        path = folder / f"{_MIRROR_MAKER}{suffix}"
        yield from _put(path, _text(path.name, "It starts the mirror.", _MIRROR, ours / f"{_MIRROR_MAKER}.sh"))
        path = folder / f"{_DRIVER}{suffix}"
        if driver or _is_ours(path):
            what = "It runs the flows of MirrorMaker 2's file."
            yield from _put(path, _text(path.name, what, _MIRROR, ours / f"{_DRIVER}.sh"))
        path = folder / f"{_RUN_CLASS}{suffix}"
        if run_class or _is_ours(path):
            what = f"It starts the mirror for {_CLASS}, and the script kept beside it for every other class."
            yield from _put(path, _text(path.name, what, _EITHER, ours / f"{_RUN_CLASS}.sh"))


def uninstall(kafka_home: Path) -> Iterator[str]:
    """Restore the original scripts; yield each action as a line. Raises HostError."""
    folder, _ = _bin_of(kafka_home)
    for name in (f"{base}{suffix}" for base in (_RUN_CLASS, _DRIVER, _MIRROR_MAKER) for suffix in SUFFIXES):
        yield from _take_away(folder / name, needed=name.startswith(_RUN_CLASS))


def _bin_of(kafka_home: Path) -> tuple[Path, list[str]]:
    """Return the folder, and how its scripts end: `.sh` as in Apache's archives, nothing as in packages of vendors."""
    folder = kafka_home / "bin"
    if not folder.is_dir():
        raise HostError(f"{kafka_home} is not a Kafka: it has no folder bin")
    suffixes = [suffix for suffix in SUFFIXES if os.path.lexists(folder / f"{_RUN_CLASS}{suffix}")]
    if not suffixes:
        raise HostError(f"{folder} is not the bin folder of a Kafka: it has no {_RUN_CLASS}.sh")
    if not os.access(folder, os.W_OK):
        raise HostError(f"cannot write to {folder}: run it as the user who owns it")
    return folder, suffixes


def _text(name: str, what: str, command: str, script: Path) -> str:
    words = {"name": name, "kept": KEPT, "class_name": _CLASS, "ours": shlex.quote(str(script))}
    return _SCRIPT.format(mark=_MARK, what=what, command=command.format(**words).rstrip("\n"), **words)


def _put(path: Path, text: str) -> Iterator[str]:
    kept = _kept(path)
    if _is_ours(path):
        if path.read_text(encoding="utf-8") == text:
            yield f"{path}: is ours already"
            return
        done = "ours renewed"
    elif os.path.lexists(path):
        if os.path.lexists(kept) and not _same(path, kept):
            older = next(each for each in _numbered(kept) if not os.path.lexists(each))
            _attempt(lambda: kept.rename(older))
            yield f"{older}: the original of an earlier install, which Kafka has replaced since"
        if not os.path.lexists(kept):
            _attempt(lambda: _keep(path, kept))
        done = f"ours now, the original is kept as {kept.name}"
    else:
        done = "ours now, there was none before" if not os.path.lexists(kept) else f"ours again, beside {kept.name}"
    _attempt(lambda: _write(path, text))
    yield f"{path}: {done}"


def _take_away(path: Path, *, needed: bool) -> Iterator[str]:
    kept = _kept(path)
    there, original = os.path.lexists(path), os.path.lexists(kept)
    if there and not _is_ours(path):
        if original:
            yield f"{path}: is not ours, Kafka was upgraded since; left as it is, and {kept.name} beside it"
    elif original:
        _attempt(lambda: kept.replace(path))
        yield f"{path}: the original again"
    elif there and needed:
        raise HostError(f"{path} is ours, but {kept.name} is gone: put Kafka's own script there")
    elif there:
        _attempt(path.unlink)
        yield f"{path}: removed, there was none before"


def _is_ours(path: Path) -> bool:
    try:
        return path.is_file() and f"\n{_MARK}".encode() in path.read_bytes()[:200]
    except OSError as error:
        raise HostError(f"cannot read {path}: {error.strerror}") from error


def _same(path: Path, kept: Path) -> bool:
    """Return True if two originals are the same; files that cannot be compared count as different."""
    try:
        return filecmp.cmp(path, kept, shallow=False)
    except OSError:
        return False


def _kept(path: Path) -> Path:
    return path.with_name(path.name + KEPT)


def _numbered(kept: Path) -> Iterator[Path]:
    return (kept.with_name(f"{kept.name}.{number}") for number in itertools.count(1))


def _keep(path: Path, kept: Path) -> None:
    """Keep the original under a second name, so that the first is never missing.

    Rename it if hard links are unsupported.
    """
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError:
        path.rename(kept)


def _write(path: Path, text: str) -> None:
    """Write the script completely or not at all, also for a process that starts it at this moment."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        new.chmod(0o755)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _attempt(step: Callable[[], object]) -> None:
    try:
        step()
    except OSError as error:
        raise HostError(f"{error.filename}: {error.strerror}") from error
