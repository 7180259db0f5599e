"""The words of `legacy-mm connect`, `connect-standalone.sh` and `connect-distributed.sh`: a worker's file and files of
connectors, or resources of Strimzi.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from legacy_mm.base.errors import UsageError
from legacy_mm.words.mirror_maker_2.strimzi_files import is_resource

SCRIPTS = ("connect-standalone.sh", "connect-standalone")
DISTRIBUTED_SCRIPTS = ("connect-distributed.sh", "connect-distributed")
DISTRIBUTED = "--distributed"
SECRETS_DIR = "--secrets.dir"
USAGE = (
    "usage: legacy-mm connect WORKER.properties CONNECTOR.properties|CONNECTOR.json ... [OPTIONS OF OURS]\n"
    f"       legacy-mm connect {DISTRIBUTED} WORKER.properties [OPTIONS OF OURS]\n"
    f"       legacy-mm connect KAFKAMIRRORMAKER2.yaml ... [{SECRETS_DIR} FOLDER] [OPTIONS OF OURS]"
)
_COMMAND, _WORD = "legacy-mm", "connect"


@dataclass(frozen=True, slots=True)
class ConnectLine:
    """The files of one command, and options of ours."""

    worker: str
    connectors: tuple[str, ...]
    own_words: tuple[str, ...]
    resources: tuple[str, ...] = ()
    """Files of Strimzi, which stand for a worker's file and its connectors."""
    secrets_dir: str = ""
    """The folder that has a folder for each Secret of Kubernetes; empty if the words name none."""
    distributed: bool = False
    """True: the connectors are those of the worker's topic of configurations."""


def parse(argv: Sequence[str]) -> ConnectLine:
    """Read the words; raises UsageError unless there is a worker's file, or a resource."""
    distributed = DISTRIBUTED in argv
    words = [word for word in argv if word != DISTRIBUTED]
    at = next((position for position, word in enumerate(words) if word.startswith("-")), len(words))
    files, (secrets_dir, own) = words[:at], _secrets_dir(words[at:])
    resources = tuple(word for word in files if is_resource(word))
    if resources and len(resources) < len(files):
        raise UsageError(f"{USAGE}\nlegacy-mm connect: name files of Connect, or {', '.join(resources)} alone")
    if resources:
        return ConnectLine("", (), own, resources, secrets_dir)
    if not files:
        raise UsageError(f"{USAGE}\nlegacy-mm connect: name the worker's file")
    if distributed and len(files) > 1:
        raise UsageError(
            f"{USAGE}\nlegacy-mm connect: with {DISTRIBUTED} the connectors are those of config.storage.topic: send "
            f"{', '.join(files[1:])} to the admin port instead"
        )
    return ConnectLine(files[0], tuple(files[1:]), own, secrets_dir=secrets_dir, distributed=distributed)


def _secrets_dir(words: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Split the folder of the Secrets from the other options; raises UsageError without a folder."""
    folder, others, left = "", [], iter(words)
    for word in left:
        name, joined, text = word.partition("=")
        if name != SECRETS_DIR:
            others.append(word)
        elif not (folder := text if joined else next(left, "")):
            raise UsageError(f"{USAGE}\nlegacy-mm connect: {SECRETS_DIR} needs a folder")
    return folder, tuple(others)


def split_call(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split a line into the command with the words before it, and its arguments."""
    for position, word in enumerate(words):
        name = PurePath(word).name
        if name in SCRIPTS:
            return words[: position + 1], words[position + 1 :]
        if name in DISTRIBUTED_SCRIPTS:
            return words[: position + 1], (DISTRIBUTED, *words[position + 1 :])
        if name == _COMMAND and list(words[position + 1 : position + 2]) == [_WORD]:
            return words[: position + 2], words[position + 2 :]
    return (), words


def is_connect(words: Sequence[str]) -> bool:
    """Return True for a command line of Connect's workers, and for the name of a resource alone."""
    return bool(split_call(words)[0]) or any(map(is_resource, words[:1]))
