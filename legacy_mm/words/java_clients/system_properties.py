"""Java's system properties: those that every JVM has, and those that `-D` words set."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def system_properties(options: Iterable[str]) -> dict[str, str]:
    """Return the properties of a JVM with these options, as far as files may refer to them.

    Of two the later one counts.
    """
    name, home = _user()
    found = {
        "user.name": name,
        "user.home": home,
        "user.dir": _folder(),
        "java.io.tmpdir": "/tmp",  # noqa: S108 - Java's own default
        "file.separator": "/",
    }
    for option in options:
        if option.startswith("-D"):
            name, _, value = option.removeprefix("-D").partition("=")
            found[name] = value
    return found


def _user() -> tuple[str, str]:
    """Name and home out of the user database, which Java asks before $HOME; a container's user may not be in it."""
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return "?", os.environ.get("HOME", "?")
    return entry.pw_name, entry.pw_dir


def _folder() -> str:
    with suppress(FileNotFoundError):  # it was removed
        return str(Path.cwd())
    return "?"
