"""Offsets of connectors: what is shown, what is checked before anything changes, and what is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.connect import mirror_offsets
from legacy_mm.connect.entities import ConnectorOffset, ConnectRestError
from legacy_mm.features import flags
from tests.unit.flow_settings import flow_settings

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
PLACE: dict[str, Any] = {"cluster": "A", "partition": 0, "topic": "t"}
SETTINGS = replace(
    flow_settings(), features=flags.settings({"source.cluster.alias": ["A"], "target.cluster.alias": ["B"]})
)


class Book:
    """The positions of a flow."""

    def __init__(self) -> None:
        self.positions = {T0: 5, T1: 0}
        self.in_use = False
        self.leaves_after: int | None = None
        """The number of looks after which its last member has left."""

    def is_in_use(self, deadline: Deadline) -> bool:
        if self.leaves_after is not None:
            self.leaves_after -= 1
            self.in_use = self.leaves_after > 0
        return self.in_use

    def offsets(self, deadline: Deadline) -> dict[TopicPartition, CommittedOffset]:
        return {place: CommittedOffset(offset) for place, offset in self.positions.items()}

    def require_no_members(self, deadline: Deadline) -> None:
        if self.in_use:
            raise HostError("stop its members first")

    def commit(self, offsets: Mapping[TopicPartition, int], deadline: Deadline) -> None:
        self.positions |= offsets

    def forget(self, partitions: Collection[TopicPartition], deadline: Deadline) -> None:
        for each in partitions:
            del self.positions[each]


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> Book:
    found = Book()
    monkeypatch.setattr(mirror_offsets, "position_book", lambda settings: found)
    return found


def test_an_offset_is_the_last_record_that_was_copied(book: Book) -> None:
    assert mirror_offsets.offsets(SETTINGS, "source") == [ConnectorOffset(PLACE, {"offset": 4})]
    (heartbeat,) = mirror_offsets.offsets(SETTINGS, "heartbeat")
    assert heartbeat.partition == {"sourceClusterAlias": "A", "targetClusterAlias": "B"}


def test_copying_goes_on_behind_the_offset_that_is_set(book: Book) -> None:
    mirror_offsets.alter(SETTINGS, "source", [ConnectorOffset(PLACE, {"offset": 1})])
    assert book.positions == {T0: 2, T1: 0}
    mirror_offsets.alter(SETTINGS, "source", [ConnectorOffset(PLACE, None)])
    assert book.positions == {T1: 0}
    mirror_offsets.reset(SETTINGS, "source")
    assert book.positions == {}


def test_the_offset_of_another_cluster_changes_nothing(book: Book) -> None:
    mirror_offsets.alter(SETTINGS, "source", [ConnectorOffset({**PLACE, "cluster": "C"}, {"offset": 1})])
    assert book.positions == {T0: 5, T1: 0}


def test_nothing_is_changed_while_others_copy(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_offsets, "_LEAVE_TIMEOUT", 0.0)
    book.in_use = True
    for change in (
        lambda: mirror_offsets.alter(SETTINGS, "source", [ConnectorOffset(PLACE, {"offset": 1})]),
        lambda: mirror_offsets.reset(SETTINGS, "source"),
    ):
        with pytest.raises(HostError, match="stop its members first"):
            change()
    assert book.positions == {T0: 5, T1: 0}


def test_a_flow_that_was_just_stopped_is_waited_for(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_offsets, "_LOOK_AGAIN", 0.0)
    book.in_use, book.leaves_after = True, 3
    mirror_offsets.alter(SETTINGS, "source", [ConnectorOffset(PLACE, {"offset": 1})])
    assert book.positions[T0] == 2
    book.in_use, book.leaves_after = True, 3
    mirror_offsets.reset(SETTINGS, "source")
    assert book.positions == {}


@pytest.mark.parametrize(
    ("partition", "offset", "why"),
    [
        ({"cluster": "A", "partition": 0}, {"offset": 1}, "is missing the 'topic' key, which is required"),
        ({**PLACE, "topic": 3}, {"offset": 1}, "invalid value 3 for the 'topic' key, which must be a string"),
        ({**PLACE, "partition": "0"}, {"offset": 1}, "for the 'partition' key, which must be an integer"),
        ({**PLACE, "partition": 2**31}, {"offset": 1}, "for the 'partition' key, which must be an integer"),
        ({**PLACE, "partition": -1}, {"offset": 1}, "for the 'partition' key, which cannot be negative"),
        (
            PLACE,
            {},
            "Source offset {} for source partition {cluster=A, partition=0, topic=t} is missing the 'offset' key",
        ),
        (PLACE, {"offset": "1"}, "for the 'offset' key, which must be an integer"),
        (PLACE, {"offset": True}, "for the 'offset' key, which must be an integer"),
        (PLACE, {"offset": None}, "Source offset {offset=null} for source partition {cluster=A, partition=0, topic=t}"),
        ({"topic": 1, "cluster": "A"}, {"offset": 1}, "{cluster=A, topic=1} has an invalid value 1"),
        (PLACE, {"offset": -1}, "for the 'offset' key, which cannot be negative"),
    ],
)
def test_what_is_no_offset_is_refused_in_kafka_s_words(
    partition: dict[str, Any], offset: dict[str, Any], why: str, book: Book
) -> None:
    with pytest.raises(ConnectRestError) as error:
        mirror_offsets.alter(
            SETTINGS, "source", [ConnectorOffset(PLACE, {"offset": 1}), ConnectorOffset(partition, offset)]
        )
    assert (error.value.status, why in error.value.message) == (HTTPStatus.INTERNAL_SERVER_ERROR, True), error.value
    assert book.positions == {T0: 5, T1: 0}, "one that is wrong holds up all"


def test_the_others_keep_none_and_take_only_0(book: Book) -> None:
    place = {"group": "g", "partition": 0, "topic": "t"}
    mirror_offsets.alter(SETTINGS, "checkpoint", [ConnectorOffset(place, {"offset": 0}), ConnectorOffset(place, None)])
    with pytest.raises(ConnectRestError, match="the only accepted value is 0"):
        mirror_offsets.alter(SETTINGS, "checkpoint", [ConnectorOffset(place, {"offset": 1})])
    assert mirror_offsets.offsets(SETTINGS, "checkpoint") == []
    assert book.positions == {T0: 5, T1: 0}


@pytest.mark.parametrize("partition", [{}, {"cluster": "A"}, {**PLACE, "partition": "0"}, {**PLACE, "partition": -1}])
def test_an_offset_of_nothing_may_be_forgotten(partition: dict[str, Any], book: Book) -> None:
    """Connect lets users clean up whatever stands there."""
    mirror_offsets.alter(SETTINGS, "source", [ConnectorOffset(partition, None)])
    assert book.positions == {T0: 5, T1: 0}
