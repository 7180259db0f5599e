"""MirrorMaker 2's own file, given to a command that copies from one source to one target: recognised as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from legacy_mm.base.errors import ConfigurationError
from legacy_mm.words.java_clients import properties_file
from legacy_mm.words.java_clients.properties_file import PropertyEntry

_SERVERS = ".bootstrap.servers"
_CLIENTS = ("consumer", "producer", "admin", "source.admin", "target.admin", "remote.admin", "librdkafka")
"""Prefixes of a client's servers that are not the alias of a cluster."""
_CONNECTOR = "org.apache.kafka.connect.mirror.Mirror"
_STRIMZI = "KafkaMirrorMaker2"
_JSON = " \t\",'"
"""Letters around a name or a text of the JSON that Kafka Connect is sent, or of YAML, read as properties."""
_DRIVERS = ("a file of MirrorMaker 2", "connect-mirror-maker.sh runs this one as it is")
_OTHERS = (
    ("connector.class", "a connector of MirrorMaker 2", "legacy-mm connect runs it, behind the file of its worker"),
    ("kind", "a resource of Strimzi for MirrorMaker 2", "connect-mirror-maker.sh runs a file with the same clusters"),
)
_LONGEST = 1_000_000


def named_in(words: Iterable[str]) -> Iterator[str]:
    """Yield a message for each of these words that is, or holds, the path of such a file."""
    paths = dict.fromkeys(text for word in words for text in (word, word.partition("=")[2]) if text)
    for path in paths:
        with suppress(OSError, ValueError, ConfigurationError):
            file = Path(path)
            if file.is_file() and file.stat().st_size < _LONGEST:
                yield from filter(None, [about(path, properties_file.load_entries(path))])


def about(path: str, entries: Iterable[PropertyEntry]) -> str:
    """Return the one line; empty for any other file."""
    sign = next((each for each in entries if _is_sign(each)), None)
    if sign is None:
        return ""
    name, _ = _words(sign)
    what, instead = next((row[1:] for row in _OTHERS if row[0] == name), _DRIVERS)
    return (
        f"{path} is {what} (line {sign.line}: {name}): this command copies from one source to one target, by a "
        f"consumer file and a producer file; {instead} (docs/how-to/dedicated.md)"
    )


def _words(entry: PropertyEntry) -> tuple[str, str]:
    return entry.name.strip(_JSON), entry.text.strip().strip(_JSON)


def _is_sign(entry: PropertyEntry) -> bool:
    name, text = _words(entry)
    if name == "clusters" or "->" in name:
        return True
    if name == "connector.class":
        return text.startswith(_CONNECTOR)
    if name == "kind":
        return text == _STRIMZI
    return name.endswith(_SERVERS) and name.removesuffix(_SERVERS) not in _CLIENTS
