"""The evidence of a claim: the position at the target beside the group's offset at the source. Pure.

Offsets that exactly once commits at the source carry a mark in their metadata. So it is seen if somebody copied in
another mode since, or moved the group, or if positions are lost. Then nobody can say which records are at the target,
and a person decides: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.errors import Undecided
from legacy_mm.exactly_once.position_records import FlowRecord, SourcePosition
from legacy_mm.model import CommittedOffset, GroupOffsets, TopicPartition

_MARK = "exactly-once:"
_COMMAND = "legacy-mm exactly-once"
_TAKES_OVER = "--replaced"
_ADOPT = f"{_COMMAND} adopt takes the group's offset as the position"
_RETIRE = f"{_COMMAND} retire gives the group the position, from which the next start adopts it"
_MOVE = f"{_COMMAND} move sets the position"


def mark(positions_topic: str) -> str:
    """Return the metadata of offsets that exactly once commits for the group at the source."""
    return f"{_MARK}{positions_topic}"


def marked_by(offset: CommittedOffset) -> str:
    """Return the positions topic of the flow that has committed this offset exactly once; empty: none has."""
    return offset.metadata.removeprefix(_MARK) if offset.metadata.startswith(_MARK) else ""


@dataclass(frozen=True, slots=True)
class SourceSide:
    """The source as a claim finds it."""

    cluster: str
    """Empty: brokers before 0.10.1 have no id."""
    topic_ids: Mapping[str, str]
    """Empty: brokers before 2.8 have none."""
    offsets: GroupOffsets


class Evidence(NamedTuple):
    """The begin of each source partition of a bundle."""

    positions: dict[TopicPartition, int]
    """Taken as the target has them."""
    adopted: dict[TopicPartition, int]
    """The group's offset becomes the position, before the first record is copied."""
    unset: frozenset[TopicPartition]
    """`auto.offset.reset` says where to begin; that becomes the position, too."""


def weigh(
    partitions: Collection[TopicPartition],
    found: Mapping[TopicPartition, SourcePosition],
    source: SourceSide,
    positions_topic: str,
) -> Evidence:
    """Return where a bundle's partitions begin. Raise Undecided if that is not certain for one of them."""
    positions: dict[TopicPartition, int] = {}
    adopted: dict[TopicPartition, int] = {}
    unset: set[TopicPartition] = set()
    refused: list[tuple[TopicPartition, str]] = []
    for partition in sorted(partitions):
        position, offset = found.get(partition), source.offsets.get(partition)
        if why := _doubt(partition, position, source, positions_topic):
            refused.append((partition, why))
        elif position is not None and not position.retired:
            positions[partition] = position.next
        elif offset is not None:
            adopted[partition] = offset.offset
        else:
            unset.add(partition)
    if refused:
        (first, why), others = refused[0], len(refused) - 1
        more = f" (and {others} more of its bundle)" if others else ""
        raise Undecided(f"exactly once cannot go on with {first}{more}: {why}")
    return Evidence(positions, adopted, frozenset(unset))


def require_own(found: Mapping[TopicPartition, SourcePosition], source: SourceSide, positions_topic: str) -> None:
    """Raise Undecided if one of these positions is of another source, or the group's offset of another flow."""
    refused: list[tuple[TopicPartition, str]] = []
    for partition, position in sorted(found.items()):
        offset = source.offsets.get(partition)
        if why := _another_flow(offset, positions_topic) or _another_source(partition, position, source, offset):
            refused.append((partition, why))
    if refused:
        (first, why), others = refused[0], len(refused) - 1
        raise Undecided(f"{first}{f' (and {others} more)' if others else ''}: {why}; nothing was changed")


def _doubt(partition: TopicPartition, position: SourcePosition | None, source: SourceSide, positions_topic: str) -> str:
    """Return why neither position nor offset is certain; empty if one is."""
    offset = source.offsets.get(partition)
    ours = offset is not None and offset.metadata == mark(positions_topic)
    if why := _another_flow(offset, positions_topic):
        return why
    if position is None or position.retired:
        return _doubt_without(position, offset, ours)
    return _another_source(partition, position, source, offset) or _doubt_between(position, offset, ours)


def _another_flow(offset: CommittedOffset | None, positions_topic: str) -> str:
    if offset is None or marked_by(offset) in ("", positions_topic):
        return ""
    return (
        f"the group's offset {offset.offset} comes from another flow of exactly once, with positions topic "
        f"{marked_by(offset)!a}, and this one has {positions_topic}: {_ADOPT}"
    )


def _doubt_without(position: SourcePosition | None, offset: CommittedOffset | None, ours: bool) -> str:
    """Return why it is not certain that the group's offset counts: there is no position, or a retired one."""
    if position is not None and offset is None:
        return f"exactly once was switched off at offset {position.next}, and the group's offset is gone since: {_MOVE}"
    if offset is None or not ours:
        return ""
    if position is not None:
        return (
            f"exactly once was switched off at offset {position.next}, but has committed {offset.offset} for the group "
            f"since: {_RETIRE}"
        )
    return (
        f"exactly once has committed offset {offset.offset} for the group, but the target has no position: it is "
        f"lost, or this is another target; {_ADOPT}, and what was copied beyond it comes twice"
    )


def _another_source(
    partition: TopicPartition, position: SourcePosition, source: SourceSide, offset: CommittedOffset | None
) -> str:
    if _differ(position.cluster, source.cluster):
        return (
            f"its position {position.next} is of source cluster {position.cluster}, and this is {source.cluster}: "
            f"look at bootstrap.servers, or, if the cluster was replaced, {_MOVE if offset is None else _ADOPT}"
        )
    topic_id = source.topic_ids.get(partition.topic, "")
    if _differ(position.topic_id, topic_id):
        return (
            f"its position {position.next} is of a topic with id {position.topic_id}, and now it has id {topic_id}: "
            f"the topic was made anew; {_MOVE}, to 0 for all records of the new topic"
        )
    return ""


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and one != other


def _doubt_between(position: SourcePosition, offset: CommittedOffset | None, ours: bool) -> str:
    if offset is None:
        return ""
    if ours and offset.offset > max(position.next, position.adopted or 0):
        return (
            f"exactly once has committed offset {offset.offset} for the group, but the target's position is only "
            f"{position.next}: later ones are lost; {_ADOPT}"
        )
    if ours or offset.offset == position.adopted:
        return ""
    return (
        f"the target's position is {position.next}, and exactly once did not commit the group's offset "
        f"{offset.offset}: somebody copied in another mode since, or moved the group; {_ADOPT}, or {_RETIRE}"
    )


def flow_doubt(
    found: FlowRecord | None, bundles: int, cluster: str, positions_topic: str, replaced: str | None = None
) -> str:
    """Return why a flow may not go on with what its record says; empty: it may, or has no record.

    `replaced`: the source cluster in whose place a person says that this one is.
    """
    if found is None:
        return ""
    if found.bundles != bundles:
        return (
            f"positions topic {positions_topic} has the positions of {found.bundles} bundles, and this release has "
            f"{bundles}: call legacy-mm exactly-once retire of the release that made them, then delete the topic; the "
            "next start adopts the group's offsets"
        )
    if _differ(found.cluster, cluster) and found.cluster != replaced:
        words = f"{_TAKES_OVER} {found.cluster}"
        return (
            f"positions topic {positions_topic} has the positions of source cluster {found.cluster}, and this is "
            f"{cluster}: give this source another source.cluster.alias, or, if the cluster was replaced, {_COMMAND} "
            f"adopt {words} takes the group's offsets as the positions, and {_COMMAND} move {words} sets them"
        )
    return ""


class GroupMember(NamedTuple):
    """A member of the group at the source, as the coordinator describes it."""

    client_id: str
    host: str


def group_doubt(group: str, protocol: str, ours: str, members: Collection[GroupMember]) -> str:
    """Return why the group at the source cannot be joined; empty: it can.

    `protocol`: the one that its members agreed on; empty while they join.
    """
    if not members or protocol in ("", ours):
        return ""
    names = ", ".join(f"{each.client_id} on {each.host.lstrip('/')}" for each in sorted(members))
    return (
        f"group {group} has members that do not copy exactly once (protocol {protocol}): {names}; "
        "stop them, each with TERM so that it commits what it has copied, then start again"
    )
