"""The records of the positions topic, at the target: key and value as JSON that a console consumer shows.

Partition 0 holds the flow's record. The partition of a bundle holds the position of each of its source partitions, and
the claim of its last owner. The last record of a key counts. A position without a value was taken back by a command.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import FLOW, bundle_of
from legacy_mm.transactions.versioned_json import (
    JsonFields,
    is_flag,
    is_text,
    is_topic,
    or_null,
    parsed,
    read,
    whole,
    written,
)

_COUNT, _OFFSET = whole(1), whole(0, 63)


class SourcePosition(NamedTuple):
    """The state of a source partition when a transaction was committed."""

    next: int
    """The first offset that is not copied."""
    leader_epoch: int
    """The epoch of the record before it; -1: unknown."""
    topic_id: str
    """The topic's id at the source; empty: brokers before 2.8 have none."""
    cluster: str
    """The id of the source cluster; empty: unknown."""
    at: int
    """When it was written, in ms since 1970."""
    adopted: int | None = None
    """The offset that the group had when the position was adopted, or set back because the source's log had parted
    from what was copied. None as soon as the group's offset follows the position.
    """
    retired: bool = False
    """Exactly once was switched off: the group's offset counts again."""


class Claim(NamedTuple):
    """An owner of a bundle, written before it reads the positions."""

    bundle: int
    """FLOW: the flow's own."""
    bundles: int
    cluster: str
    host: str
    generation: int
    """The generation of the group at the source."""
    at: int


class FlowRecord(NamedTuple):
    """The facts that never change while a flow has positions."""

    bundles: int
    cluster: str
    """The id of the source cluster; empty: unknown."""
    at: int


PositionEntry = tuple[TopicPartition, SourcePosition | None]
"""None: taken back."""
PositionsRecord = tuple[bytes, bytes | None]
"""Key and value."""

_KEYS: dict[str, JsonFields] = {
    "position": {"kind": is_text, "topic": is_topic, "partition": whole(0)},
    "claim": {"kind": is_text, "bundle": whole(FLOW)},
    "flow": {"kind": is_text},
}
_POSITION: JsonFields = {
    "next": _OFFSET,
    "leader_epoch": whole(-1),
    "topic_id": is_text,
    "cluster": is_text,
    "at": _OFFSET,
    "adopted": or_null(_OFFSET),
    "retired": is_flag,
}
_CLAIM: JsonFields = {
    "bundles": _COUNT,
    "cluster": is_text,
    "host": is_text,
    "generation": whole(-1),
    "at": _OFFSET,
}
_FLOW: JsonFields = {"bundles": _COUNT, "cluster": is_text, "at": _OFFSET}


def encode_position(partition: TopicPartition, position: SourcePosition | None) -> PositionsRecord:
    """Return the record that moves a position, or takes it back."""
    key = written({"kind": "position", "topic": partition.topic, "partition": partition.partition})
    return key, None if position is None else written(position._asdict())


def encode_claim(claim: Claim) -> PositionsRecord:
    """Return the record of an owner."""
    values = claim._asdict()
    return written({"kind": "claim", "bundle": values.pop("bundle")}), written(values)


def encode_flow(flow: FlowRecord) -> PositionsRecord:
    """Return the flow's record."""
    return written({"kind": "flow"}), written(flow._asdict())


def decode(key: bytes | None, value: bytes | None) -> PositionEntry | Claim | FlowRecord:
    """Return what a record says; raise ValueError with the reason why it is none of ours."""
    try:
        kind = parsed(key).get("kind")
        fields = _KEYS.get(kind) if isinstance(kind, str) else None
        if fields is None:
            raise ValueError("is of another kind")
        names = read(key, fields)
    except ValueError as error:
        raise ValueError(f"its key {error}") from error
    try:
        if kind == "claim":
            return Claim(names["bundle"], **read(value, _CLAIM))
        if kind == "flow":
            return FlowRecord(**read(value, _FLOW))
        position = None if value is None else SourcePosition(**read(value, _POSITION))
    except ValueError as error:
        raise ValueError(f"its value {error}") from error
    return TopicPartition(names["topic"], names["partition"]), position


@dataclass(slots=True)
class BundleLog:
    """All that the committed records of a bundle's partition say."""

    positions: dict[TopicPartition, SourcePosition] = field(default_factory=dict)
    flow: FlowRecord | None = None
    owner: Claim | None = None
    """The bundle's last one."""


def read_bundle(
    partition: TopicPartition, bundles: int, records: Iterable[tuple[int, bytes | None, bytes | None]]
) -> BundleLog:
    """Read offset, key and value of all committed records of a partition of the positions topic, in their order.

    Of each key only the last counts, as after compaction. Raise StreamFailure if no owner of this bundle writes such a
    record: nobody can say what it means for the positions.
    """
    last: dict[bytes | None, tuple[int, bytes | None]] = {}
    for offset, key, value in records:
        last.pop(key, None)
        last[key] = offset, value
    log = BundleLog()
    for key, (offset, value) in last.items():
        try:
            _take(log, partition.partition, bundles, decode(key, value))
        except ValueError as error:
            raise StreamFailure(
                f"partition {partition} of the positions topic has a record at offset {offset} that this release of "
                f"legacy_mm did not write: {error}; nothing is copied until it is clear who wrote it"
            ) from error
    return log


def _take(log: BundleLog, bundle: int, bundles: int, record: PositionEntry | Claim | FlowRecord) -> None:
    match record:
        case FlowRecord():
            if bundle:
                raise ValueError("only partition 0 has a flow record")
            log.flow = record
        case Claim():
            if record.bundle != bundle and (record.bundle != FLOW or bundle):
                raise ValueError(f"it is a claim of bundle {record.bundle}")
            if record.bundles != bundles:
                raise ValueError(f"it is a claim by an owner that has {record.bundles} bundles, not {bundles}")
            log.owner = log.owner if record.bundle == FLOW else record
        case source, position:
            if bundle_of(source, bundles) != bundle:
                raise ValueError(f"{source} belongs to bundle {bundle_of(source, bundles)} of {bundles}")
            log.positions.pop(source, None)
            if position is not None:
                log.positions[source] = position
