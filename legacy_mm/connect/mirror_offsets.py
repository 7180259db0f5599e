"""The offsets of a mirror's connectors, as Connect's API shows and changes them (KIP-875).

Copying goes on behind the offset of a source connector, which is the last record that was copied. The other two keep
none: Connect shows 0. Source: contract `connect-rest.md`, section 7, and the checks of Kafka's `MirrorUtils`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from legacy_mm.assembly.exactly_once_positions import move_positions
from legacy_mm.base.clock import Deadline, sleep
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.connect.entities import ConnectorOffset, ConnectRestError
from legacy_mm.features.exactly_once.feature import EXACTLY_ONCE
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.position_book import PositionBook, position_book
from legacy_mm.words.mirror_maker_2.connector_properties import ConnectorKind

_CLUSTER, _TOPIC, _PARTITION, _OFFSET = "cluster", "topic", "partition", "offset"
_SOURCE_ALIAS, _TARGET_ALIAS = "sourceClusterAlias", "targetClusterAlias"
_STRINGS: Mapping[ConnectorKind, tuple[str, ...]] = {
    "source": (_CLUSTER, _TOPIC),
    "checkpoint": ("group", _TOPIC),
    "heartbeat": (_SOURCE_ALIAS, _TARGET_ALIAS),
}
_HASH_ORDER = (_CLUSTER, _PARTITION, _TOPIC, "group")
_INT_MAX = 2**31 - 1
_TIMEOUT, _LEAVE_TIMEOUT, _LOOK_AGAIN = 60.0, 10.0, 0.2


def offsets(settings: Settings, kind: ConnectorKind) -> list[ConnectorOffset]:
    """Return the offset of each partition; raises HostError and StreamFailure."""
    naming = settings.features.naming
    if kind == "heartbeat":
        return [ConnectorOffset({_SOURCE_ALIAS: naming.source_alias, _TARGET_ALIAS: naming.target_alias}, {_OFFSET: 0})]
    if kind == "checkpoint":
        return []
    found = position_book(settings).offsets(Deadline.after(_TIMEOUT))
    return [
        ConnectorOffset(_place(naming.source_alias, place), {_OFFSET: position.offset - 1})
        for place, position in sorted(found.items())
        if position.offset > 0
    ]


def alter(settings: Settings, kind: ConnectorKind, changes: Sequence[ConnectorOffset]) -> None:
    """Change the offsets of these partitions; None forgets one.

    Raises 500 with Kafka's words for what is no partition or offset, HostError, and StreamFailure.
    """
    for each in changes:
        if each.offset is not None:
            _check(kind, each.partition, each.offset)
    if kind != "source":
        return
    moved, forgotten = {}, []
    for each in changes:
        place = _place_of(settings.features.naming.source_alias, each.partition)
        if place is None:
            continue  # Connect takes it, and nobody reads it
        if each.offset is None:
            forgotten.append(place)
        else:
            moved[place] = int(each.offset[_OFFSET]) + 1
    book, deadline = position_book(settings), Deadline.after(_TIMEOUT)
    _wait_for_leaving(book, deadline)
    _keep(settings, book, moved, forgotten, deadline)


def reset(settings: Settings, kind: ConnectorKind) -> None:
    """Forget all offsets; raises HostError and StreamFailure."""
    if kind != "source":
        return
    book, deadline = position_book(settings), Deadline.after(_TIMEOUT)
    _wait_for_leaving(book, deadline)
    _keep(settings, book, {}, list(book.offsets(deadline)), deadline)


def _keep(
    settings: Settings, book: PositionBook, moved: Offsets, forgotten: Sequence[TopicPartition], deadline: Deadline
) -> None:
    """Set and forget positions in the way in which the flow keeps them."""
    if not (moved or forgotten):
        return
    if settings.features[EXACTLY_ONCE] is not None:
        move_positions(settings, moved, forgotten, deadline)
        return
    if moved:
        book.commit(moved, deadline)
    if forgotten:
        book.forget(forgotten, deadline)


def _wait_for_leaving(book: PositionBook, deadline: Deadline) -> None:
    """Wait for the members of a flow that was just stopped; raise HostError for those that stay."""
    leaving = Deadline.after(_LEAVE_TIMEOUT)
    while book.is_in_use(deadline) and not leaving.expired():
        sleep(_LOOK_AGAIN)
    book.require_no_members(deadline)


def _place(cluster: str, place: TopicPartition) -> dict[str, Any]:
    return {_CLUSTER: cluster, _PARTITION: place.partition, _TOPIC: place.topic}


def _place_of(cluster: str, partition: Mapping[str, Any]) -> TopicPartition | None:
    """Return the partition of this cluster that is meant; None for anything else."""
    match partition:
        case {"cluster": found, "topic": str() as topic, "partition": int() as number} if found == cluster:
            return TopicPartition(topic, number) if number >= 0 else None
    return None


def _check(kind: ConnectorKind, partition: Mapping[str, Any], offset: Mapping[str, Any]) -> None:
    for key in _STRINGS[kind]:
        _require(partition, key)
        if not isinstance(partition[key], str):
            raise _invalid(partition, key, "must be a string")
    if kind != "heartbeat":
        _require(partition, _PARTITION)
        number = partition[_PARTITION]
        if not _is_whole(number) or number > _INT_MAX:
            raise _invalid(partition, _PARTITION, "must be an integer")
        if number < 0:
            raise _invalid(partition, _PARTITION, "cannot be negative")
    what = f"Source offset {_java_map(offset)} for source partition {_java_map(partition)}"
    if _OFFSET not in offset:
        raise _refused(f"{what} is missing the '{_OFFSET}' key, which is required")
    value, key = offset[_OFFSET], f"for the '{_OFFSET}' key"
    if not _is_whole(value):
        raise _refused(f"{what} has an invalid value {_java(value)} {key}, which must be an integer")
    if kind != "source" and value != 0:
        raise _refused(f"{what} has an invalid value {_java(value)} {key}; the only accepted value is 0")
    if value < 0:
        raise _refused(f"{what} has an invalid value {_java(value)} {key}, which cannot be negative")


def _require(partition: Mapping[str, Any], key: str) -> None:
    if key not in partition:
        raise _refused(f"Source partition {_java_map(partition)} is missing the '{key}' key, which is required")


def _invalid(partition: Mapping[str, Any], key: str, why: str) -> ConnectRestError:
    where = f"Source partition {_java_map(partition)} has an invalid value {_java(partition[key])}"
    return _refused(f"{where} for the '{key}' key, which {why}")


def _refused(why: str) -> ConnectRestError:
    return ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, why)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _java_map(values: Mapping[str, Any]) -> str:
    """Return a map as Java writes it, in the order of the hashes of its keys."""
    known = [key for key in _HASH_ORDER if key in values]
    keys = [*known, *(key for key in values if key not in known)]
    return "{" + ", ".join(f"{key}={_java(values[key])}" for key in keys) + "}"


def _java(value: object) -> str:
    """Return a value of JSON as Java writes it."""
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)
