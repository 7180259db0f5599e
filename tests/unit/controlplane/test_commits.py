"""When offsets are committed, and what each failure means (contract 3.6, design 3.1)."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.clients.group.member import CommitProblem
from legacy_mm.controlplane import commits as module
from legacy_mm.controlplane.commits import Commits

A, B = TopicPartition("a", 0), TopicPartition("b", 0)


class Bench:
    """A `Commits` with a hand-turned clock, and lists of what it sent and what goes on elsewhere."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, interval: float = 60.0) -> None:
        self.now = 1000.0
        self.sent: list[Offsets] = []
        self.restarted: list[set[TopicPartition]] = []
        self.existing: frozenset[str] | None = frozenset({"a", "b"})
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.commits = Commits(
            0, interval, 60.0, lambda o: self.sent.append(dict(o)), lambda: self.existing, self._restart
        )

    def _restart(self, partitions: Collection[TopicPartition]) -> None:
        self.restarted.append(set(partitions))

    def later(self, seconds: float) -> None:
        self.now += seconds
        self.commits.tick()


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


def test_what_a_failing_commit_says(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """As the legacy tool: how often it was tried, and when it last worked; a rebalance has words of its own."""
    bench.commits.note({A: 5})
    bench.commits.commit()
    bench.commits.settled({}, {A: (CommitProblem.RETRY, "timed out")})
    bench.now += 61
    bench.commits.settled({}, {A: (CommitProblem.RETRY, "timed out")})
    bench.commits.settled({A: 5}, {})
    bench.commits.settled({}, {A: (CommitProblem.RETRY, "timed out")})
    bench.commits.settled({A: 5}, {})
    bench.commits.settled({}, {A: (CommitProblem.REJOINING, "illegal generation")})
    told = [vars(record) for record in caplog.records]
    assert [each["event"].name for each in told] == ["commit-retry"] * 3 + ["commit-rebalanced"]
    retries = [each["fields"] for each in told[:3]]
    assert [(each["retries"], each["last_commit"] == -1) for each in retries] == [(1, True), (2, True), (1, False)]


def test_commits_when_strictly_more_than_the_interval_has_passed(bench: Bench) -> None:
    bench.commits.note({A: 5})
    bench.later(60.0)
    assert bench.sent == []
    bench.later(0.001)
    assert bench.sent == [{A: 5}]


def test_commits_only_what_moved_since_the_last_success(bench: Bench) -> None:
    bench.commits.note({A: 5, B: 2})
    bench.commits.commit()
    bench.commits.settled({A: 5, B: 2}, {})
    bench.commits.note({A: 6})
    bench.later(61)
    assert bench.sent[1:] == [{A: 6}]


def test_nothing_to_commit_sends_nothing(bench: Bench) -> None:
    bench.later(61)
    assert bench.sent == []


def test_invariant_b(bench: Bench) -> None:
    bench.commits.note({A: 5})
    with pytest.raises(AssertionError, match="invariant B"):
        bench.commits.note({A: 4})


def test_behind_a_gap_a_lower_offset_is_committed(bench: Bench) -> None:
    bench.commits.note({A: 500, B: 2})
    bench.commits.commit()
    bench.commits.settled({A: 500, B: 2}, {})
    bench.commits.restart({A: 3})
    bench.commits.note({A: 3})
    assert bench.commits.pending() == {A: 3}


def test_partitions_that_go_on_elsewhere_are_told(bench: Bench) -> None:
    bench.commits.note({A: 5, B: 2})
    bench.commits.restart({})
    bench.commits.restart({A: 0})
    assert bench.restarted == [{A}]


def test_a_time_out_keeps_the_offsets_and_tries_again(bench: Bench) -> None:
    bench.commits.note({A: 5})
    bench.commits.commit()
    bench.commits.settled({}, {A: (CommitProblem.RETRY, "timed out")})
    assert bench.commits.waiting()
    bench.later(0.1)
    assert bench.sent == [{A: 5}, {A: 5}]
    bench.commits.settled({A: 5}, {})
    assert not bench.commits.waiting()
    assert bench.commits.pending() == {}


def test_vanished_topics_are_forgotten_once_the_api_time_out_is_over(bench: Bench) -> None:
    bench.commits.note({A: 5, B: 2})
    bench.existing = frozenset({"b"})
    for _ in range(700):
        bench.commits.settled({B: 2}, {A: (CommitProblem.RETRY, "unknown topic")})
        bench.later(0.1)
    assert bench.commits.pending() == {}
    assert bench.commits.position(B) == 2


def test_where_topics_cannot_be_listed_none_has_vanished(bench: Bench) -> None:
    bench.commits.note({A: 5})
    bench.existing = None
    for _ in range(2):
        bench.commits.settled({}, {A: (CommitProblem.RETRY, "unknown topic")})
        bench.now += 61
    assert bench.commits.pending() == {A: 5}


def test_during_a_rebalance_the_offsets_wait_for_the_next_generation(bench: Bench) -> None:
    bench.commits.note({A: 5})
    bench.commits.commit()
    bench.commits.settled({}, {A: (CommitProblem.REJOINING, "rebalance in progress")})
    bench.later(1)
    assert len(bench.sent) == 1
    bench.commits.assigned()
    bench.later(0)
    assert bench.sent == [{A: 5}, {A: 5}]


def test_a_late_refusal_does_not_wait_for_a_generation_that_has_come_already(bench: Bench) -> None:
    bench.commits.note({A: 5})
    bench.commits.commit()
    bench.commits.assigned()
    bench.commits.settled({}, {A: (CommitProblem.REJOINING, "illegal generation")})
    bench.later(3)
    assert bench.sent == [{A: 5}, {A: 5}]


def test_partitions_that_went_are_not_tried_again(bench: Bench) -> None:
    bench.commits.note({A: 5, B: 2})
    bench.commits.commit()
    bench.commits.forget(frozenset({A}))
    assert bench.commits.settled({}, {A: (CommitProblem.RETRY, "late")}) is None
    assert bench.commits.pending() == {B: 2}


def test_the_commit_under_way_of_a_lost_partition_holds_up_no_other(bench: Bench) -> None:
    """Nor that of the same offset, when the partition comes back."""
    bench.commits.note({A: 5})
    bench.commits.commit()
    bench.commits.forget(frozenset({A}))
    bench.commits.note({A: 5, B: 2})
    bench.later(61)
    assert bench.sent[1:] == [{A: 5, B: 2}]


def test_a_hopeless_commit_ends_the_stream(bench: Bench) -> None:
    bench.commits.note({A: 5})
    bench.commits.commit()
    with pytest.raises(StreamFailure, match="not authorized"):
        bench.commits.settled({}, {A: (CommitProblem.FATAL, "not authorized")})


def test_an_unknown_member_is_for_the_stream_to_handle(bench: Bench) -> None:
    bench.commits.note({A: 5})
    bench.commits.commit()
    assert bench.commits.settled({}, {A: (CommitProblem.LOST, "unknown member")}) is CommitProblem.LOST


def test_one_commit_at_a_time(bench: Bench) -> None:
    bench.commits.note({A: 5})
    bench.later(61)
    bench.commits.note({A: 9})
    bench.later(61)
    assert bench.sent == [{A: 5}]
    bench.commits.settled({A: 5}, {})
    bench.later(61)
    assert bench.sent == [{A: 5}, {A: 9}]


def test_the_outcome_of_an_older_commit_is_not_that_of_the_last_one(bench: Bench) -> None:
    """At the stop an interval's commit may be under way; the last one fails then, and is tried again."""
    bench.commits.note({A: 5})
    bench.later(61)
    bench.commits.note({A: 9})
    bench.commits.commit()
    bench.commits.settled({A: 5}, {})
    assert bench.commits.waiting()
    bench.commits.settled({}, {A: (CommitProblem.RETRY, "timed out")})
    bench.later(0.1)
    assert bench.sent == [{A: 5}, {A: 9}, {A: 9}]
    bench.commits.settled({A: 9}, {})
    assert not bench.commits.waiting()
