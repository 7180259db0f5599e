"""Whose turn it is to be asked for, and what comes out of an answer; no socket."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from math import inf
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from kafka.protocol.consumer.fetch import FetchResponse

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import CorruptRecords, StreamFailure
from legacy_mm.base.model import EARLIEST, LATEST
from legacy_mm.base.reports import Started
from legacy_mm.clients.fetch.fetcher import NOWHERE, Fetcher
from legacy_mm.clients.net.connection_errors import RequestRefused
from legacy_mm.clients.net.traffic import Traffic
from legacy_mm.protocol.fetch_messages import FetchedPartition
from tests.fakes.cluster import OneBroker
from tests.unit.clients.one_broker import (
    CORRUPT,
    NOT_AUTHORIZED,
    NOT_LEADER,
    OPTIONS,
    OTHER,
    OUT_OF_RANGE,
    SECONDS,
    UNKNOWN,
    A,
    B,
    C,
    Unattended,
    answer,
    asked,
    batch_at,
    next_started,
    partitions,
    reader_of,
    taken,
)

SECONDS_OF_A_HANG = 600.0


def test_a_partition_is_in_one_request_at_a_time(fetcher: Fetcher) -> None:
    wanted = asked(fetcher)
    assert partitions(wanted) == [A, B, C]
    assert asked(fetcher) == []
    fetcher.answered(wanted, [answer(A), answer(B), answer(C)])
    assert partitions(asked(fetcher)) == [A, B, C]


def test_who_brought_records_waits_for_the_others(fetcher: Fetcher) -> None:
    """Else the first partitions of a backlog would fill every answer."""
    fetcher.answered(asked(fetcher), [answer(A, batch_at(20)), answer(B), answer(C)])
    wanted = asked(fetcher)
    assert partitions(wanted) == [B, C, A]
    assert [want.offset for want in wanted] == [20, 20, 23]


def test_records_come_out_with_the_place_where_copying_begins(fetcher: Fetcher) -> None:
    fetcher.answered(asked(fetcher), [answer(A, batch_at(18, 5) + batch_at(23) + batch_at(26)[:30])])
    fetched = taken(fetcher)
    assert fetched is not None
    assert (fetched.partition, fetched.position, fetched.record_set.batches) == (A, 20, 2)
    assert taken(fetcher) is None


def test_an_answer_for_a_place_that_is_not_wanted_any_more_is_left(fetcher: Fetcher) -> None:
    wanted = asked(fetcher)
    fetcher.resume({A: 50})
    fetcher.answered(wanted, [answer(A, batch_at(20))])
    assert taken(fetcher) is None
    assert next(want.offset for want in asked(fetcher) if want.partition == A) == 50


def test_a_partition_that_is_held_is_read_again_from_there(fetcher: Fetcher) -> None:
    """Neither what waits nor what is under way comes out; an answer of before is out of place also afterwards."""
    fetcher.answered(asked(fetcher), [answer(A, batch_at(20)), answer(B, batch_at(20)), answer(C)])
    under_way = asked(fetcher)
    fetcher.hold(A, 20)
    assert taken(fetcher).partition == B
    assert taken(fetcher) is None
    fetcher.answered(under_way, [answer(A, batch_at(23)), answer(B), answer(C)])
    assert taken(fetcher) is None
    assert set(partitions(asked(fetcher))) == {B, C}
    fetcher.release(A)
    (again,) = asked(fetcher)
    assert (again.partition, again.offset) == (A, 20)


@pytest.mark.parametrize("held", [20, NOWHERE])
def test_what_was_under_way_when_a_partition_was_held_does_not_come_twice(fetcher: Fetcher, held: int) -> None:
    """Its place may be the one where reading goes on: nothing was copied, or a long poll was idle there."""
    under_way = asked(fetcher)
    fetcher.hold(A, held)
    fetcher.answered(under_way, [answer(A, batch_at(20)), answer(B), answer(C)])
    fetcher.resume({A: 20})
    fetcher.answered(asked(fetcher), [answer(A, batch_at(20)), answer(B), answer(C)])
    assert taken(fetcher).position == 20
    assert taken(fetcher) is None


def test_a_gap_that_was_told_is_waited_for(fetcher: Fetcher) -> None:
    """Holding and releasing the partition meanwhile changes nothing; where it goes on elsewhere, the answer is late."""
    assert fetcher.awaited({A: 90}) == {}
    fetcher._subscriptions._positions[A] = 95
    fetcher.answered(asked(fetcher), [answer(A, error=OUT_OF_RANGE)])
    assert len(fetcher.take_gaps()) == 1
    fetcher.hold(A, 95)
    fetcher.release(A)
    assert A not in partitions(asked(fetcher))
    assert fetcher.awaited({A: 90, B: 5}) == {A: 90}
    fetcher.resume({A: 30})
    assert fetcher.awaited({A: 90}) == {}
    assert A in partitions(asked(fetcher))


def test_a_gap_that_nobody_has_taken_is_forgotten_where_reading_goes_on_elsewhere(fetcher: Fetcher) -> None:
    fetcher._subscriptions._positions[A] = 95
    fetcher.answered(asked(fetcher), [answer(A, error=OUT_OF_RANGE)])
    fetcher.resume({A: 30})
    assert fetcher.take_gaps() == []


def test_a_backlog_stops_the_asking(cluster: OneBroker) -> None:
    fetcher = Unattended(cluster, OPTIONS, 50, Traffic("consumer", print))
    fetcher.start({A: 20})
    fetcher.answered(asked(fetcher), [answer(A, batch_at(20))])
    assert asked(fetcher) == []
    taken(fetcher)
    assert partitions(asked(fetcher)) == [A]


def test_a_gap_is_told_after_what_was_read_before_it_and_waits_for_an_answer(fetcher: Fetcher) -> None:
    fetcher.answered(asked(fetcher), [answer(A, batch_at(20))])
    fetcher._subscriptions._positions[A] = 95
    fetcher.answered(asked(fetcher), [answer(A, error=OUT_OF_RANGE)])
    assert fetcher.take_gaps() == []
    taken(fetcher)
    (gap,) = fetcher.take_gaps()
    assert (gap.topic_partition, gap.wanted, gap.low, gap.high) == (A, 95, 10, 90)
    assert A not in partitions(asked(fetcher))
    fetcher.resume({A: 90})
    assert A in partitions(asked(fetcher))


def test_the_lag_is_counted_from_where_reading_goes_on_after_a_gap(
    fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else an idle partition would seem to have records that nobody copies, for ever."""
    monkeypatch.setattr("legacy_mm.clients.net.traffic.monotonic", lambda: inf)

    def lags() -> dict[str, float]:
        told = fetcher.traffic.statistics_when_due()
        assert told is not None
        return {row.name: row.gauges["lag"] for row in told.measured if row.level == "partition"}

    assert lags() == {}
    fetcher.answered(asked(fetcher), [answer(A)])
    assert lags() == {str(A): 70}
    fetcher.resume({A: 5})
    fetcher.answered(asked(fetcher), [answer(A, error=OUT_OF_RANGE)])
    fetcher.resume({A: 90})
    fetcher.answered(asked(fetcher), [answer(A)])
    assert lags() == {str(A): 0}


@pytest.mark.parametrize("committed_only", [True, False])
def test_a_transaction_that_hangs_at_the_source_is_told_to_who_waits_for_its_end(
    committed_only: bool, cluster: OneBroker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("legacy_mm.clients.fetch.stable_offsets._LONG_TIMEOUT", 0.0)
    fetcher = Fetcher(cluster, replace(OPTIONS, committed_only=committed_only), 1 << 20, Traffic("consumer", print))
    fetcher.start({A: 20})
    fetcher.answered(asked(fetcher), [answer(A)._replace(last_stable_offset=80)])
    cluster.leaderless = {A}  # so nobody reads by itself
    assert fetcher.take(0.0) is None
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == committed_only
    assert all(f"Nothing of {A} is read beyond offset 80" in line for line in told)
    fetcher.close()


def test_a_partition_that_nobody_leads_keeps_no_other_from_being_read(cluster: OneBroker) -> None:
    cluster.leaderless = {B, C}
    fetcher = Unattended(cluster, OPTIONS, 1 << 20, Traffic("consumer", print))
    assert fetcher.start({A: 20, B: EARLIEST, C: LATEST}) == Started({A: 20}, {})
    assert partitions(asked(fetcher)) == [A]
    assert fetcher.take_started() is None
    cluster.leaderless = {B}
    assert next_started(fetcher) == Started({C: 90}, {C: 10})
    assert partitions(asked(fetcher)) == [C]
    cluster.leaderless = set()
    assert next_started(fetcher) == Started({B: 10}, {B: 10})
    fetcher.close()


def test_a_leader_that_does_not_answer_keeps_no_other_partition_from_being_read(cluster: OneBroker) -> None:
    """As one behind a firewall: to ask it takes ten seconds, and after that it is asked again."""
    cluster.leaderless = {B}
    fetcher = Unattended(cluster, OPTIONS, 1 << 20, Traffic("consumer", print))
    cluster.answers.clear()
    fetcher.start({A: 20, B: EARLIEST})
    cluster.leaderless = set()
    assert cluster.asked_again.wait(SECONDS)
    assert fetcher.take_started() is None
    cluster.answers.set()
    assert next_started(fetcher) == Started({B: 10}, {B: 10})
    fetcher.close()


def test_a_start_that_is_refused_ends_the_reading(cluster: OneBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.leaderless = {B}
    fetcher = Unattended(cluster, OPTIONS, 1 << 20, Traffic("consumer", print))
    cluster.answers.clear()
    fetcher.start({A: 20, B: EARLIEST})
    assert cluster.asked_again.wait(SECONDS)

    def refused(*_: object) -> NoReturn:
        raise RequestRefused("the offsets of t-1 cannot be listed")

    monkeypatch.setattr(cluster, "of", refused)
    cluster.answers.set()
    with pytest.raises(RequestRefused):
        fetcher.take(SECONDS, print)
    fetcher.close()


def test_where_nobody_leads_anything_a_leader_is_waited_for_and_that_is_told(cluster: OneBroker) -> None:
    """As in Java, for ever: a job that failed each minute ended the mirror after four."""
    told: list[str] = []
    cluster.leaderless = {A}
    fetcher = Unattended(cluster, OPTIONS, 1 << 20, Traffic("consumer", told.append))
    assert fetcher.start({A: LATEST}) == Started({}, {})
    wait_until(lambda: "t-0 has no leader, or its leader does not answer" in told, SECONDS, "a line")
    assert fetcher.take_started() is None
    cluster.leaderless = set()
    assert next_started(fetcher) == Started({A: 90}, {A: 10})
    fetcher.close()


def test_a_nearer_replica_that_is_away_is_not_asked_again(fetcher: Fetcher) -> None:
    fetcher.answered(asked(fetcher), [answer(A, replica=OTHER)])
    fetcher.unanswered(asked(fetcher, OTHER))
    fetcher._subscriptions._pauses.clear()
    assert asked(fetcher, OTHER) == []
    assert A in partitions(asked(fetcher))


@pytest.mark.parametrize("offset", [10, 20, 90])
def test_a_nearer_replica_that_lags_is_no_gap_and_not_asked_again(fetcher: Fetcher, offset: int) -> None:
    """The leader has the offset, if only as the next one."""
    fetcher.resume({A: offset})
    fetcher.answered(asked(fetcher), [answer(A, replica=OTHER)])
    fetcher.answered(asked(fetcher, OTHER), [answer(A, error=OUT_OF_RANGE)])
    assert fetcher.take_gaps() == []
    fetcher._subscriptions._pauses.clear()
    assert asked(fetcher, OTHER) == []
    assert A in partitions(asked(fetcher))


def test_an_error_without_a_name_is_tried_again_and_a_damaged_log_is_not(fetcher: Fetcher) -> None:
    told: list[str] = []
    fetcher.traffic.on_trouble = told.append
    fetcher.answered(asked(fetcher), [answer(A, error=UNKNOWN)])
    fetcher._subscriptions._pauses.clear()
    assert A in partitions(wanted := asked(fetcher))
    assert told[0].startswith("reading t-0 failed and is tried again")
    with pytest.raises(StreamFailure, match="reading t-0 failed"):
        fetcher.answered(wanted, [answer(A, error=CORRUPT)])


def test_a_nearer_replica_is_read_from_when_the_leader_says_so(fetcher: Fetcher) -> None:
    fetcher.answered(asked(fetcher), [answer(A, replica=OTHER)])
    assert partitions(asked(fetcher, OTHER)) == [A]


@pytest.mark.parametrize("error", [NOT_LEADER, 74, 75, 78])
def test_a_partition_whose_leader_has_moved_is_asked_for_again_later(
    fetcher: Fetcher, cluster: OneBroker, error: int
) -> None:
    fetcher.answered(asked(fetcher), [answer(A, error=error)])
    assert cluster.called_stale
    assert A not in partitions(asked(fetcher))


def test_errors_that_stay_end_the_reading(fetcher: Fetcher) -> None:
    with pytest.raises(StreamFailure, match="t-0 failed: TOPIC_AUTHORIZATION_FAILED"):
        fetcher.answered(asked(fetcher), [answer(A, error=NOT_AUTHORIZED)])


MESSAGE = struct.pack(">qiIbbiii", 20, 18, 0, 0, 0, -1, 4, 0)
"""Of 30 bytes, in format 0."""


def test_messages_of_an_old_format_come_out_until_a_batch_follows(fetcher: Fetcher) -> None:
    fetcher.answered(asked(fetcher), [answer(A, MESSAGE + batch_at(21))])
    assert taken(fetcher).record_set.of_messages
    assert next(want.offset for want in asked(fetcher) if want.partition == A) == 21


def test_a_message_that_was_cut_off_is_asked_for_with_more_bytes(fetcher: Fetcher) -> None:
    """Before 0.10.1 brokers send as much as was asked for, and no more."""
    fetcher.answered(asked(fetcher), [answer(A, MESSAGE[:29]), answer(B, MESSAGE[:11]), answer(C)])
    assert taken(fetcher) is None
    again = asked(fetcher)
    assert {want.partition: (want.offset, want.least_bytes) for want in again} == {A: (20, 30), B: (20, 12), C: (20, 0)}
    fetcher.answered(again, [answer(A, MESSAGE), answer(B, MESSAGE[:20]), answer(C)])
    wanted = {want.partition: (want.offset, want.least_bytes) for want in asked(fetcher)}
    assert wanted == {A: (21, 0), B: (20, 30), C: (20, 0)}


def test_a_broken_record_set_names_its_partition(fetcher: Fetcher) -> None:
    with pytest.raises(CorruptRecords, match="t-0: "):
        fetcher.answered(asked(fetcher), [answer(A, struct.pack(">qi", 20, 3) + bytes(60))])


BROKEN = struct.pack(">qi", 23, 3) + bytes(60)


def test_what_is_sound_before_a_broken_batch_is_handed_out_first(fetcher: Fetcher) -> None:
    fetcher.answered(asked(fetcher), [answer(A, batch_at(20) + BROKEN)])
    assert [batch.header.base_offset for batch in taken(fetcher).record_set] == [20]
    wanted = asked(fetcher)
    assert next(want.offset for want in wanted if want.partition == A) == 23
    with pytest.raises(CorruptRecords, match="t-0: message at offset 23"):
        fetcher.answered(wanted, [answer(A, BROKEN)])


@pytest.mark.parametrize("trouble", [answer(B, BROKEN), answer(B, error=NOT_AUTHORIZED)], ids=["broken", "forbidden"])
def test_one_partition_s_trouble_comes_behind_the_records_of_the_others(
    fetcher: Fetcher, trouble: FetchedPartition
) -> None:
    with pytest.raises(StreamFailure, match="t-1") as raised:
        fetcher.answered(asked(fetcher), [trouble, answer(A, batch_at(20)), answer(C, batch_at(20))])
    fetcher.failed(raised.value)
    assert [taken(fetcher).partition for _ in range(2)] == [A, C]
    with pytest.raises(StreamFailure, match="t-1"):
        taken(fetcher)


@pytest.mark.parametrize(("version", "rested"), [(7, []), (8, [0.25])])
def test_a_reader_rests_as_long_as_its_broker_wants(
    fetcher: Fetcher, cluster: OneBroker, monkeypatch: pytest.MonkeyPatch, version: int, rested: list[float]
) -> None:
    """A quota is kept by who is asked to be silent; a broker before 2.0 has let it wait for the answer instead."""
    answered = FetchResponse(throttle_time_ms=250, error_code=0, session_id=0, responses=[], version=version)
    body = memoryview(bytes(answered.encode(version=version)))
    connection = SimpleNamespace(
        is_due=lambda: False, version=lambda *_: version, send=lambda *_: None, receive=lambda: body
    )
    monkeypatch.setattr(cluster, "connect", lambda _: connection, raising=False)
    rests: list[float] = []
    monkeypatch.setattr(fetcher, "rest", rests.append)
    fetcher.serve(reader_of(fetcher), asked(fetcher))
    assert rests == rested


def test_who_is_closed_asks_nobody(fetcher: Fetcher) -> None:
    fetcher.close()
    assert asked(fetcher) == []


def test_it_is_settled_while_all_is_asked_for(fetcher: Fetcher) -> None:
    before = fetcher.is_settled()
    wanted = asked(fetcher)
    assert (before, fetcher.is_settled()) == (False, True)
    fetcher.answered(wanted, [answer(A), answer(B), answer(C)])
    assert not fetcher.is_settled()


@pytest.mark.parametrize(
    "end",
    [
        lambda fetcher, wanted: fetcher.unanswered(wanted),
        lambda fetcher, wanted: fetcher.answered(wanted, [answer(A, error=NOT_LEADER)]),
        lambda fetcher, wanted: fetcher.answered(wanted, [answer(A, replica=OTHER)]),
        lambda fetcher, wanted: fetcher.answered(wanted, [answer(A, error=OUT_OF_RANGE)]),
        lambda fetcher, wanted: fetcher.wake(),
    ],
    ids=["broken", "no leader", "replica", "gap", "asked to"],
)
def test_what_ends_that_wakes_who_waits(fetcher: Fetcher, end: Callable[[Fetcher, Any], None]) -> None:
    """Else a leader that is another one would be looked for only when the next report is due."""
    end(fetcher, asked(fetcher))
    assert fetcher.take(SECONDS_OF_A_HANG) is None
