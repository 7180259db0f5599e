r"""Java properties files; the one door to jproperties.

jproperties differs from `java.util.Properties` where lines are joined (`key \` + newline + `=
value`), in comments of the form `#:` (it keeps them as metadata, and may refuse them), in `\u`
escapes (it takes `\u+041`) and in lone surrogates (it refuses them). So the text is made plain
first: one logical line per property, joined as Java joins, without comments, and every `\u`
checked. What `\`, `=`, `:` and blanks mean is left to jproperties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import jproperties

from legacy_mm.base.errors import ConfigurationError

_ENCODING = "iso-8859-1"
"""Encoding of a stream in Java; a reader has its own."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = " \t\f"
_ESCAPE = re.compile(
    r"""\\(?:
        u(?P<pair>[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})
        | u(?P<digits>.{0,4})
        | .
    )""",
    re.DOTALL | re.VERBOSE,
)
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_SURROGATES = range(0xD800, 0xE000)


class MalformedFile(ConfigurationError):
    """The text is no properties file."""


class PropertyEntry(NamedTuple):
    """One property with its line in the file."""

    line: int
    """The first line of it, counted from 1."""
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class PropertiesFile:
    """The properties of a file, and the line of each."""

    path: str = ""
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    lines: Mapping[str, int] = field(default_factory=dict)

    def place(self, name: str) -> str:
        """Return `consumer.properties:7`; empty for a property that is not in the file."""
        return f"{self.path}:{self.lines[name]}" if name in self.lines else ""

    def entries(self) -> list[PropertyEntry]:
        """Return the entries that count."""
        return [PropertyEntry(self.lines[name], name, text) for name, text in self.properties.items()]


@dataclass(frozen=True, slots=True)
class FileErrors:
    """Java's messages for a file that it cannot read; `{}` is the path."""

    missing: str
    directory: str
    denied: str
    empty_path: str
    """An empty path names the working directory, but not for every class of Java's."""


STREAM_ERRORS = FileErrors(
    missing="java.io.FileNotFoundException: {} (No such file or directory)",
    directory="java.io.FileNotFoundException: {} (Is a directory)",
    denied="java.io.FileNotFoundException: {} (Permission denied)",
    empty_path="java.io.FileNotFoundException:  (No such file or directory)",
)
"""Up to 2.0."""
PATH_ERRORS = FileErrors(
    missing="java.nio.file.NoSuchFileException: {}",
    directory="java.io.IOException: Is a directory",
    denied="java.nio.file.AccessDeniedException: {}",
    empty_path="java.io.IOException: Is a directory",
)


def load(path: str, errors: FileErrors = PATH_ERRORS) -> PropertiesFile:
    """Load a file with the last value of each property; raises ConfigurationError with the legacy tool's words."""
    entries = load_entries(path, errors)
    return PropertiesFile(path, _last_ones(entries), {entry.name: entry.line for entry in entries})


def loads(content: bytes, encoding: str = _ENCODING) -> dict[str, str]:
    """Parse a file's bytes; raises UnicodeDecodeError if they are not of the encoding."""
    return _last_ones(parse(content, encoding))


def load_entries(path: str, errors: FileErrors = PATH_ERRORS) -> list[PropertyEntry]:
    """Load a file with line numbers, and with entries that a later one of the same name replaces."""
    if not path:
        raise _unreadable(errors.empty_path, "a file has an empty name: name a file")
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise _unreadable(errors.missing.format(path), f"{path}: no such file{_in_folder(path)}") from None
    except IsADirectoryError:
        raise _unreadable(errors.directory.format(path), f"{path} is a folder: name a file") from None
    except PermissionError:
        raise _unreadable(errors.denied.format(path), f"{path}: this user may not read it") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise _unreadable(f"java.nio.file.FileSystemException: {path}: {reason}", f"{path}: {reason}") from None
    try:
        return parse(content)
    except MalformedFile as error:
        error.add_note(f"The file is {path}.")
        raise


def _in_folder(path: str) -> str:
    if not Path(path).is_absolute():
        with suppress(OSError):  # the folder itself is gone
            return f" in {Path.cwd()}"
    return ""


def _unreadable(words: str, plain: str) -> ConfigurationError:
    error = ConfigurationError(words)
    error.plain = plain
    return error


def parse(content: bytes, encoding: str = _ENCODING) -> list[PropertyEntry]:
    """Parse every entry of a file's bytes, in order."""
    entries = []
    for number, line in _logical_lines(content.decode(encoding)):
        reader = jproperties.Properties()
        try:
            reader.load(_plain(line))
        except jproperties.PropertyError as error:
            raise MalformedFile(f"java.lang.IllegalArgumentException: {error}") from None
        entries += [PropertyEntry(number, name, text) for name, text in reader.properties.items()]
    return entries


def _last_ones(entries: list[PropertyEntry]) -> dict[str, str]:
    return {entry.name: entry.text for entry in entries}


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Join lines at their backslashes, with the number of the first; comments and blank lines are left out."""
    joined, first = "", 0
    continued = False
    for number, line in enumerate(_LINE_END.split(text), 1):
        line = line.lstrip(_BLANK)
        if not joined and line[:1] in ("", "#", "!"):
            continued = continued and not line
            continue
        first = first if joined else number
        joined += line
        # an odd number of backslashes: the last one is not escaped itself
        continued = (len(joined) - len(joined.rstrip("\\"))) % 2 == 1
        if continued:
            joined = joined[:-1]
        elif joined:
            yield first, joined
            joined = ""
    # Java makes a property of a lone backslash at the very end
    if joined or (continued and text.endswith(("\\", "\\\n", "\\\r"))):
        yield first, joined


def _plain(line: str) -> str:
    """Return a logical line that jproperties reads as Java does."""
    plain = _ESCAPE.sub(_checked, line) or "="
    return "\\" + plain if plain[0] in "#!" else plain


def _checked(escape: re.Match[str]) -> str:
    digits = escape["digits"]
    if digits is None:
        return escape.group()
    if not _HEX.fullmatch(digits):
        raise MalformedFile("java.lang.IllegalArgumentException: Malformed \\uxxxx encoding.")
    # half a surrogate pair cannot be written as UTF-8: Java's clients send a question mark
    return "?" if int(digits, 16) in _SURROGATES else escape.group()
