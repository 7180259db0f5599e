"""When a stream's next copy job may start."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.base.errors import FailureKind, SendFailure, StreamFailure
from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.clients.group.member import Member
from legacy_mm.controlplane import stream_copy
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.copy_job import CopyJob, CopyTrouble
from legacy_mm.controlplane.positions import GapGuard, StartOffsets, of_group
from legacy_mm.controlplane.stream_copy import Restarts, StreamCopy
from legacy_mm.controlplane.stream_membership import StreamMembership
from legacy_mm.metrics.registry import Registry

P = TopicPartition("orders", 0)
NOBODY: Any = None


class Clock:
    """The time for the copying, turned by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr(stream_copy, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_each_restart_has_a_longer_pause_and_the_fourth_is_the_end(clock: Clock) -> None:
    restarts = Restarts()
    for pause in (0.0, 2.0, 4.0):
        restarts.count("it died", 30.0)
        clock.now += max(0.0, pause - 0.1)
        assert restarts.is_due() == (pause == 0.0)
        clock.now += 0.2
        assert restarts.is_due()
    with pytest.raises(StreamFailure, match="failed 4 times within 5 minutes: it died"):
        restarts.count("it died", 30.0)


def test_restarts_of_long_ago_do_not_count(clock: Clock) -> None:
    restarts = Restarts()
    for _ in range(3):
        restarts.count("it died", 30.0)
    clock.now += 300.0
    restarts.count("it died", 30.0)
    assert restarts.is_due()


class Bench:
    """The copying of a stream that owns `P`, whose offsets are told, or not."""

    def __init__(self) -> None:
        self.jobs: list[Mock] = []
        self.answers = True
        self.adapts = False
        membership = StreamMembership(
            0, lambda listener: Mock(Member), "orders", Registry("a->b", "p", {}).stream(0, "g-0")
        )
        membership.join(NOBODY)
        membership.assigned(frozenset({P}))
        commits = Commits(0, 60.0, 60.0, membership.commit, lambda: None)
        guard = GapGuard("earliest", lambda _: None, lambda _: None, fail=False, set_position=of_group("mirror"))
        starts = StartOffsets(self._propose, guard, commits, commit_chosen=False)
        self.copy = StreamCopy(membership, commits, starts, self._start, lambda trouble: self.adapts)

    def _propose(self, member: Member, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        if not self.answers:
            raise TimeoutError("no answer of the coordinator")
        return dict.fromkeys(partitions, 5)

    def _start(self, generation: int, offsets: Offsets) -> CopyJob:
        job = Mock(CopyJob, partitions=frozenset(offsets))
        self.jobs.append(job)
        return job


def test_offsets_that_nobody_tells_are_asked_for_again_and_told_once(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench()
    bench.answers = False
    for _ in range(3):
        bench.copy.poll(1.0)
        clock.now += 2.0
    bench.answers = True
    assert (bench.jobs, bench.copy.is_idle()) == ([], True)
    bench.copy.poll(1.0)
    assert len(bench.jobs) == 1
    (line,) = [text for text in caplog.messages if "no answer of the coordinator" in text]
    assert "stream-0" in line and "committed offsets" in line


def test_new_partitions_do_not_wait_for_the_pause_of_others(clock: Clock) -> None:
    bench = Bench()
    bench.answers = False
    bench.copy.poll(1.0)
    bench.answers = True
    bench.copy.poll(1.0)
    assert bench.jobs == []
    bench.copy.assigned()
    bench.copy.poll(1.0)
    assert len(bench.jobs) == 1


def test_a_trouble_that_another_config_helps_is_no_end_and_does_not_count(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.copy.poll(1.0)
    bench.adapts = True
    for _ in range(4):
        bench.copy.recover(CopyTrouble("no right", fatal=True, kind=FailureKind.SEND_FAILURE))
    assert bench.jobs[0].kill.call_count == 4
    assert not [text for text in caplog.messages if "copy job lost" in text]
    bench.adapts = False
    with pytest.raises(SendFailure, match="no right"):
        bench.copy.recover(CopyTrouble("no right", fatal=True, kind=FailureKind.SEND_FAILURE))
