"""`legacy-mm translate` tells where a group of the source goes on at the target; `legacy-mm cutover` takes it there.

Both take the mirror's command line behind `--`. `translate` writes nothing. `cutover` commits for the group at the
target, where it must have no members, and leaves a receipt that `legacy-mm cutover --undo` goes back by.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from legacy_mm.base.clock import Deadline, wall
from legacy_mm.base.errors import HostError
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.group_inspection import FlowGroups, groups_of
from legacy_mm.cli.mirror_line import MirrorLine
from legacy_mm.cli.output import print_json
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.checkpoints.group_translation import GroupTranslation, Position, untranslated
from legacy_mm.features.cutover import cutover_receipt
from legacy_mm.features.cutover.moving import Cutover, CutoverOptions, open_transactions, undo

_FORMAT = 1
_ASK_TIMEOUT = 60.0
_READ_TIMEOUT = 600.0
_DEFAULT_TIMEOUT = 300.0
_SETTLE_MARGIN = 5.0
_BEHIND = "-- COMMAND LINE OF THE MIRROR"


def _add_translate_options(parser: CommandParser) -> None:
    parser.usage = f"legacy-mm translate --group G [--from-first] [--explain] [--json] [--flow A->B] {_BEHIND}"
    parser.epilog = "exit code 0: all partitions are told; 2: some cannot be translated; 1: an error"
    parser.add_argument("--group", required=True, metavar="G", help="a consumer group of the source")
    _add_from_first(parser)
    parser.add_argument("--explain", action="store_true", help="how each offset is known, and what is left to read")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text, with the reasons")
    add_flow_option(parser)


def _add_cutover_options(parser: CommandParser) -> None:
    parser.usage = (
        "legacy-mm cutover --group G [--timeout SECONDS] [--receipt FILE] [--partial] [--from-first] [--dry-run] "
        f"[--flow A->B] {_BEHIND}\n       legacy-mm cutover --undo RECEIPT [--flow A->B] {_BEHIND}"
    )
    parser.epilog = (
        "exit code 0: done, or with --dry-run ready; 2: not ready (members, an open transaction, not copied in time, "
        "offsets that cannot be translated), and nothing was committed; 1: an error, which says what the target has "
        "if anything was committed"
    )
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--group", metavar="G", help="the consumer group; its consumers are stopped")
    choice.add_argument("--undo", type=Path, metavar="RECEIPT", help="give the group what it had at the target before")
    parser.add_argument(
        "--timeout", type=float, default=_DEFAULT_TIMEOUT, metavar="SECONDS", help="to wait for the mirror (300)"
    )
    parser.add_argument("--receipt", type=Path, metavar="FILE", help="a new file (cutover-GROUP-TIME.json)")
    parser.add_argument("--partial", action="store_true", help="leave out partitions that cannot be translated")
    _add_from_first(parser)
    parser.add_argument("--dry-run", action="store_true", help="look once, tell everything, commit nothing")
    add_flow_option(parser)


def _add_from_first(parser: CommandParser) -> None:
    parser.add_argument(
        "--from-first",
        action="store_true",
        help="where nothing is known the group begins at the copy's first record",
    )


def _translate(call: CommandCall) -> int:
    options = call.options
    with groups_of(call.line) as flow:
        positions = _read_syncs(flow).positions(
            options.group, Deadline.after(_ASK_TIMEOUT), from_first=options.from_first
        )
        places = [each.source for each in positions]
        open_ones = open_transactions(flow.translation.source.groups, options.group, places)
    if open_ones:
        sys.stderr.write(f"{open_ones}\n")
    if options.json:
        document = {"format": _FORMAT, "group": options.group, "partitions": [_row(each) for each in positions]}
        print_json(document)
    else:
        sys.stdout.write("".join(f"{each}\n" for each in _lines(positions, explain=options.explain)))
    return ExitCode.FOUND if untranslated(positions) else ExitCode.DONE


def _read_syncs(flow: FlowGroups) -> GroupTranslation:
    """Read what the mirror has written down up to now: possibly millions of offset syncs."""
    flow.translation.refresh(Deadline.after(_READ_TIMEOUT))
    return flow.translation


def _row(position: Position) -> dict[str, Any]:
    answer = position.answer
    return {
        "source": {**position.source._asdict(), "offset": position.committed.offset},
        "target": None if answer.offset is None else {**position.target._asdict(), "offset": answer.offset},
        "how": answer.how.value,
        "because": answer.text,
        "left": position.left,
    }


def _lines(positions: Sequence[Position], *, explain: bool) -> Iterator[str]:
    for each in positions:
        answer = each.answer
        there = "not translated" if answer.offset is None else f"{each.target} at {answer.offset}"
        why = f"; {answer.text}" if explain else ""
        left = f"; {each.left} left to read" if explain and each.left is not None else ""
        yield f"{each.source} at {each.committed.offset} -> {there}{why}{left}"


def _cutover(call: CommandCall) -> int:
    undone = call.options.undo
    return _cut_over(call.options, call.line) if undone is None else _undo(undone, call.line)


def _cut_over(options: argparse.Namespace, line: MirrorLine) -> int:
    file = options.receipt or _receipt_name(options.group)
    if file.exists():
        raise HostError(f"{file} is there already: a receipt is a new file")
    with groups_of(line) as flow:
        work = Cutover(_read_syncs(flow), options.group, flow.settings.flow, flow.target_cluster, _say)
        interval = flow.settings.commit_interval
        chosen = CutoverOptions(
            options.timeout,
            2 * interval + _SETTLE_MARGIN,
            partial=options.partial,
            dry_run=options.dry_run,
            from_first=options.from_first,
            interval=interval,
        )
        done = work.run(chosen, lambda receipt: cutover_receipt.save(receipt, file))
    if done and not options.dry_run:
        _say(f"receipt: {file}")
        _say("now start the consumers at the target")
        _say(f"to go back: stop them, legacy-mm cutover --undo {file} {_BEHIND}, start them at the source")
    return ExitCode.DONE if done else ExitCode.FOUND


def _undo(file: Path, line: MirrorLine) -> int:
    receipt = cutover_receipt.load(file)
    with groups_of(line) as flow:
        done = undo(receipt, flow.target, flow.target_cluster, _say)
        if done and _follows(flow):
            _say("the mirror's sync.group.offsets.enabled will bring the group at the target forward again")
    return ExitCode.DONE if done else ExitCode.FOUND


def _follows(flow: FlowGroups) -> bool:
    checkpoints = flow.settings.features[CHECKPOINTS]
    return checkpoints is not None and checkpoints.sync_interval is not None


def _receipt_name(group: str) -> Path:
    time = datetime.fromtimestamp(wall(), UTC).strftime("%Y%m%dT%H%M%SZ")
    return Path(f"cutover-{re.sub(r'[^A-Za-z0-9._-]', '_', group)}-{time}.json")


def _say(text: str) -> None:
    print(text, flush=True)


BODIES = {
    "translate": CommandBody(_add_translate_options, _translate),
    "cutover": CommandBody(_add_cutover_options, _cutover),
}
