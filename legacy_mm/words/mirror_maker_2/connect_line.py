"""The words of `legacy-mm connect` and `connect-standalone.sh`: a worker's file and files of connectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from legacy_mm.base.errors import UsageError

SCRIPTS = ("connect-standalone.sh", "connect-standalone")
USAGE = "usage: legacy-mm connect WORKER.properties CONNECTOR.properties|CONNECTOR.json ... [OPTIONS OF OURS]"
_COMMAND, _WORD = "legacy-mm", "connect"


@dataclass(frozen=True, slots=True)
class ConnectLine:
    """The files of one command, and options of ours."""

    worker: str
    connectors: tuple[str, ...]
    own_words: tuple[str, ...]


def parse(argv: Sequence[str]) -> ConnectLine:
    """Read the words; raises UsageError unless there is a worker's file and one of a connector."""
    words = list(argv)
    at = next((position for position, word in enumerate(words) if word.startswith("-")), len(words))
    files, own = words[:at], words[at:]
    if len(files) < 2:
        raise UsageError(f"{USAGE}\nlegacy-mm connect: name the worker's file and at least one of a connector")
    return ConnectLine(files[0], tuple(files[1:]), tuple(own))


def split_call(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split a line into the command with the words before it, and its arguments."""
    for position, word in enumerate(words):
        name = PurePath(word).name
        if name in SCRIPTS:
            return words[: position + 1], words[position + 1 :]
        if name == _COMMAND and list(words[position + 1 : position + 2]) == [_WORD]:
            return words[: position + 2], words[position + 2 :]
    return (), words


def is_connect(words: Sequence[str]) -> bool:
    """Return True for a command line of Connect's standalone worker."""
    return bool(split_call(words)[0])
