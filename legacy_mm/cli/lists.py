"""`legacy-mm options` and `legacy-mm quirks`: two lists that are printed as they are."""

from __future__ import annotations

import sys

from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.parser import own_options_help
from legacy_mm.explain.differences import DIFFERENCES


def _describe_options(parser: CommandParser) -> None:
    parser.description = "Print the options that the legacy tool does not have."


def _options(_: CommandCall) -> int:
    sys.stdout.write(own_options_help())
    return ExitCode.DONE


def _describe_quirks(parser: CommandParser) -> None:
    parser.description = "Print the known differences from the legacy tool, with their reasons."


def _quirks(_: CommandCall) -> int:
    for row in DIFFERENCES:
        concerns = ", ".join(row.applies.labels).replace("`", "")
        sys.stdout.write(
            f"{row.id}\n  concerns:    {concerns}\n  legacy tool: {row.legacy}\n"
            f"  legacy_mm:   {row.ours}\n  reason:      {row.reason}\n"
        )
    return ExitCode.DONE


BODIES = {
    "options": CommandBody(_describe_options, _options),
    "quirks": CommandBody(_describe_quirks, _quirks),
}
