"""The commands of `legacy-mm`: one row each makes its help, its place in the argument tree, and its dispatch."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from legacy_mm.cli.command import CommandBody

LOOK = "Look, and change nothing"
CHANGE = "Change something"
RUN = "Run"
CHECK = "Check a copy"


class Needs(Enum):
    """The words that a command takes beside options of its own."""

    NOTHING = "no further words"
    LINE = "the command line of a mirror behind --; some commands take files instead of it"
    DASHES = "the same, and -- even where the line is empty"
    LINE_AND_FLAGS = "the same, and before -- feature flags that are tried with it"
    OWN_WORDS = "all words as they are, because another tool's grammar reads them"


class CommandRow(NamedTuple):
    """One command: its purpose, an example, its module, and the words that it takes."""

    name: str
    group: str
    help: str
    example: str
    module: str
    """Below `legacy_mm.cli`; its `BODIES` has the command by its name."""
    needs: Needs = Needs.LINE

    def load(self) -> CommandBody:
        """Return the command's options and function; its module is imported now, not before."""
        bodies: Mapping[str, CommandBody] = importlib.import_module(f"legacy_mm.cli.{self.module}").BODIES
        return bodies[self.name]


_ROWS = (
    CommandRow(
        "explain",
        LOOK,
        "how a command line is understood, without running it",
        "explain -- COMMAND LINE",
        "explain",
        Needs.DASHES,
    ),
    CommandRow("features", LOOK, "the feature flags: changes, needs, rights", "features", "features", Needs.NOTHING),
    CommandRow(
        "plan",
        LOOK,
        "what feature flags would change at the target",
        "plan --topic.creation true -- COMMAND LINE",
        "plan",
        Needs.LINE_AND_FLAGS,
    ),
    CommandRow("options", LOOK, "the options that the legacy tool does not have", "options", "lists", Needs.NOTHING),
    CommandRow("quirks", LOOK, "the known differences from the legacy tool", "quirks", "lists", Needs.NOTHING),
    CommandRow(
        "translate",
        LOOK,
        "where a consumer group resumes at the target",
        "translate --group G -- COMMAND LINE",
        "group_offsets",
    ),
    CommandRow(
        "clusters",
        LOOK,
        "the clusters upstream of a cluster, by their heartbeats",
        "clusters --config FILE",
        "mirror_topics",
    ),
    CommandRow(
        "checkpoints",
        LOOK,
        "where groups of a source cluster resume here",
        "checkpoints --config FILE --source ALIAS",
        "mirror_topics",
    ),
    CommandRow(
        "heartbeats", LOOK, "the last heartbeat of each flow", "heartbeats --config FILE --table", "mirror_topics"
    ),
    CommandRow("top", LOOK, "what a mirror that runs does, once a second", "top", "top", Needs.NOTHING),
    CommandRow(
        "ctl",
        CHANGE,
        "the state of a mirror that runs, and orders to it",
        "ctl pause 'A->B' --token.file FILE",
        "ctl",
        Needs.OWN_WORDS,
    ),
    CommandRow(
        "apply",
        CHANGE,
        "carry out a saved plan",
        "apply plan.json --topic.creation true -- COMMAND LINE",
        "plan",
        Needs.LINE_AND_FLAGS,
    ),
    CommandRow(
        "cutover",
        CHANGE,
        "move a consumer group to the target, and back",
        "cutover --group G --receipt FILE -- COMMAND LINE",
        "group_offsets",
    ),
    CommandRow(
        "adopt",
        CHANGE,
        "let the mirror resume where MirrorMaker 2 stopped",
        "adopt --offsets-topic TOPIC -- COMMAND LINE",
        "adopt",
    ),
    CommandRow(
        "exactly-once",
        CHANGE,
        "the positions that exactly once keeps at the target",
        "exactly-once status -- COMMAND LINE",
        "bundle_positions",
    ),
    CommandRow("redrive", CHANGE, "send quarantined records", "redrive FILE -- COMMAND LINE", "redrive"),
    CommandRow(
        "install",
        CHANGE,
        "put our start script in the place of Kafka's",
        "install --kafka-home DIR",
        "install",
        Needs.NOTHING,
    ),
    CommandRow("uninstall", CHANGE, "put Kafka's own back", "uninstall --kafka-home DIR", "install", Needs.NOTHING),
    CommandRow(
        "connect",
        RUN,
        "run connectors of MirrorMaker 2, as connect-standalone.sh would",
        "connect worker.properties source.properties",
        "connect_mirror_maker",
        Needs.OWN_WORDS,
    ),
    CommandRow("verify", CHECK, "compare both clusters record by record", "verify -- COMMAND LINE", "verify"),
    CommandRow(
        "ledger",
        CHECK,
        "write records with a ledger, or judge a target by one",
        "ledger produce --topic T --file F -- COMMAND LINE",
        "ledger",
    ),
    CommandRow(
        "selftest",
        CHECK,
        "stop, kill and freeze mirrors of scratch topics, and count",
        "selftest -- COMMAND LINE",
        "selftest",
    ),
    CommandRow(
        "handler",
        CHECK,
        "what a message handler makes of real records",
        "handler test FILE --topic T -- COMMAND LINE",
        "handler",
    ),
)
COMMANDS: Mapping[str, CommandRow] = {row.name: row for row in _ROWS}
