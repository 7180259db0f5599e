"""The one argument tree of `legacy-mm`: words in; the options of a command, and what else it needs, out.

The tree has a branch for each row of `cli/commands.py`. Only the branch that is taken has its options, because those
of the others would import all commands.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from legacy_mm.cli.command import BEFORE_THE_LINE, CommandBody, CommandCall, CommandParser
from legacy_mm.cli.commands import COMMANDS, CommandRow, Needs
from legacy_mm.cli.exit_code import ExitCode, reported

PROGRAM = "legacy-mm"
_HELP = {"-h", "--help"}


def run_command(name: str, words: Sequence[str]) -> int:
    """Run the command of this name with these words and return its exit code; an error is printed."""
    row = COMMANDS[name]
    body = row.load()
    tree, branch = _argument_tree(row, body)

    def run() -> int:
        try:
            call = _call(row.needs, tree, branch, [name, *words])
        except SystemExit:  # argparse has printed the help
            return ExitCode.DONE
        return int(body.run(call))

    return reported(run, as_mirror=body.as_mirror, wrong_words=body.wrong_words)


def _argument_tree(chosen: CommandRow, body: CommandBody) -> tuple[CommandParser, CommandParser]:
    """Return the tree of all commands, and its branch that has its options."""
    tree = CommandParser(prog=PROGRAM, add_help=False, allow_abbrev=False)
    commands = tree.add_subparsers(prog=PROGRAM)
    branches = {
        row: commands.add_parser(row.name, help=row.help, allow_abbrev=False, add_help=row is chosen)
        for row in COMMANDS.values()
    }
    body.add_options(branches[chosen])
    return tree, branches[chosen]


def _call(needs: Needs, tree: CommandParser, branch: CommandParser, words: Sequence[str]) -> CommandCall:
    """Parse the words, the first of which is the command; raises UsageError."""
    if needs is Needs.OWN_WORDS:
        return CommandCall(argparse.Namespace(words=words[1:]), (), branch.error)
    end = words.index("--") if "--" in words else len(words)
    own, line = words[:end], words[end + 1 :]
    if needs is Needs.DASHES and end == len(words) and not _HELP.intersection(own):
        branch.error(BEFORE_THE_LINE)
    options, others = tree.parse_known_args(own)
    if needs is Needs.LINE_AND_FLAGS:
        return CommandCall(options, [*line, *others], branch.error)
    branch.refuse_unknown([*others, *line] if needs is Needs.NOTHING else others)
    return CommandCall(options, line, branch.error)
