"""A log that no longer holds what was read of it: a new leader with another log, a recreated topic."""

from __future__ import annotations

import pytest

from legacy_mm.base.model import LATEST
from legacy_mm.base.reports import Started
from legacy_mm.clients.fetch.fetcher import Fetcher
from legacy_mm.clients.net.traffic import Traffic
from tests.fakes.cluster import OneBroker
from tests.unit.clients.one_broker import (
    NODE,
    NOT_LEADER,
    OPTIONS,
    OUT_OF_RANGE,
    A,
    B,
    C,
    Unattended,
    answer,
    asked,
    batch_at,
    next_started,
    partitions,
    taken,
)


@pytest.fixture
def led_anew(fetcher: Fetcher, cluster: OneBroker) -> Fetcher:
    """A was read up to 23 while its leader was the fourth; now it is led by the sixth."""
    fetcher.answered(asked(fetcher), [answer(A, batch_at(20, epoch=4)), answer(B), answer(C)])
    taken(fetcher)
    wanted = asked(fetcher)
    assert fetcher.without_gaps(wanted) == wanted
    assert cluster.compared == [], "while the leader stays nobody is asked"
    fetcher.answered(wanted, [])
    cluster.epoch = 6
    return fetcher


def test_a_new_leader_is_asked_once_whether_it_has_what_was_read(led_anew: Fetcher, cluster: OneBroker) -> None:
    for _ in range(2):
        wanted = asked(led_anew)
        assert partitions(led_anew.without_gaps(wanted)) == partitions(wanted) == [B, C, A]
        led_anew.answered(wanted, [])
    assert cluster.compared == [(A.partition, 4)]


def test_a_log_that_parts_from_what_was_read_is_a_gap(led_anew: Fetcher, cluster: OneBroker) -> None:
    """However long it is by now: its records are others."""
    cluster.epoch_ends = 21
    wanted = asked(led_anew)
    assert partitions(led_anew.without_gaps(wanted)) == [B, C]
    (gap,) = led_anew.take_gaps()
    assert (gap.topic_partition, gap.wanted, gap.low, gap.high, gap.parts_at) == (A, 23, 10, 90, 21)
    led_anew.answered(wanted, [])
    assert partitions(asked(led_anew)) == [B, C]
    led_anew.resume({A: 21})
    assert partitions(led_anew.without_gaps(asked(led_anew))) == [A]
    assert cluster.compared == [(A.partition, 4)]


def test_a_new_leader_whose_log_ends_where_reading_stands_is_no_gap(led_anew: Fetcher, cluster: OneBroker) -> None:
    cluster.epoch_ends = 23
    wanted = asked(led_anew)
    assert led_anew.without_gaps(wanted) == wanted
    assert cluster.compared


def test_who_cannot_compare_yet_is_asked_again(led_anew: Fetcher, cluster: OneBroker) -> None:
    cluster.error = NOT_LEADER
    wanted = asked(led_anew)
    assert partitions(led_anew.without_gaps(wanted)) == [B, C]
    assert cluster.called_stale
    assert led_anew.take_gaps() == []
    led_anew.answered(wanted, [])
    assert A not in partitions(asked(led_anew))


def test_an_old_broker_is_not_asked(led_anew: Fetcher, cluster: OneBroker) -> None:
    cluster.too_old = True
    wanted = asked(led_anew)
    assert led_anew.without_gaps(wanted) == wanted


def test_a_topic_that_was_recreated_is_a_gap_though_its_log_holds_the_offset(
    fetcher: Fetcher, cluster: OneBroker
) -> None:
    """Once: a broker that lags tells the old id again."""
    wanted = asked(fetcher)
    assert fetcher.without_gaps(wanted) == wanted
    fetcher.answered(wanted, [])
    cluster.topic_id = "second"
    wanted = asked(fetcher)
    assert fetcher.without_gaps(wanted) == []
    assert [(gap.topic_partition, gap.wanted, gap.low, gap.high, gap.parts_at) for gap in fetcher.take_gaps()] == [
        (partition, 20, 10, 90, -1) for partition in (A, B, C)
    ]
    fetcher.answered(wanted, [])
    fetcher.resume({A: 10, B: 10, C: 10})
    for cluster.topic_id in ("second", "first", "second"):
        wanted = asked(fetcher)
        assert fetcher.without_gaps(wanted) == wanted
        fetcher.answered(wanted, [])
    assert fetcher.take_gaps() == []


def test_an_offset_out_of_range_in_a_topic_that_was_recreated_is_not_a_truncated_log(
    fetcher: Fetcher, cluster: OneBroker
) -> None:
    """The metadata is young, so nobody has asked for the topic's id yet. One question, to the leader, is enough."""
    fetcher.resume({A: 95, B: 5})
    wanted = asked(fetcher)
    assert fetcher.without_gaps(wanted) == wanted
    cluster.new_id = "second"
    fetcher.answered(wanted, [answer(A, error=OUT_OF_RANGE), answer(B, error=OUT_OF_RANGE), answer(C)])
    assert [(gap.topic_partition, gap.wanted, gap.low, gap.high) for gap in fetcher.take_gaps() if gap.recreated] == [
        (A, 95, 10, 90),
        (B, 5, 10, 90),
    ]
    assert cluster.refreshed_by == [NODE]


def test_an_offset_out_of_range_in_the_same_topic_is_a_truncated_log(fetcher: Fetcher, cluster: OneBroker) -> None:
    fetcher.resume({A: 95})
    wanted = asked(fetcher)
    assert fetcher.without_gaps(wanted) == wanted
    fetcher.answered(wanted, [answer(A, error=OUT_OF_RANGE)])
    (gap,) = fetcher.take_gaps()
    assert not gap.recreated
    assert cluster.refreshed_by == [NODE]


def test_a_start_belongs_to_the_topic_that_was_asked_for_its_end(cluster: OneBroker) -> None:
    """The topic is another one as soon as its end is known: what was written to the new one must not be passed by."""
    cluster.on_question = {LATEST: "second"}
    fetcher = Unattended(cluster, OPTIONS, 1 << 20, Traffic("consumer", print))
    fetcher.start({A: LATEST})
    assert fetcher.without_gaps(asked(fetcher)) == []
    assert [gap.recreated for gap in fetcher.take_gaps()] == [True]


def test_a_late_start_belongs_to_the_topic_that_was_asked_for_its_end(cluster: OneBroker) -> None:
    cluster.leaderless, cluster.on_question = {B}, {LATEST: "second"}
    fetcher = Unattended(cluster, OPTIONS, 1 << 20, Traffic("consumer", print))
    fetcher.start({A: 20, B: LATEST})
    cluster.leaderless = set()
    assert next_started(fetcher) == Started({B: 90}, {B: 10})
    assert B not in partitions(fetcher.without_gaps(asked(fetcher)))
    assert [gap.recreated for gap in fetcher.take_gaps() if gap.topic_partition == B] == [True]
    fetcher.close()


def test_who_resumes_may_say_which_topic_the_offsets_belong_to(cluster: OneBroker) -> None:
    """The topic is another one before the first question for records: what is below the offset was never read."""
    fetcher = Unattended(cluster, OPTIONS, 1 << 20, Traffic("consumer", print))
    fetcher.resume({A: 20}, cluster.topic_ids())
    fetcher.resume({B: 20})
    cluster.topic_id = "second"
    assert partitions(fetcher.without_gaps(asked(fetcher))) == [B]
    assert [(gap.topic_partition, gap.recreated) for gap in fetcher.take_gaps()] == [(A, True)]


@pytest.mark.parametrize(
    ("stored", "ends", "parts_at", "detail"),
    [
        (3, 21, 21, "its leader is another one"),
        (3, -1, -1, "its leader does not know the leader epoch of what was copied"),
        (5, -1, -1, "its leader does not know the leader epoch of what was copied"),
    ],
)
def test_a_stored_position_is_compared_before_the_first_fetch(
    fetcher: Fetcher, cluster: OneBroker, stored: int, ends: int, parts_at: int, detail: str
) -> None:
    """The election came while nobody read. A leader that does not know the epoch has another log, too."""
    cluster.epoch_ends = ends
    fetcher.resume({A: 23}, epochs={A: stored})
    assert partitions(fetcher.without_gaps(asked(fetcher))) == [B, C]
    assert cluster.compared == [(A.partition, stored)]
    (gap,) = fetcher.take_gaps()
    assert (gap.topic_partition, gap.wanted, gap.low, gap.high, gap.parts_at) == (A, 23, 10, 90, parts_at)
    assert gap.reason == detail
    assert fetcher.parted_at(A) == parts_at
    fetcher.resume({A: 21})
    assert fetcher.parted_at(A) == -1


@pytest.mark.parametrize("stored", [-1, 4])
def test_a_stored_position_of_the_leader_of_now_is_read_at_once(
    fetcher: Fetcher, cluster: OneBroker, stored: int
) -> None:
    """And one without an epoch cannot be compared."""
    cluster.epoch_ends = 21
    fetcher.resume({A: 23}, epochs={A: stored})
    assert A in partitions(fetcher.without_gaps(asked(fetcher)))
    assert (cluster.compared, fetcher.epoch_read(A)) == ([], stored)


def test_each_stored_position_is_compared(fetcher: Fetcher, cluster: OneBroker) -> None:
    """An owner in between may have read further, from a leader whose log is lost since."""
    fetcher.resume({A: 23}, epochs={A: 3})
    wanted = asked(fetcher)
    assert A in partitions(fetcher.without_gaps(wanted))
    fetcher.answered(wanted, [])
    cluster.epoch_ends = 50
    fetcher.resume({A: 60}, epochs={A: 3})
    assert A not in partitions(fetcher.without_gaps(asked(fetcher)))
    assert [gap.parts_at for gap in fetcher.take_gaps()] == [50]
