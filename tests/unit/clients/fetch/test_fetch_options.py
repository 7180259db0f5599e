"""What the consumer's file says about fetching is in the requests; the bytes are read by another implementation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kafka.protocol.consumer.fetch import FetchRequest

from legacy_mm.base import property_names
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.fetch.fetch_options import options_from
from legacy_mm.protocol import fetch_messages
from legacy_mm.protocol.fetch_messages import Session, Wanted
from legacy_mm.words.java_clients.client_properties.apply import apply

BACKLOG = 100 << 20
SESSION = Session(0, 0, [Wanted(TopicPartition("t", 0), 7, 3)], [])
IN_JAVA = {
    "client.rack": ("", "room 4"),
    "fetch.min.bytes": (1, 1234),
    "fetch.max.wait.ms": (500, 321),
    "max.partition.fetch.bytes": (1 << 20, 2 << 20),
    "fetch.max.bytes": (50 << 20, 40 << 20),
    "isolation.level": ("read_uncommitted", "read_committed"),
}
"""Java's default, and another value."""


def asked_for(file: dict[str, str], backlog: int = BACKLOG) -> list[object]:
    """In the order of the table."""
    properties = apply("consumer", {"bootstrap.servers": "one:1", "group.id": "g", **file}, streams=1).properties
    fetch = replace(property_names.read_consumer(properties).fetch, backlog_bytes=backlog)
    body = fetch_messages.encode(fetch_messages.HIGHEST, options_from(fetch), SESSION)
    read = FetchRequest.decode(body, version=fetch_messages.HIGHEST)
    (row,) = read.topics[0].partitions
    level = ("read_uncommitted", "read_committed")[read.isolation_level]
    return [read.rack_id, read.min_bytes, read.max_wait_ms, row.partition_max_bytes, read.max_bytes, level]


@pytest.mark.parametrize("name", [None, *IN_JAVA])
def test_each_property_reaches_the_broker_and_no_other_changes(name: str | None) -> None:
    wanted = [other if each == name else default for each, (default, other) in IN_JAVA.items()]
    assert asked_for({} if name is None else {name: str(IN_JAVA[name][1])}) == wanted


def test_no_answer_is_more_than_may_wait() -> None:
    assert asked_for({}, backlog=1 << 20)[4] == 1 << 20
