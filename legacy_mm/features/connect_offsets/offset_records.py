"""MirrorMaker 2's position: the source offsets that its workers keep in Kafka Connect's offsets topic, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from legacy_mm.base.model import TopicPartition

Entry = tuple[bytes | None, bytes | None]


class Connector(NamedTuple):
    """A source connector, and the cluster that it reads."""

    name: str
    cluster: str
    """The alias of the cluster."""


def next_offsets(entries: Iterable[Entry]) -> Mapping[Connector, Mapping[TopicPartition, int]]:
    """Return per connector of MirrorMaker 2 the next record to copy of each partition; the last entry of a key counts.

    A worker keeps the offset of the last record that was copied. Offsets of other connectors are ignored.
    """
    found: dict[Connector, dict[TopicPartition, int]] = {}
    for key, value in entries:
        place = place_of(key)
        if place is None:
            continue
        of_connector = found.setdefault(place[0], {})
        copied = copied_of(value)
        if copied is None or copied < 0:
            of_connector.pop(place[1], None)
        else:
            of_connector[place[1]] = copied + 1
    return {connector: offsets for connector, offsets in found.items() if offsets}


def key_of(connector: Connector, place: TopicPartition) -> bytes:
    """Return the key of a partition's offset, byte for byte as MirrorMaker 2 writes it: workers look it up by bytes."""
    where = {"cluster": connector.cluster, "partition": place.partition, "topic": place.topic}
    return _text([connector.name, where])


def value_of(copied: int) -> bytes:
    """Return the value: the offset of the last record that was copied."""
    return _text({"offset": copied})


def _text(content: object) -> bytes:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def place_of(key: bytes | None) -> tuple[Connector, TopicPartition] | None:
    """Return whose offset a key is for, and the partition; None for other connectors' keys."""
    match _json(key):
        case [str(name), {"cluster": str(cluster), "partition": int(partition), "topic": str(topic)}]:
            return Connector(name, cluster), TopicPartition(topic, partition)
    return None


def copied_of(value: bytes | None) -> int | None:
    """Return the offset; None if it was taken back, as by Connect's REST interface. -1: nothing was copied, which
    MirrorMaker 2 takes for no offset.
    """
    match _json(value):
        case {"offset": int(offset)} if offset >= -1:
            return offset
    return None


def _json(text: bytes | None) -> object:
    try:
        return None if text is None else json.loads(text)
    except ValueError:  # other converters, other connectors
        return None
