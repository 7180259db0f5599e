"""`legacy-mm explain [--json] [--offline] -- OLD-COMMAND-LINE`: how a command line is understood, without running it.

The source is asked for its topics and offsets, for a few seconds and without joining the group; `--offline` leaves
that out. Nothing is written anywhere. The exit code is 0 when the line would run, else the old tool's.

`--json` prints one document. Its keys, each a list of rows unless said otherwise:

- `exit_code` (a number), `outcome` (a sentence)
- `words`: word, meaning
- `environment`: name, value, meaning
- `options`: option, value, origin
- `properties`: client, line, name, value, meaning; of several consumer files, client is followed by the path
- `settings`: client, name, value, origin, reason, as librdkafka gets them
- `pattern` (a text): the topics, as Java compiles it
- `topics` (an object): answered, why_not, and partitions: topic, partition, start, because; attention (a text) where
  source and target are one cluster
- `engine` (a sentence): how records are copied, and why so
- `permissions`: cluster, resource, operation, reason
- `differences`: id, legacy, ours, reason, always
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from legacy_mm import logs, wiring
from legacy_mm.cli.explain_text import render
from legacy_mm.cli.parser import own_values, read_own_options
from legacy_mm.cli.source_look import Topics, look
from legacy_mm.compat.command_line import called, variables_of
from legacy_mm.compat.explanation import Explanation, Reader, explain
from legacy_mm.copies import choose_engine
from legacy_mm.errors import HostError, LegacyMMError

USAGE = """\
usage: legacy-mm explain [--json] [--offline] -- kafka-mirror-maker.sh OPTIONS

  --json      one JSON document instead of text
  --offline   do not ask the source cluster for its topics and offsets
"""
_NOT_RUN = Topics(why_not="the line would not run")
_FLAGS = {"--json", "--offline"}


def main(words: Sequence[str]) -> int:
    """Explain the words after `--`; the exit code that they would earn."""
    if words and words[0] in ("--help", "-h"):
        sys.stdout.write(USAGE)
        return 0
    flags = set(words[: words.index("--")]) if "--" in words else None
    if flags is None or not flags <= _FLAGS:
        sys.stderr.write(USAGE)
        return 1
    logs.silence()
    explanation, topics = explain_line(words[words.index("--") + 1 :], os.environ, ask="--offline" not in flags)
    if "--json" in flags:
        sys.stdout.write(json.dumps(asdict(explanation) | {"topics": _told(topics)}, indent=2) + "\n")
    else:
        sys.stdout.write(render(explanation, topics))
    return explanation.exit_code


def _told(topics: Topics) -> dict[str, Any]:
    return {name: value for name, value in asdict(topics).items() if name != "attention" or value}


def explain_line(words: Sequence[str], environment: Mapping[str, str], *, ask: bool) -> tuple[Explanation, Topics]:
    """What is said about a command line; `ask`: also what the source says."""
    launcher, _ = called(words)
    variables = variables_of(launcher, environment)
    own = Reader(
        typed=lambda given: read_own_options(given, variables), rows=lambda given: own_values(given, variables)
    )
    explained = explain(words, variables, own)
    explanation, flows, veil = explained
    if not flows:
        return explanation, _NOT_RUN
    try:
        choice = choose_engine(flows[0])
        for settings in flows:
            wiring.check_logins(settings)
    except LegacyMMError as error:
        return explained.refused(error), _NOT_RUN
    explanation = replace(explanation, engine=f"{choice.engine}: {choice.reason}")
    if not ask:
        return explanation, Topics(why_not="not asked")
    try:
        for settings in flows:
            wiring.check_addresses(settings)
        return explanation, look(flows)
    except HostError as error:
        return explanation, Topics(why_not=veil.over_known(str(error)))
    except LegacyMMError as error:
        return explained.refused(error), _NOT_RUN
