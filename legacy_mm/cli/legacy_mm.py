"""`legacy-mm`: our own command beside the old one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence

from legacy_mm import __version__
from legacy_mm.cli.parser import own_options_help
from legacy_mm.compat.quirks import QUIRKS

_USAGE = """\
usage: legacy-mm COMMAND

  explain     how an old command line is understood, without running it: legacy-mm explain -- COMMAND LINE
  features    the feature flags, what each changes and needs
  plan        what the feature flags would change at the target: legacy-mm plan [FLAGS] -- COMMAND LINE
  apply       do what a saved plan says: legacy-mm apply FILE [FLAGS] -- COMMAND LINE
  translate   where a consumer group goes on at the target: legacy-mm translate --group G -- COMMAND LINE
  cutover     take a consumer group to the target, step by step, and back: legacy-mm cutover --help
  adopt       the mirror goes on where MirrorMaker 2 stopped: legacy-mm adopt --offsets-topic T -- COMMAND LINE
  handler     what a message handler makes of real records: legacy-mm handler test FILE --topic T -- COMMAND LINE
  redrive     send quarantined records on: legacy-mm redrive [FILE] -- COMMAND LINE
  options     the options that kafka-mirror-maker.sh of Kafka does not have
  quirks      the known differences from the legacy tool, with their reasons; --markdown for docs/differences.md
  ledger      write records with a ledger, or judge a target by one: legacy-mm ledger produce|check ... -- COMMAND LINE
  verify      compare source and target record by record, as a Spark job: legacy-mm verify -- COMMAND LINE
  clusters    the clusters upstream of one, by their heartbeats: legacy-mm clusters --config FILE
  checkpoints where consumer groups of a source cluster go on here: legacy-mm checkpoints --config FILE --source ALIAS
  heartbeats  the last heartbeat of each flow: legacy-mm heartbeats --config FILE
  selftest    stop, kill and freeze mirrors between your clusters, in scratch topics: legacy-mm selftest -- COMMAND LINE
  install     put kafka-mirror-maker.sh in place of Kafka's: legacy-mm install --kafka-home DIR
  uninstall   put Kafka's own back: legacy-mm uninstall --kafka-home DIR
  demo        two real brokers, the unchanged command between them, and a comparison
  bench       the legacy tool, MirrorMaker 2 and this one, measured in one run
  --version   the version of legacy_mm
"""

_QUIRKS_PAGE = """\
# Differences from the legacy tool

Made from the ledger by `legacy-mm quirks --markdown`. `legacy-mm explain` shows those that concern a command line.

| | the legacy tool | this one | why |
|---|---|---|---|
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a sub-command; its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = COMMANDS.get(words[0]) if words else None
    if command is None:
        sys.stderr.write(_USAGE)
        return 1
    try:
        code = command(words[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # `legacy-mm quirks | head`; what is still to be written at the end goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code


def _options(_: Sequence[str]) -> int:
    sys.stdout.write(own_options_help())
    return 0


def _quirks(words: Sequence[str]) -> int:
    if "--markdown" in words:
        sys.stdout.write(_QUIRKS_PAGE)
    for row in QUIRKS:
        if "--markdown" in words:
            cells = (row.id, row.legacy, row.ours, row.reason)
            sys.stdout.write(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n")
        else:
            sys.stdout.write(f"{row.id}\n  old:    {row.legacy}\n  ours:   {row.ours}\n  reason: {row.reason}\n")
    return 0


def _explain(words: Sequence[str]) -> int:
    from legacy_mm.cli.explain import main as explain

    return explain(words)


def _features(words: Sequence[str]) -> int:
    from legacy_mm.cli.features import main as features

    return features(words)


def _plan(words: Sequence[str]) -> int:
    from legacy_mm.cli.plan import plan

    return plan(words)


def _apply(words: Sequence[str]) -> int:
    from legacy_mm.cli.plan import apply_plan

    return apply_plan(words)


def _translate(words: Sequence[str]) -> int:
    from legacy_mm.cli.group_offsets import translate

    return translate(words)


def _cutover(words: Sequence[str]) -> int:
    from legacy_mm.cli.group_offsets import cutover

    return cutover(words)


def _adopt(words: Sequence[str]) -> int:
    from legacy_mm.cli.adopt import adopt

    return adopt(words)


def _ledger(words: Sequence[str]) -> int:
    from legacy_mm.cli.ledger import main as ledger

    return ledger(words)


def _verify(words: Sequence[str]) -> int:
    from legacy_mm.cli.verify import main as verify

    return verify(words)


def _handler(words: Sequence[str]) -> int:
    from legacy_mm.cli.handler import handler

    return handler(words)


def _redrive(words: Sequence[str]) -> int:
    from legacy_mm.cli.redrive import redrive

    return redrive(words)


def _clusters(words: Sequence[str]) -> int:
    from legacy_mm.cli.mirror_topics import clusters

    return clusters(words)


def _checkpoints(words: Sequence[str]) -> int:
    from legacy_mm.cli.mirror_topics import checkpoints

    return checkpoints(words)


def _heartbeats(words: Sequence[str]) -> int:
    from legacy_mm.cli.mirror_topics import heartbeats

    return heartbeats(words)


def _selftest(words: Sequence[str]) -> int:
    from legacy_mm.cli.selftest import main as selftest

    return selftest(words)


def _install(words: Sequence[str]) -> int:
    from legacy_mm.cli.install import install

    return install(words)


def _uninstall(words: Sequence[str]) -> int:
    from legacy_mm.cli.install import uninstall

    return uninstall(words)


def _demo(words: Sequence[str]) -> int:
    from legacy_mm.testbed.demo import main as demo

    return demo(words)


def _bench(words: Sequence[str]) -> int:
    from legacy_mm.testbed.bench import main as bench

    return bench(words)


def _help(_: Sequence[str]) -> int:
    sys.stdout.write(_USAGE)
    return 0


def _version(_: Sequence[str]) -> int:
    sys.stdout.write(f"legacy_mm {__version__}\n")
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "explain": _explain,
    "options": _options,
    "quirks": _quirks,
    "features": _features,
    "plan": _plan,
    "apply": _apply,
    "translate": _translate,
    "cutover": _cutover,
    "adopt": _adopt,
    "ledger": _ledger,
    "verify": _verify,
    "handler": _handler,
    "redrive": _redrive,
    "clusters": _clusters,
    "checkpoints": _checkpoints,
    "heartbeats": _heartbeats,
    "selftest": _selftest,
    "install": _install,
    "uninstall": _uninstall,
    "demo": _demo,
    "bench": _bench,
    "--version": _version,
    "--help": _help,
    "-h": _help,
}

if __name__ == "__main__":
    raise SystemExit(main())
