"""`legacy-mm exactly-once`: the positions that exactly once keeps at the target, seen and changed."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from legacy_mm.cli.command import CommandBody, CommandCall, CommandParser
from legacy_mm.cli.exit_code import ExitCode
from legacy_mm.cli.output import columns, print_json, print_lines
from legacy_mm.clock import Deadline
from legacy_mm.flow.position_changes import PositionChanges, PositionRow
from legacy_mm.logs import root_logger
from legacy_mm.model import Offsets, TopicPartition

_ASK_TIMEOUT = 300.0
_BEHIND = "-- COMMAND LINE OF THE MIRROR"
_ACTIONS: Mapping[str, str] = {
    "status": "what the target has of each source partition, and the group's offset beside it; also the version of "
    "transactions that the target speaks",
    "adopt": "take the group's offsets as positions: the mirror goes on there, whatever the target has of it",
    "retire": "give the group the positions, before exactly once is turned off",
    "move": "set positions, and the group's offsets with them",
}


def _add_options(parser: CommandParser) -> None:
    parser.usage = f"legacy-mm exactly-once status|adopt|retire|move [--to TOPIC:PARTITION:OFFSET] [--json] {_BEHIND}"
    parser.epilog = (
        "All but status claim each bundle, and need a group without members. exit code 0: done; 2: status has found "
        "a partition whose position and offset do not belong together; 1: an error"
    )
    parser.add_argument(
        "action", choices=tuple(_ACTIONS), help="; ".join(f"{name}: {of}" for name, of in _ACTIONS.items())
    )
    parser.add_argument(
        "--to", action="append", default=[], type=_place, metavar="TOPIC:PARTITION:OFFSET", help="for move; repeated"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text")


def _place(text: str) -> tuple[TopicPartition, int]:
    topic, partition, offset = [*text.rsplit(":", 2), "", ""][:3]
    if not (topic and partition.isdecimal() and offset.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not TOPIC:PARTITION:OFFSET")
    return TopicPartition(topic, int(partition)), int(offset)


def _run(call: CommandCall) -> int:
    asked = call.options
    if bool(asked.to) != (asked.action == "move"):
        call.refuse("--to and move belong together")
    root_logger.silence()
    with call.line.flow_with_stores() as (settings, _):
        positions = PositionChanges(settings, Deadline.after(_ASK_TIMEOUT))
        if asked.action == "status":
            return _status(positions, as_json=asked.json)
        if asked.action == "move":
            changed = positions.move(dict(asked.to))
        else:
            changed = positions.adopt() if asked.action == "adopt" else positions.retire()
    _tell(asked.action, changed, as_json=asked.json)
    return ExitCode.DONE


def _status(positions: PositionChanges, *, as_json: bool) -> int:
    rows, topic, version = positions.rows(), positions.flow.positions_topic, positions.transaction_version().value
    if as_json:
        found = [_document(row) for row in rows]
        print_json({"positions_topic": topic, "transaction_version": version, "partitions": found})
    else:
        print_lines([f"positions topic {topic}", f"transaction version {version}", ""])
        titles = ("partition", "position", "group's offset", "committed by", "")
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


def _tell(action: str, changed: Offsets, *, as_json: bool) -> None:
    done = {"adopt": "is the position now", "move": "is the position now", "retire": "is the group's offset now"}[
        action
    ]
    if as_json:
        rows = [{"topic": each.topic, "partition": each.partition, "offset": changed[each]} for each in sorted(changed)]
        print_json({"action": action, "partitions": rows})
    else:
        print_lines(f"{partition}: {changed[partition]} {done}" for partition in sorted(changed))


BODIES = {"exactly-once": CommandBody(_add_options, _run)}
