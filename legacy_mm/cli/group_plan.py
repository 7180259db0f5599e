"""Tells `legacy-mm plan` what checkpoints and `sync.group.offsets.enabled` would do to consumer groups.

Groups move on while a plan is read, so these parts are shown, and never saved or applied:
the mirror makes these changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.cli.group_inspection import FlowGroups
from legacy_mm.clients.group.groups import DEAD, EMPTY
from legacy_mm.features.checkpoints.feature import CHECKPOINTS
from legacy_mm.features.checkpoints.group_translation import Position
from legacy_mm.features.checkpoints.translation import offsets_to_set
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.offset_features import accepted_groups
from legacy_mm.policies.changes import Inspection

_CHECKPOINTS, GROUP_OFFSETS = "checkpoints", "group-offsets"
_ASK_TIMEOUT = 60.0
_MOST_GROUPS, _MOST_NAMES = 200, 10
Moves = Mapping[str, Sequence[str]]
"""Group -> where it is committed next, a line each."""


def inspect(flow: FlowGroups, names: FlowTopics) -> tuple[dict[str, Inspection], Moves]:
    """Return what is to be said of each part, and the groups that are about to be committed; raises LegacyMMError."""
    checkpoints = flow.settings.features[CHECKPOINTS]
    assert checkpoints is not None
    deadline = Deadline.after(_ASK_TIMEOUT)
    flow.translation.refresh(deadline)
    accepted = accepted_groups(checkpoints, flow.settings, names)
    found = sorted(flow.translation.source.groups.groups(deadline))
    taken = [group for group in found if accepted(group)]
    notes = list(_left_out([group for group in found if not accepted(group)], taken))
    positions: dict[str, list[Position]] = {}
    for group in taken[:_MOST_GROUPS]:
        try:
            positions[group] = flow.translation.positions(group, deadline)
        except HostError as error:
            notes.append(f"{error}, so it gets no checkpoint")
    for group, places in positions.items():
        notes += _untranslated(group, places)
    inspections = {_CHECKPOINTS: Inspection(notes=tuple(notes))}
    if checkpoints.sync_interval is None:
        return inspections, {}
    moves, busy = _moves(flow, positions, deadline)
    inspections[GROUP_OFFSETS] = Inspection(notes=tuple(busy))
    return inspections, moves


def _left_out(groups: Sequence[str], taken: Sequence[str]) -> Iterator[str]:
    if groups:
        named = ", ".join(groups[:_MOST_NAMES])
        more = f" and {len(groups) - _MOST_NAMES} more" if len(groups) > _MOST_NAMES else ""
        yield f"left out by groups and groups.exclude, or the mirror's own: {named}{more}"
    if len(taken) > _MOST_GROUPS:
        yield f"{len(taken) - _MOST_GROUPS} more groups are not looked at here: legacy-mm translate tells of each"


def _untranslated(group: str, positions: Sequence[Position]) -> Iterator[str]:
    """Yield a line for each reason, with the number of partitions and the first of them."""
    missing = [each for each in positions if each.answer.offset is None]
    for reason, count in Counter(each.answer.text for each in missing).items():
        first = next(each.source for each in missing if each.answer.text == reason)
        places = f"{first}" if count == 1 else f"{first} and {count - 1} more partitions"
        yield f"group {group} gets no checkpoint for {places}: {reason}"


def _moves(
    flow: FlowGroups, positions: Mapping[str, Sequence[Position]], deadline: Deadline
) -> tuple[Moves, list[str]]:
    """Return the groups that the mirror is about to commit, and why it leaves others alone."""
    states, untold = flow.target.states(list(positions), deadline)
    idle = [group for group, state in states.items() if state in (EMPTY, DEAD)]
    committed, unread = flow.target.offsets(idle, deadline)
    notes = [f"group {group}: {why}" for group, why in sorted({**untold, **unread}.items())]
    notes += [f"group {group} has members at the target and is left alone" for group in sorted(states.keys() - idle)]
    moves: dict[str, list[str]] = {}
    for group in idle:
        there = {place: each.offset for place, each in committed.get(group, {}).items()}
        translated = {each.target: each.answer.offset for each in positions[group] if each.answer.offset is not None}
        for place, offset in sorted(offsets_to_set(there, translated).items()):
            where = f"from {there[place]} to {offset}" if place in there else f"{offset}, where it has none"
            moves.setdefault(group, []).append(f"commit group {group} at {place}: {where}")
    return moves, notes
