"""Explains a value that the legacy tool refuses: one line with file, line, key, allowed values and today's word.

It quotes a value only if the value is an old word.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients.properties_file import PropertiesFile
from legacy_mm.words.legacy_tool import zookeeper_files
from legacy_mm.words.legacy_tool.zookeeper_files import BOOTSTRAP_SERVERS, ZOOKEEPER_CONNECT

_WITHOUT_BROKERS = (
    (
        ZOOKEEPER_CONNECT,
        "is not read by this release; add the line bootstrap.servers=HOST:PORT to the file, or have the file read as "
        "it was: add --legacy.release 1.1 and --source.bootstrap.servers HOST:PORT",
    ),
    (
        zookeeper_files.BROKER_LIST,
        "is not read by this release; add the line bootstrap.servers with the same addresses to the file",
    ),
)
"""Hints for files that name their brokers in another way."""


_BYTE_ORDER_MARKS = ("\xef\xbb\xbf", "\xff\xfe", "\xfe\xff")
"""The marks of UTF-8 and UTF-16, in the letters that Java reads them as."""


@contextmanager
def blamed_on(file: PropertiesFile) -> Iterator[None]:
    """Add the line to an error about a property of this file."""
    try:
        yield
    except ConfigurationError as error:
        if error.property_name:
            error.add_note(_hint(error, file))
        raise


def _hint(error: ConfigurationError, file: PropertiesFile) -> str:
    name = error.property_name
    without_brokers = _without_brokers(file)
    if name == BOOTSTRAP_SERVERS and without_brokers:
        return without_brokers
    written = next((each for each in (name, *zookeeper_files.old_names(name)) if each in file.lines), "")
    if not written and any(each.startswith(_BYTE_ORDER_MARKS) for each in file.lines):
        return f"{file.path} begins with a byte order mark, which Java takes as letters: save it as UTF-8 without one."
    if not written:
        return f"{file.path}: {name} is not in the file."
    today = zookeeper_files.todays_word(name, file.properties[written])
    said = [f"must be {error.allowed}"] if error.allowed else []
    said += [f"{file.properties[written].strip()} is an old word for {today}"] if today else []
    others = [f"{other} (line {file.lines[other]})" for other in error.beside if other in file.lines]
    refused = " beside ".join(["is the property that is refused", *filter(None, [", ".join(others)])])
    hint = f"{file.place(written)}: {written} {'; '.join(said) or refused}."
    return f"{hint} {without_brokers}" if today and without_brokers else hint


def _without_brokers(file: PropertiesFile) -> str:
    """Return advice about a file that names its brokers only in another way."""
    if BOOTSTRAP_SERVERS not in file.lines:
        for other, text in _WITHOUT_BROKERS:
            if other in file.lines:
                return f"{file.place(other)}: {other} {text}."
    return ""
