"""`legacy-mm exactly-once`: the positions that exactly once keeps at the target, seen and changed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from legacy_mm.base.clock import Deadline
from legacy_mm.base.model import TopicPartition
from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser, add_flow_option
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.output import columns, print_json, print_lines
from legacy_mm.logs import root_logger
from legacy_mm.transactions.position_changes import Changed, PositionChanges, PositionRow

_ASK_TIMEOUT = 300.0
_BEHIND = "-- COMMAND LINE OF THE MIRROR"
_ACTIONS: Mapping[str, str] = {
    "status": "what the target has of each source partition, and the committed offset beside it (of the group, or in "
    "MirrorMaker 2's topic); also the version of transactions that the target speaks",
    "adopt": "take the committed offsets as positions: the mirror goes on there, whatever the target has of it",
    "retire": "commit the positions as offsets, before exactly once is turned off",
    "move": "set positions, and the committed offsets with them",
}


_TAKE_OVER = ("adopt", "move")
_NOTHING: Mapping[str, str] = {
    "adopt": "nothing to adopt: {book} has no offsets of the flow; nothing was changed, and move sets positions",
    "retire": "nothing to retire: the target has no positions that count",
}


def _add_options(parser: CommandParser) -> None:
    parser.usage = (
        "legacy-mm exactly-once status|adopt|retire|move [--to TOPIC:PARTITION:OFFSET] [--replaced CLUSTER-ID] "
        f"[--json] [--flow A->B] {_BEHIND}"
    )
    parser.epilog = (
        "All but status claim each bundle, and need a group without members; they change nothing where the positions "
        "are of another source cluster. exit code 0: done; 2: status has found a partition whose position and offset "
        "do not belong together; 1: an error"
    )
    parser.add_argument(
        "action", choices=tuple(_ACTIONS), help="; ".join(f"{name}: {of}" for name, of in _ACTIONS.items())
    )
    parser.add_argument(
        "--to", action="append", default=[], type=_place, metavar="TOPIC:PARTITION:OFFSET", help="for move; repeated"
    )
    parser.add_argument(
        "--replaced",
        metavar="CLUSTER-ID",
        help="for adopt and move: the source cluster in whose place this one is; its mirrors are stopped for good",
    )
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text")
    add_flow_option(parser)


def _place(text: str) -> tuple[TopicPartition, int]:
    topic, partition, offset = [*text.rsplit(":", 2), "", ""][:3]
    if not (topic and partition.isdecimal() and offset.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not TOPIC:PARTITION:OFFSET")
    return TopicPartition(topic, int(partition)), int(offset)


def _run(call: CommandCall) -> int:
    options = call.options
    if bool(options.to) != (options.action == "move"):
        call.refuse("--to and move belong together")
    if options.replaced and options.action not in _TAKE_OVER:
        call.refuse("--replaced goes with adopt and move only")
    root_logger.silence()
    with call.line.only_flow_with_stores() as (settings, _):
        positions = PositionChanges(settings, Deadline.after(_ASK_TIMEOUT))
        if options.action == "status":
            return _status(positions, as_json=options.json)
        if options.action == "move":
            changed = positions.move(dict(options.to), options.replaced)
        else:
            changed = positions.adopt(options.replaced) if options.action == "adopt" else positions.retire()
    _tell(options.action, changed, positions, as_json=options.json)
    return ExitCode.DONE


def _status(positions: PositionChanges, *, as_json: bool) -> int:
    rows, topic, version = positions.rows(), positions.flow.positions_topic, positions.transaction_version().value
    if as_json:
        found = [_document(row) for row in rows]
        print_json({"positions_topic": topic, "transaction_version": version, "partitions": found})
    else:
        print_lines([f"positions topic {topic}", f"transaction version {version}", ""])
        titles = ("partition", "position", positions.offset_book.offset.removeprefix("the "), "committed by", "")
        print_lines(columns(titles, [_cells(row) for row in rows]))
    return ExitCode.FOUND if any(row.doubt for row in rows) else ExitCode.DONE


def _document(row: PositionRow) -> Mapping[str, object]:
    position = row.position
    return {
        "topic": row.partition.topic,
        "partition": row.partition.partition,
        "position": None if position is None else position.next,
        "retired": position is not None and position.retired,
        "offset": row.offset,
        "by_exactly_once": row.ours,
        "doubt": row.doubt,
    }


def _cells(row: PositionRow) -> tuple[str, str, str, str, str]:
    position = row.position
    stands = "none" if position is None else f"{position.next}{' retired' if position.retired else ''}"
    who = "" if row.offset is None else "exactly once" if row.ours else "another mode"
    return str(row.partition), stands, "none" if row.offset is None else str(row.offset), who, row.doubt


def _tell(action: str, changed: Changed, positions: PositionChanges, *, as_json: bool) -> None:
    offsets, book = changed.offsets, positions.offset_book
    if as_json:
        rows = [{"topic": each.topic, "partition": each.partition, "offset": offsets[each]} for each in sorted(offsets)]
        print_json({"action": action, "partitions": rows, "replaced": changed.replaced})
        return
    if changed.replaced:
        print_lines([f"the positions were those of source cluster {changed.replaced}, and are those of this one now"])
    if not offsets:
        print_lines([_NOTHING[action].format(book=book.name)])
    done = f"is {book.offset} now" if action == "retire" else "is the position now"
    print_lines(f"{each}: {offsets[each]} {done}{_was(action, changed, each)}" for each in sorted(offsets))


def _was(action: str, changed: Changed, partition: TopicPartition) -> str:
    if action == "retire":
        return ""
    before = changed.before.get(partition)
    return "; it had none" if before is None else f"; it was {before.next}"


BODIES = {"exactly-once": CommandBody(_add_options, _run)}
