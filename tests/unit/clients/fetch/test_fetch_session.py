"""What is asked of a broker that remembers, against a model of one; no socket."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer.fetch import FetchRequest

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.fetch.fetch_session import FetchSession, options_from
from legacy_mm.protocol import fetch_messages
from legacy_mm.protocol.fetch_messages import FetchResponse, Session, Wanted
from legacy_mm.words.java_clients.client_properties.apply import apply
from tests.fixtures import client_settings

A, B, C = (Wanted(TopicPartition("t", number), 10, 1) for number in range(3))
NOT_FOUND, WRONG_EPOCH = 70, 71
LAST_EPOCH = (1 << 31) - 1


def answer(session_id: int, error: int = 0) -> FetchResponse:
    return FetchResponse(0, error, session_id, [])


class RememberingBroker:
    """A broker's side of KIP-227: what it looks at for each request."""

    def __init__(self) -> None:
        self.looked_at: dict[TopicPartition, Wanted] = {}
        self._id = self._epoch = 0
        self._ids = 100

    def asked(self, session: Session, *, room: bool) -> FetchResponse:
        """The answer; without room for sessions it keeps none."""
        told = {want.partition: want for want in session.wanted}
        if session.epoch == 0:
            self.looked_at, self._ids = told, self._ids + 1
            self._id, self._epoch = (self._ids, 1) if room else (0, 0)
            return answer(self._id)
        if session.id != self._id:
            return answer(0, NOT_FOUND)
        if session.epoch != self._epoch:
            return answer(0, WRONG_EPOCH)
        self.looked_at |= told
        for partition in session.forgotten:
            del self.looked_at[partition]
        self._epoch = self._epoch % LAST_EPOCH + 1
        return answer(self._id)

    def forget(self) -> None:
        """The session is thrown out for others."""
        self._id = 0


def test_only_what_is_new_is_told() -> None:
    session = FetchSession()
    assert session.next([A, B]) == (0, 0, [A, B], [])
    assert session.answered(answer(7))
    assert session.next([A, B]) == (7, 1, [], [])
    assert session.answered(answer(7))
    moved = B._replace(offset=20)
    assert session.next([A, moved]) == (7, 2, [moved], [])
    assert session.answered(answer(7))
    other_leader = A._replace(leader_epoch=2)
    assert session.next([C, other_leader]) == (7, 3, [C, other_leader], [B.partition])


def test_a_broker_that_keeps_no_session_is_told_everything() -> None:
    session = FetchSession()
    for _ in range(2):
        assert session.next([A, B]) == (0, 0, [A, B], [])
        assert session.answered(answer(0))


def test_after_a_failure_a_new_session_takes_the_place_of_the_old_one() -> None:
    session = FetchSession()
    session.next([A])
    session.answered(answer(7))
    session.next([A, B])
    session.failed()
    assert session.next([A, B]) == (7, 0, [A, B], [])


def test_epochs_begin_again_at_one() -> None:
    session = FetchSession()
    session.next([A])
    session.answered(answer(7))
    session._epoch = LAST_EPOCH
    session.answered(answer(7))
    assert session.next([A]).epoch == 1


STEPS = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, 5), st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1),
        st.sampled_from(["answered", "answered", "answered", "request lost", "answer lost", "forgotten", "no room"]),
    )
)


@given(STEPS)
def test_the_broker_always_looks_at_what_is_wanted(steps: list[tuple[dict[int, tuple[int, int]], str]]) -> None:
    session, broker = FetchSession(), RememberingBroker()
    for rows, what in steps:
        wanted = [Wanted(TopicPartition("t", number), *row) for number, row in rows.items()]
        if what == "forgotten":
            broker.forget()
        request = session.next(wanted)
        if what == "request lost":
            session.failed()
            continue
        response = broker.asked(request, room=what != "no room")
        if what == "answer lost":
            session.failed()
        elif session.answered(response):
            assert broker.looked_at == {want.partition: want for want in wanted}
        else:
            assert what == "forgotten"
            assert session.next(wanted).wanted == wanted
            session.failed()


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
    properties = client_settings.texts(
        apply("consumer", {"bootstrap.servers": "one:1", "group.id": "g", **file}, streams=1)
    )
    fetch = replace(client_settings.read_consumer(properties).fetch, backlog_bytes=backlog)
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
