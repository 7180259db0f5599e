"""`legacy-mm`: our own command beside `kafka-mirror-maker.sh`. One table makes its help and its dispatch."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from legacy_mm import __version__
from legacy_mm.cli.exit_code import ExitCode, reported


class Command(NamedTuple):
    """One row: what a command is for, an example, and the function that runs it."""

    help: str
    example: str
    where: str
    """`module:function` below `legacy_mm`. The function takes the further words and returns an exit code."""


GROUPS: Mapping[str, Mapping[str, Command]] = {
    "Look, and change nothing": {
        "explain": Command(
            "how a command line is understood, without running it", "explain -- COMMAND LINE", "cli.explain:main"
        ),
        "features": Command("the feature flags: changes, needs, rights", "features", "cli.features:main"),
        "plan": Command(
            "what feature flags would change at the target",
            "plan --topic.creation true -- COMMAND LINE",
            "cli.plan:plan",
        ),
        "options": Command("the options that the legacy tool does not have", "options", "cli.lists:options"),
        "quirks": Command("the known differences from the legacy tool", "quirks", "cli.lists:quirks"),
        "translate": Command(
            "where a consumer group resumes at the target",
            "translate --group G -- COMMAND LINE",
            "cli.group_offsets:translate",
        ),
        "clusters": Command(
            "the clusters upstream of a cluster, by their heartbeats",
            "clusters --config FILE",
            "cli.mirror_topics:clusters",
        ),
        "checkpoints": Command(
            "where groups of a source cluster resume here",
            "checkpoints --config FILE --source ALIAS",
            "cli.mirror_topics:checkpoints",
        ),
        "heartbeats": Command(
            "the last heartbeat of each flow", "heartbeats --config FILE --table", "cli.mirror_topics:heartbeats"
        ),
    },
    "Change something": {
        "apply": Command(
            "carry out a saved plan", "apply plan.json --topic.creation true -- COMMAND LINE", "cli.plan:apply_plan"
        ),
        "cutover": Command(
            "move a consumer group to the target, and back",
            "cutover --group G --receipt FILE -- COMMAND LINE",
            "cli.group_offsets:cutover",
        ),
        "adopt": Command(
            "let the mirror resume where MirrorMaker 2 stopped",
            "adopt --offsets-topic TOPIC -- COMMAND LINE",
            "cli.adopt:adopt",
        ),
        "redrive": Command("send quarantined records", "redrive FILE -- COMMAND LINE", "cli.redrive:redrive"),
        "install": Command(
            "put our start script in the place of Kafka's", "install --kafka-home DIR", "cli.install:install"
        ),
        "uninstall": Command("put Kafka's own back", "uninstall --kafka-home DIR", "cli.install:uninstall"),
    },
    "Run": {
        "connect": Command(
            "run connectors of MirrorMaker 2, as connect-standalone.sh would",
            "connect worker.properties source.properties",
            "cli.connect_mirror_maker:connect",
        ),
    },
    "Check a copy": {
        "verify": Command("compare both clusters record by record", "verify -- COMMAND LINE", "cli.verify:main"),
        "ledger": Command(
            "write records with a ledger, or judge a target by one",
            "ledger produce --topic T --file F -- COMMAND LINE",
            "cli.ledger:main",
        ),
        "selftest": Command(
            "stop, kill and freeze mirrors of scratch topics, and count",
            "selftest -- COMMAND LINE",
            "cli.selftest:main",
        ),
        "handler": Command(
            "what a message handler makes of real records",
            "handler test FILE --topic T -- COMMAND LINE",
            "cli.handler:handler",
        ),
    },
}
COMMANDS: Mapping[str, Command] = {name: row for rows in GROUPS.values() for name, row in rows.items()}
_VERSION = "--version"
HELP = ("--help", "-h", "help")
_NEAR = 0.7
"""The likeness, from 0 to 1, at which an unknown word has a hint: `explan` is like a command, `copy` is not."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 1 if there is no such command."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
        sys.stdout.flush()
    except BrokenPipeError:  # `legacy-mm quirks | head`; what is still to be written at the end goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code


def _run(words: Sequence[str]) -> int:
    name = words[0] if words else ""
    if name in HELP and words[1:2] and words[1] in COMMANDS:
        return _run([words[1], "--help"])
    if name in HELP:
        sys.stdout.write(usage())
    elif name == _VERSION:
        from legacy_mm.cli.version import commit

        sys.stdout.write(f"legacy_mm {__version__} (commit {commit()})\n")
    elif name in COMMANDS:
        module, _, function = COMMANDS[name].where.partition(":")
        command = getattr(importlib.import_module(f"legacy_mm.{module}"), function)
        return reported(lambda: int(command(words[1:])), failed=None)
    else:
        sys.stderr.write(_unknown(name) if name else usage())
        return ExitCode.FAILED
    return ExitCode.DONE


def _unknown(name: str) -> str:
    near = get_close_matches(name, [*COMMANDS, *HELP, _VERSION], 1, _NEAR)
    hint = f": {near[0]} was probably meant" if near else ""
    return f"legacy-mm: {name} is no command{hint}\nlegacy-mm --help lists the commands.\n"


def usage() -> str:
    """Return the help: the commands by group, with an example for each."""
    lines = ["usage: legacy-mm COMMAND ...", ""]
    for title, rows in GROUPS.items():
        lines.append(f"{title}:")
        for name, row in rows.items():
            lines += [f"  {name:<12} {row.help}", f"  {'':<12}   legacy-mm {row.example}"]
        lines.append("")
    lines += [
        "COMMAND LINE is that of your mirror: kafka-mirror-maker.sh and its arguments, or the arguments alone.",
        "legacy-mm COMMAND --help has more; legacy-mm --version names the version and the commit.",
        "Exit code: 0 done, and as hoped; 1 no answer, or wrong words; 2 differences, changes, or things left undone.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
