"""`legacy-mm features`: the feature flags, in the order in which a running deployment can take them up."""

from __future__ import annotations

import sys

from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.output import print_json
from legacy_mm.features.flag import Flag
from legacy_mm.features.rows import FLAGS, WITHOUT_EFFECT


def _add_options(parser: CommandParser) -> None:
    parser.description = "The feature flags. All of them are off by default."
    parser.add_argument("--json", action="store_true", help="one JSON list instead")


def _features(call: CommandCall) -> int:
    """Print the ladder, then the flags that shape its steps."""
    if call.options.json:
        print_json([_as_json(row) for row in FLAGS], indent=1)
        return ExitCode.DONE
    ladder = sorted((row for row in FLAGS if row.is_feature), key=lambda row: row.step)
    sys.stdout.write(
        "The ladder: each step can be taken alone, and back; legacy-mm plan shows beforehand what it changes.\n\n"
    )
    for row in ladder:
        _tell_step(row)
    sys.stdout.write("Settings:\n\n")
    for row in FLAGS:
        if not row.is_feature:
            default = f" [{row.option.default}]" if row.option.default else ""
            sys.stdout.write(f"  {row.name}{default}{_also(row)}\n      {row.option.help}\n")
    sys.stdout.write("\nAccepted, without effect: " + ", ".join(WITHOUT_EFFECT) + "\n")
    return ExitCode.DONE


def _tell_step(row: Flag) -> None:
    sys.stdout.write(f"{row.step}. {row.name}=true{_also(row)}\n   {row.option.help}\n   changes: {row.changes}\n")
    for other in row.needs:
        sys.stdout.write(f"   needs {other.name}: {other.because}\n")
    for side, right in zip(("source", "target"), row.rights, strict=True):
        if right:
            sys.stdout.write(f"   needs at the {side}: {right}\n")
    sys.stdout.write("\n")


def _also(row: Flag) -> str:
    return f" (also {', '.join(row.synonyms)})" if row.synonyms else ""


def _as_json(row: Flag) -> dict[str, object]:
    return {
        "name": row.name,
        "synonyms": row.synonyms,
        "default": row.option.default,
        "step": row.step or None,
        "needs": [other.name for other in row.needs],
        "rights": {"source": row.rights[0], "target": row.rights[1]},
        "changes": row.changes,
        "help": row.option.help,
    }


BODIES = {"features": CommandBody(_add_options, _features)}
