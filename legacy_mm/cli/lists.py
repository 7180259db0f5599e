"""`legacy-mm options` and `legacy-mm quirks`: two lists that are printed as they are."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from legacy_mm.cli.exit_code import CommandParser
from legacy_mm.cli.parser import own_options_help
from legacy_mm.explain.differences import DIFFERENCES


def options(words: Sequence[str]) -> int:
    """Print the options that the legacy tool does not have; return exit code 0."""
    CommandParser(
        prog="legacy-mm options", description="Print the options that the legacy tool does not have."
    ).parse_args(words)
    sys.stdout.write(own_options_help())
    return 0


def quirks(words: Sequence[str]) -> int:
    """Print the known differences from the legacy tool; return exit code 0."""
    CommandParser(
        prog="legacy-mm quirks", description="Print the known differences from the legacy tool, with their reasons."
    ).parse_args(words)
    for row in DIFFERENCES:
        concerns = ", ".join(row.applies.labels).replace("`", "")
        sys.stdout.write(
            f"{row.id}\n  concerns:    {concerns}\n  legacy tool: {row.legacy}\n"
            f"  legacy_mm:   {row.ours}\n  reason:      {row.reason}\n"
        )
    return 0
