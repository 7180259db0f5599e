"""A member whose offsets are records: what it tells the stream, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.clients.group.member import CommitProblem, Failed, MembershipListener
from legacy_mm.features.connect_offsets.connect_member import ConnectMember
from legacy_mm.features.connect_offsets.offsets_topic import OffsetsTopic, OnWritten

T0 = TopicPartition("t", 0)


class Book(OffsetsTopic):
    """Positions that are written when somebody waits for them."""

    def __init__(self) -> None:
        self.refuses: str | None = None
        self.written: dict[TopicPartition, tuple[int, str]] = {}
        self._waiting_here: list[tuple[TopicPartition, int, str, OnWritten]] = []

    def positions(
        self, partitions: Collection[TopicPartition], silence: float
    ) -> dict[TopicPartition, CommittedOffset]:
        if self.refuses:
            raise HostError(self.refuses)
        return {each: CommittedOffset(7) for each in partitions}

    def write(self, offsets: Offsets, metadata: str, told: OnWritten) -> None:
        self._waiting_here += [(partition, offset, metadata, told) for partition, offset in offsets.items()]

    def poll(self) -> None:
        """Nothing comes before somebody waits."""

    def flush(self, deadline: Deadline) -> bool:
        for partition, offset, metadata, told in self._waiting_here:
            if not self.refuses:
                self.written[partition] = offset, metadata
            told(partition, offset, self.refuses)
        self._waiting_here.clear()
        return True


class Group:
    """The membership behind it."""

    name = "Consumer clientId=c, groupId=g"

    def __init__(self) -> None:
        self.generation = 1
        self.calls: list[Any] = []
        self.listener: MembershipListener | None = None

    def __getattr__(self, name: str) -> Callable[..., bool]:
        def called(*words: Any) -> bool:
            self.calls.append((name, *words))
            return True

        return called


class Stream:
    """The listener."""

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []
        self.on_revoked: Callable[[], None] = lambda: None

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        self.told.append(("assigned", partitions))

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        self.told.append(("revoked", partitions))
        self.on_revoked()

    def lost(self, partitions: frozenset[TopicPartition]) -> None:
        self.told.append(("lost", partitions))

    def committed(self, offsets: Offsets, failed: Failed) -> None:
        self.told.append(("committed", (offsets, failed)))


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def group() -> Group:
    return Group()


@pytest.fixture
def stream() -> Stream:
    return Stream()


@pytest.fixture
def member(book: Book, group: Group, stream: Stream) -> ConnectMember:
    def join(listener: MembershipListener) -> Any:
        group.listener = listener
        return group

    return ConnectMember(join, stream, book, "mark")


def test_what_is_written_comes_to_the_listener_out_of_a_poll(member: ConnectMember, book: Book, stream: Stream) -> None:
    member.commit({T0: 5})
    assert stream.told == []
    book.flush(Deadline.after(1))
    member.poll(0.0)
    assert stream.told == [("committed", ({T0: 5}, {}))]
    assert book.written == {T0: (5, "mark")}


def test_a_refusal_is_tried_again(member: ConnectMember, book: Book, stream: Stream) -> None:
    book.refuses = "topic stored: TOPIC_AUTHORIZATION_FAILED"
    member.commit({T0: 5})
    book.flush(Deadline.after(1))
    member.poll(0.0)
    assert stream.told == [("committed", ({}, {T0: (CommitProblem.RETRY, book.refuses)}))]


def test_the_last_offsets_are_stored_before_another_node_has_the_partitions(
    member: ConnectMember, group: Group, book: Book, stream: Stream
) -> None:
    stream.on_revoked = lambda: member.commit({T0: 9})
    assert group.listener is not None
    group.listener.revoked(frozenset({T0}))
    assert book.written == {T0: (9, "mark")}
    assert [what for what, _ in stream.told] == ["revoked", "committed"]


def test_without_a_generation_nothing_is_stored(
    member: ConnectMember, group: Group, book: Book, stream: Stream
) -> None:
    """Another node may own the partitions already."""
    group.generation = -1
    member.commit({T0: 5})
    book.flush(Deadline.after(1))
    assert book.written == {}
    assert stream.told == [("committed", ({}, {T0: (CommitProblem.REJOINING, "no generation")}))]


def test_positions_come_from_the_topic(member: ConnectMember, book: Book) -> None:
    wanted: Iterable[TopicPartition] = iter([T0])
    assert member.committed(wanted, 1.0) == {T0: CommittedOffset(7)}
    book.refuses = "a transaction is open"
    with pytest.raises(TimeoutError, match="a transaction is open"):
        member.committed([T0], 1.0)


def test_the_rest_is_the_groups(member: ConnectMember, group: Group) -> None:
    member.subscribe({"t"})
    member.poll(0.5)
    member.ask_heartbeat()
    assert member.confirmed_after(3.0)
    member.close()
    words = [("subscribe", {"t"}), ("poll", 0.5), ("ask_heartbeat",), ("confirmed_after", 3.0), ("close",)]
    assert (member.name, member.generation, group.calls) == (group.name, 1, words)
