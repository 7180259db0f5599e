"""The command line of `connect-mirror-maker.sh`: a file, the targets of this node, and options of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from legacy_mm.base.errors import UsageError
from legacy_mm.words.legacy_tool.java_process import MIRROR_MAKER_2

SCRIPTS = ("connect-mirror-maker.sh", "connect-mirror-maker")
USAGE = "usage: connect-mirror-maker [-h] [--clusters CLUSTER [CLUSTER ...]] mm2.properties\n"
HELP = f"""{USAGE}
MirrorMaker 2.0 driver

positional arguments:
  mm2.properties         MM2 configuration file.

named arguments:
  -h, --help             show this help message and exit
  --clusters CLUSTER [CLUSTER ...]
                         Target cluster to use for this node.
"""
BAD_WORDS = 255
"""The driver's exit code for a command line that it cannot read."""
_CLUSTERS = "--clusters"


@dataclass(frozen=True, slots=True)
class DriverLine:
    """The words of the driver's command line."""

    file: str
    clusters: tuple[str, ...]
    own_words: tuple[str, ...]
    """Options of ours, which the driver does not have."""
    help: bool = False


def split_call(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split a line into the driver's script or class with the words before it, and its arguments."""
    for position, word in enumerate(words):
        if PurePath(word).name in SCRIPTS or word == MIRROR_MAKER_2:
            arguments = words[position + 1 :]
            return words[: position + 1], arguments[1:] if arguments[:1] == ["-daemon"] else arguments
    return (), words


def is_driver(words: Sequence[str]) -> bool:
    """Return True for a command line of MirrorMaker 2's driver."""
    return bool(split_call(words)[0])


def parse(argv: Sequence[str]) -> DriverLine:
    """Read the words as the driver's option library does; raises UsageError.

    `--clusters` takes words up to the next option, the file among them if it stands there.
    """
    if any(word in ("-h", "--help") for word in argv):
        return DriverLine("", (), (), help=True)
    files: list[str] = []
    clusters: list[str] = []
    own: list[str] = []
    words = list(argv)
    while words:
        word = words.pop(0)
        if word == _CLUSTERS or word.startswith(f"{_CLUSTERS}="):
            clusters = [word.partition("=")[2]] if "=" in word else []
            while words and not words[0].startswith("-"):
                clusters.append(words.pop(0))
            if not clusters:
                raise _refused(f"argument {_CLUSTERS}: expected at least one argument")
        elif word.startswith("--"):
            own.append(word)
            if "=" not in word and words and not words[0].startswith("--"):
                own.append(words.pop(0))
        elif word.startswith("-") and word != "-":
            raise _refused(f"unrecognized arguments: '{word}'")
        else:
            files.append(word)
    if not files:
        raise _refused("too few arguments")
    if len(files) > 1:
        raise _refused(f"unrecognized arguments: '{' '.join(files[1:])}'")
    return DriverLine(files[0], tuple(clusters), tuple(own))


def _refused(why: str) -> UsageError:
    return UsageError(f"{USAGE}connect-mirror-maker: error: {why}")
