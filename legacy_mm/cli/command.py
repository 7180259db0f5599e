"""The module of a command gives its options and its function, and is given its parsed words and a mirror's line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

from legacy_mm.base.errors import UsageError
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.words.legacy_tool.legacy_options import ROWS
from legacy_mm.words.options.meant import meant

if TYPE_CHECKING:
    from legacy_mm.cli.mirror_line import MirrorLine

BEFORE_THE_LINE = "put -- before the command line of the mirror"
_UNKNOWN = "unrecognized arguments: "
"""The beginning of what argparse says of words that it does not know."""
_FLOW = "flow"
_OF_A_MIRROR = {f"--{row.option.name}" for row in ROWS} - {"--help", "--version"}


def unknown_word(word: str, kind: str, probably: str) -> str:
    """Return what is said of a word that is no option, or no command, with the one that was probably meant."""
    return f"{word} is no {kind}" + (f": {probably} was probably meant" if probably else "")


def add_flow_option(parser: argparse.ArgumentParser) -> None:
    """Add the option by which `CommandCall.line` knows which of several flows is meant."""
    parser.add_argument(f"--{_FLOW}", metavar="A->B", help="the flow that is meant, of several in MirrorMaker 2's file")


class CommandParser(argparse.ArgumentParser):
    """Parses a command's own words; wrong ones are a UsageError, because argparse's code 2 has a meaning here."""

    def error(self, message: str) -> NoReturn:
        raise UsageError("\n".join([message, *self._hints(message), self.format_usage().rstrip()]))

    def refuse_unknown(self, words: Sequence[str]) -> None:
        """Raise UsageError if there are such words."""
        if words:
            self.error(f"{_UNKNOWN}{' '.join(words)}")

    def _hints(self, message: str) -> Iterator[str]:
        """Yield what was probably meant by each unknown option."""
        if not message.startswith(_UNKNOWN):
            return
        names = [word.partition("=")[0] for word in message.removeprefix(_UNKNOWN).split() if word.startswith("-")]
        if any(name in _OF_A_MIRROR for name in names):
            yield BEFORE_THE_LINE
        for name in names:
            if probably := meant(name, self.options()):
                yield unknown_word(name, "option", probably)

    def options(self) -> Iterator[str]:
        """Yield the options of this command, and of those below it."""
        for action in self._actions:
            yield from action.option_strings
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    yield from command.options()


class CommandCall:
    """A command's options, and the command line of a mirror that stands behind `--`."""

    def __init__(self, options: argparse.Namespace, line: Sequence[str], refuse: Callable[[str], NoReturn]) -> None:
        """Take what was parsed; `refuse` raises UsageError with a message and the usage of the command."""
        self.options = options
        self.refuse = refuse
        self._line = line

    @cached_property
    def line(self) -> MirrorLine:
        """The command line of a mirror; empty if there is none."""
        from legacy_mm.cli.mirror_line import MirrorLine  # some commands need nothing of what reads a line

        return MirrorLine(self._line, vars(self.options).get(_FLOW) or "")


@dataclass(frozen=True, slots=True)
class CommandBody:
    """The part of a command that its module gives: its options and its function."""

    add_options: Callable[[CommandParser], None]
    run: Callable[[CommandCall], int]
    """Returns the exit code; its LegacyMMErrors are printed."""
    as_mirror: bool = False
    """True if an error ends the command with the code that a mirror would end with."""
    wrong_words: int = ExitCode.FAILED
    """The exit code for words that the command does not take."""
