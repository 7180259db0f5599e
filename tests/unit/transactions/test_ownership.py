"""The group's word that a bundle is ours, and its offsets as evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.base.model import EARLIEST, CommittedOffset, TopicPartition
from legacy_mm.base.settings import MarkedOffset
from legacy_mm.clients.group.member import Member
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.positions import CommittedPositions, of_group
from legacy_mm.controlplane.task_reports import TaskReports
from legacy_mm.metrics.registry import Registry
from legacy_mm.runtime.channel.frames import MarkAsked, OwnershipAsked
from legacy_mm.transactions import ownership
from legacy_mm.transactions.evidence import mark
from legacy_mm.transactions.offset_book import GROUP
from legacy_mm.transactions.ownership import BundleOffsets, MarkedOffsets, Ownership

A, B, C = (TopicPartition("t", number) for number in range(3))


class FakeMember:
    """A member whose heartbeats succeed when the test says so."""

    generation = 4

    def __init__(self, offsets: dict[TopicPartition, CommittedOffset] | None = None) -> None:
        self.asked = 0
        self.succeeded = float("-inf")
        self._offsets = offsets or {}

    def ask_heartbeat(self) -> None:
        self.asked += 1

    def confirmed_after(self, moment: float) -> bool:
        return self.succeeded > moment

    def committed(self, partitions: Iterable[TopicPartition], timeout: float) -> dict[TopicPartition, CommittedOffset]:
        return {each: self._offsets[each] for each in partitions if each in self._offsets}


class FakeJob:
    def __init__(self) -> None:
        self.reports = TaskReports(Registry("a->b", "p", {}).stream(0, "g-0"))
        self.marks: list[dict[TopicPartition, int]] = []
        self.confirmed: list[list[int]] = []

    def confirm(self, bundles: list[int]) -> None:
        self.confirmed.append(bundles)

    def marked(self, offsets: dict[TopicPartition, int]) -> None:
        self.marks.append(offsets)


@pytest.fixture
def commits() -> Commits:
    return Commits(0, 60.0, 60.0, lambda offsets: None, lambda: None)


def from_reset(member: Member, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
    return dict.fromkeys(partitions, EARLIEST)


def test_only_a_heartbeat_after_the_question_is_an_answer(monkeypatch: pytest.MonkeyPatch, commits: Commits) -> None:
    clock = iter([10.0, 20.0])
    monkeypatch.setattr(ownership, "monotonic", lambda: next(clock))
    desk, job, member = Ownership(), FakeJob(), FakeMember()

    def poll() -> list[list[int]]:
        desk.poll(job, member, commits)  # type: ignore[arg-type]
        return job.confirmed

    member.succeeded = 9.0
    job.reports.received(OwnershipAsked([3]))
    assert (poll(), member.asked) == ([], 1), "a heartbeat before the question proves nothing"
    job.reports.received(OwnershipAsked([5, 6]))
    member.succeeded = 15.0
    assert (poll(), member.asked) == ([[3]], 2)
    member.succeeded = 21.0
    assert poll() == [[3], [5, 6]]


def test_questions_of_a_job_that_is_over_are_forgotten(commits: Commits) -> None:
    desk, job, member = Ownership(), FakeJob(), FakeMember()
    job.reports.received(OwnershipAsked([3]))
    job.reports.received(MarkAsked({A: 5}))
    desk.poll(job, member, commits)  # type: ignore[arg-type]
    desk.job_is_over()
    member.succeeded = float("inf")
    desk.poll(job, member, commits)  # type: ignore[arg-type]
    desk.committed(job, {A: 5})  # type: ignore[arg-type]
    assert (job.confirmed, job.marks) == ([], [])


def test_what_a_job_waits_for_is_committed_at_once_and_told_when_the_group_has_it(commits: Commits) -> None:
    desk, job, member = Ownership(), FakeJob(), FakeMember()
    job.reports.received(MarkAsked({A: 5, B: 7}))
    desk.poll(job, member, commits)  # type: ignore[arg-type]
    assert (commits.pending(), job.marks) == ({A: 5, B: 7}, [])
    desk.committed(job, {A: 5, C: 9})  # type: ignore[arg-type]
    assert job.marks == [{A: 5}]


def test_what_the_group_has_already_is_told_at_once(commits: Commits) -> None:
    """A job that lost its bundle while it waited asks again; by now more may be copied."""
    desk, job, member = Ownership(), FakeJob(), FakeMember()
    commits.note({A: 9})
    commits.commit()
    commits.settled({A: 9}, {})
    job.reports.received(MarkAsked({A: 5}))
    desk.poll(job, member, commits)  # type: ignore[arg-type]
    assert (commits.pending(), job.marks) == ({}, [{A: 9}])


def test_the_group_s_offsets_are_evidence_with_their_metadata() -> None:
    member: Any = FakeMember({A: CommittedOffset(7, ""), B: CommittedOffset(-1, "")})
    offsets = BundleOffsets(from_reset, "positions", 1.0)
    assert offsets.propose(member, [A, B]) == {A: 7, B: EARLIEST}
    assert offsets.generation == 4
    # C goes on where this process has committed it: exactly once did that
    assert offsets.evidence({A: 7, B: EARLIEST, C: 9}) == [
        MarkedOffset(*A, 7, ""),
        MarkedOffset(*C, 9, mark("positions")),
    ]


def test_offsets_that_exactly_once_has_committed_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    places = [TopicPartition("orders", number) for number in range(3)]
    found = dict(zip(places, [CommittedOffset(5, "theirs"), *[CommittedOffset(7, mark("pos"))] * 2], strict=True))
    positions = CommittedPositions(of_group("mirror"), "earliest", 1.0, inspect=MarkedOffsets(GROUP).inspect)
    member = Mock(committed=lambda partitions, timeout: {each: found[each] for each in partitions})
    assert positions.propose(member, places[:1]) == {places[0]: 5}
    assert not caplog.records
    assert positions.propose(member, places) == {places[0]: 5, places[1]: 7, places[2]: 7}
    assert positions.propose(member, places) == {places[0]: 5, places[1]: 7, places[2]: 7}
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "committed the offsets of 2 partitions for the group, orders-1 the first" in record.getMessage()
    assert "legacy-mm exactly-once retire before such a start" in record.getMessage()
    assert record.getMessage().endswith("the positions of topic pos")
