"""The evidence of a claim: the position at the target beside the offset that the flow has committed. Pure.

Offsets that exactly once commits, for the group at the source or in MirrorMaker 2's offsets topic, carry a mark. So it
is seen if somebody copied in another mode since, or set other offsets, or if positions are lost. Then nobody can say
which records are at the target, and a person decides: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from legacy_mm.base.errors import Undecided
from legacy_mm.base.model import CommittedOffset, GroupMember, GroupOffsets, TopicPartition
from legacy_mm.transactions.offset_book import OffsetBook
from legacy_mm.transactions.position_records import FlowRecord, SourcePosition

_MARK = "exactly-once:"
_COMMAND = "legacy-mm exactly-once"
_TAKES_OVER = "--replaced"
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
    book: OffsetBook
    """The book of these offsets."""


class Evidence(NamedTuple):
    """The begin of each source partition of a bundle."""

    positions: dict[TopicPartition, int]
    """Taken as the target has them."""
    adopted: dict[TopicPartition, int]
    """The group's offset becomes the position, before the first record is copied."""
    unset: frozenset[TopicPartition]
    """`auto.offset.reset` says where to begin; that becomes the position, too."""


def decide_positions(
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
    """Raise Undecided if one of these positions is of another source, or the committed offset of another flow."""
    refused: list[tuple[TopicPartition, str]] = []
    for partition, position in sorted(found.items()):
        offset = source.offsets.get(partition)
        if why := _another_flow(offset, positions_topic, source.book) or _another_source(partition, position, source):
            refused.append((partition, why))
    if refused:
        (first, why), others = refused[0], len(refused) - 1
        raise Undecided(f"{first}{f' (and {others} more)' if others else ''}: {why}; nothing was changed")


def _doubt(partition: TopicPartition, position: SourcePosition | None, source: SourceSide, positions_topic: str) -> str:
    """Return why neither position nor offset is certain; empty if one is."""
    offset = source.offsets.get(partition)
    ours = offset is not None and offset.metadata == mark(positions_topic)
    if why := _another_flow(offset, positions_topic, source.book):
        return why
    if position is None or position.retired:
        return _doubt_without(position, offset, ours, source.book)
    return _another_source(partition, position, source) or _doubt_between(position, offset, ours, source.book)


def _adopt(book: OffsetBook) -> str:
    return f"{_COMMAND} adopt takes {book.offset} as the position"


def _retire(book: OffsetBook) -> str:
    return f"{_COMMAND} retire gives {book.name} the position, from which the next start adopts it"


def _another_flow(offset: CommittedOffset | None, positions_topic: str, book: OffsetBook) -> str:
    if offset is None or marked_by(offset) in ("", positions_topic):
        return ""
    return (
        f"{book.at(offset.offset)} comes from another flow of exactly once, with positions topic "
        f"{marked_by(offset)!a}, and this one has {positions_topic}: {_adopt(book)}"
    )


def _doubt_without(
    position: SourcePosition | None, offset: CommittedOffset | None, ours: bool, book: OffsetBook
) -> str:
    """Return why it is not certain that the committed offset counts: there is no position, or a retired one."""
    if position is not None and offset is None:
        return f"exactly once was switched off at offset {position.next}, and {book.offset} is gone since: {_MOVE}"
    if offset is None or not ours:
        return ""
    if position is not None:
        return (
            f"exactly once was switched off at offset {position.next}, but has committed {offset.offset} {book.into} "
            f"since: {_retire(book)}"
        )
    return (
        f"exactly once has committed offset {offset.offset} {book.into}, but the target has no position: it is "
        f"lost, or this is another target; {_adopt(book)}, and what was copied beyond it comes twice"
    )


def _another_source(partition: TopicPartition, position: SourcePosition, source: SourceSide) -> str:
    if _differ(position.cluster, source.cluster):
        return (
            f"its position {position.next} is of source cluster {position.cluster}, and this is {source.cluster}: "
            f"look at bootstrap.servers, or, if the cluster was replaced, "
            f"{_adopt(source.book) if partition in source.offsets else _MOVE}"
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


def _doubt_between(position: SourcePosition, offset: CommittedOffset | None, ours: bool, book: OffsetBook) -> str:
    if offset is None:
        return ""
    if ours and offset.offset > max(position.next, position.adopted or 0):
        return (
            f"exactly once has committed offset {offset.offset} {book.into}, but the target's position is only "
            f"{position.next}: later ones are lost; {_adopt(book)}"
        )
    if ours or offset.offset == position.adopted:
        return ""
    return (
        f"the target's position is {position.next}, and exactly once did not commit {book.at(offset.offset)}: somebody "
        f"copied in another mode since, or {'wrote there' if book.topic else 'moved the group'}; {_adopt(book)}, or "
        f"{_retire(book)}"
    )


def flow_doubt(
    found: FlowRecord | None,
    bundles: int,
    cluster: str,
    positions_topic: str,
    book: OffsetBook,
    replaced: str | None = None,
) -> str:
    """Return why a flow may not go on with what its record says; empty: it may, or has no record.

    `book`: where its offsets are. `replaced`: the source cluster in whose place a person says that this one is.
    """
    if found is None:
        return ""
    if found.bundles != bundles:
        return (
            f"positions topic {positions_topic} has the positions of {found.bundles} bundles, and this release has "
            f"{bundles}: call legacy-mm exactly-once retire of the release that made them, then delete the topic; the "
            f"next start adopts {book.offsets}"
        )
    if _differ(found.cluster, cluster) and found.cluster != replaced:
        words = f"{_TAKES_OVER} {found.cluster}"
        return (
            f"positions topic {positions_topic} has the positions of source cluster {found.cluster}, and this is "
            f"{cluster}: give this source another source.cluster.alias, or, if the cluster was replaced, {_COMMAND} "
            f"adopt {words} takes {book.offsets} as the positions, and {_COMMAND} move {words} sets them"
        )
    return ""


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
