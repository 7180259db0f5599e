"""Folders with all jars of a Kafka release, fetched once per user. Rule: a folder that exists is complete.

Spark's own Ivy does the fetching, so neither Maven nor a download of our own is needed. Order:
(1) take the file lock, (2) fetch into a temporary folder beside the final one, (3) rename it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm.java_home import find_java, pyspark_jars

FETCH_TIMEOUT = 900  # 45 s were measured; slow networks may take 15 minutes
JAR_PATTERN = "[artifact]-[revision](-[classifier]).[ext]"


class Release(Protocol):
    """The files to fetch for one Kafka release."""

    @property
    def version(self) -> str:
        """Such as 3.9.1."""

    @property
    def artefacts(self) -> tuple[str, ...]:
        """`organisation:name:revision` each, Kafka's own first."""


class _Pinned(NamedTuple):
    version: str
    artefacts: tuple[str, ...]


LAST_MIRROR_MAKER = _Pinned(
    "3.9.1",
    (
        "org.apache.kafka:kafka_2.13:3.9.1",
        "ch.qos.reload4j:reload4j:1.2.25",  # the release archive has both; the pom does not ask
        "org.slf4j:slf4j-reload4j:1.7.36",
    ),
)
"""The last release that has `kafka.tools.MirrorMaker`, with the interfaces of handlers and listeners."""

LAST_CONNECT = _Pinned(
    "3.9.1-connect",
    ("org.apache.kafka:connect-mirror:3.9.1", "org.slf4j:slf4j-nop:1.7.36"),
)
"""The same release's Kafka Connect with its transforms, which the jars of the other row lack."""


def cache_folder() -> Path:
    """Return `$LEGACY_MM_CACHE`, else `$XDG_CACHE_HOME/legacy_mm`, else `~/.cache/legacy_mm`."""
    if named := os.environ.get("LEGACY_MM_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "legacy_mm"


def kafka_jars(row: Release) -> Path:
    """Return the folder with every jar of a release; fetch them at the first call of a user.

    Raise HostError, one line with the remedy, when it is missing and cannot be fetched.
    """
    folder = jars_folder(row)
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # One lock for all releases: Ivy's cache itself is not safe for two writers.
        with locked(cache_folder() / "fetch.lock"):
            if not folder.is_dir():  # another process may have fetched it while we waited
                _fetch(row, folder)
    except OSError as error:
        raise HostError(
            f"cannot write to {cache_folder()} ({error.strerror}): name another folder in LEGACY_MM_CACHE"
        ) from error
    return folder


def jars_folder(row: Release) -> Path:
    """Return the folder for the jars of a row; the digest makes a changed row a different folder."""
    digest = hashlib.sha256("\n".join(row.artefacts).encode()).hexdigest()[:8]
    return cache_folder() / "kafka" / f"{row.version}-{digest}"


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of this file, which is made: one process at a time is in the block."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fetch(row: Release, folder: Path) -> None:
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        modules = temporary / "ivy.xml"
        modules.write_text(_ivy_modules(row), encoding="utf-8")
        jars = temporary / "jars"
        output = _run_ivy(row, modules, jars)
        _, name, revision = row.artefacts[0].split(":")
        if not (jars / f"{name}-{revision}.jar").is_file():
            raise _cannot_fetch(row, output)
        jars.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _run_ivy(row: Release, modules: Path, jars: Path) -> str:
    home = cache_folder() / "ivy"
    command = [
        str(find_java()),
        f"-Divy.home={home}",
        f"-Divy.default.ivy.user.dir={home}",
        *("-cp", pyspark_jars(), "org.apache.ivy.Main"),
        *("-ivy", str(modules), "-cache", str(home / "cache")),
        *("-confs", "default", "-m2compatible"),
        *("-retrieve", f"{jars}/{JAR_PATTERN}"),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=FETCH_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise _cannot_fetch(row, f"no answer within {FETCH_TIMEOUT} s") from error
    output = done.stdout + done.stderr
    if done.returncode != 0:
        raise _cannot_fetch(row, output)
    return output


def _ivy_modules(row: Release) -> str:
    lines = []
    for artefact in row.artefacts:
        organisation, name, revision = artefact.split(":")
        lines.append(f'<dependency org="{organisation}" name="{name}" rev="{revision}" conf="default->default"/>')
    return (
        '<ivy-module version="2.0"><info organisation="legacy_mm" module="testbed"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{''.join(lines)}</dependencies></ivy-module>"
    )


def _cannot_fetch(row: Release, output: str) -> HostError:
    signs = (
        "Exception",
        "not found",
        "Unknown",
        "no answer",
        "refused",
        "timed out",
        "Server access",
    )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if any(sign in line for sign in signs)]
    reason = (telling or lines or ["Ivy said nothing"])[0][:200]
    return HostError(
        f"Kafka {row.version} could not be fetched from Maven Central ({reason}): run once with a network, "
        f"or put its jars into {jars_folder(row)}"
    )
