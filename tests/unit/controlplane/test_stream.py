"""A stream on the test's own thread: its membership is a script, its copy jobs are stand-ins."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import CorruptRecords, FailureKind, SendFailure, SourceGap, StreamFailure, Undecided
from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.base.reports import Gap, Progress, Started
from legacy_mm.clients.group.member import AssignmentListener, CommitProblem
from legacy_mm.controlplane import stream_copy
from legacy_mm.controlplane.commits import Commits
from legacy_mm.controlplane.copy_job import CopyTrouble
from legacy_mm.controlplane.delivery_guarantee import DeliveryGuarantee
from legacy_mm.controlplane.positions import CommittedPositions, GapGuard, StartOffsets, of_group
from legacy_mm.controlplane.stream import Stream
from legacy_mm.controlplane.stream_copy import StreamCopy
from legacy_mm.controlplane.stream_membership import StreamMembership
from legacy_mm.controlplane.task_reports import TaskReports
from legacy_mm.metrics.registry import Registry
from legacy_mm.runtime.channel.frames import Stopped
from legacy_mm.transactions.ownership import Ownership

P = TopicPartition("orders", 0)
COMMITTED = 5
GAP = Gap("orders", 0, wanted=8, low=150, high=400, reason="Broker: Offset out of range")
CUT = Gap("orders", 0, wanted=COMMITTED, low=0, high=4, reason="Broker: Offset out of range", parts_at=4)
LOST = CopyTrouble("its worker is gone", fatal=False)


class Job:
    """A copy job that reports what the test puts into it, and ends when it is told to."""

    worker = SimpleNamespace(name="here:1", hello_seconds=30.0)

    def __init__(self, offsets: Offsets) -> None:
        self.partitions = frozenset(offsets)
        self.reports = TaskReports(Registry("a->b", "p", {}).stream(0, "g-0"))
        self.reports.received(Started(dict(offsets), dict(offsets)))
        self.gaps_at_stop: list[Gap] = []
        self.failed: CopyTrouble | None = None
        self.resumed: list[Offsets] = []

    def reports_safe(self, partition: TopicPartition, offset: int) -> None:
        self.reports.received(Progress({partition: offset}, 0, {}, False))

    def marked(self, offsets: Offsets) -> None:
        """No bundle waits."""

    def resume(self, offsets: Offsets) -> None:
        self.resumed.append(dict(offsets))

    def trouble(self) -> CopyTrouble | None:
        return self.failed

    def stop(self, deadline: Deadline, *, for_good: bool = False) -> None:
        for gap in self.gaps_at_stop:
            self.reports.received(gap)

    def wait_over(self, deadline: Deadline) -> bool:
        return True

    def kill(self) -> None:
        """It is over anyway."""

    def release(self) -> None:
        """Nothing is held."""


class Bench:
    """A stream that is assigned `P` at once; each further poll is a step of the test, the last one the stop."""

    name = "member"

    def __init__(
        self,
        *,
        fail_on_gap: bool = False,
        commit_chosen: bool = False,
        guarantee: DeliveryGuarantee | None = None,
        receipts: Any = None,
        listener: AssignmentListener | None = None,
    ) -> None:
        self.jobs: list[Job] = []
        self.begun: list[Offsets] = []
        self.commits: list[Offsets] = []
        self.gaps: list[int] = []
        self.failures: list[BaseException] = []
        self.steps: list[Callable[[], object]] = []
        self.left = False
        metrics, place = Registry("a->b", "p", {}).stream(0, "g-0"), of_group("mirror")
        membership = StreamMembership(0, lambda listener: self, "orders", metrics, listener)
        commits = Commits(0, 60.0, 60.0, membership.commit, lambda: None)
        guard = GapGuard("earliest", self.gaps.append, self.gaps.append, fail=fail_on_gap, set_position=place)
        positions = CommittedPositions(place, "earliest", 1.0)
        starts = StartOffsets(positions.propose, guard, commits, commit_chosen=commit_chosen)
        copy = StreamCopy(membership, commits, starts, self._start_copy, lambda trouble: False, guarantee, receipts)
        self.stream = Stream(membership, commits, copy, revoke_seconds=1.0, on_failure=self._failed)

    def _failed(self, _: int, error: BaseException, leave: Callable[[], None] | None) -> None:
        self.failures.append(error)
        if leave is not None:
            leave()

    @property
    def job(self) -> Job:
        return self.jobs[-1]

    def run(self, *steps: Callable[[], object]) -> None:
        assigned = partial(self.stream.assigned, frozenset({P}))
        self.steps = [assigned, *steps, partial(self.stream.stop, Deadline.after(10), commit=True)]
        self.stream.run()

    def _start_copy(self, generation: int, offsets: Offsets) -> Any:
        self.begun.append(dict(offsets))
        self.jobs.append(Job(offsets))
        return self.job

    def poll(self, timeout: float) -> None:
        if self.steps:
            self.steps.pop(0)()

    def subscribe(self, topics: Iterable[str]) -> None:
        raise AssertionError

    def committed(self, partitions: Iterable[TopicPartition], timeout: float) -> dict[TopicPartition, CommittedOffset]:
        return dict.fromkeys(partitions, CommittedOffset(COMMITTED))

    def commit(self, offsets: Offsets) -> None:
        self.commits.append(dict(offsets))
        self.steps.append(lambda: self.stream.committed(offsets, {}))

    def close(self) -> None:
        self.left = True
        self.stream.revoked(frozenset({P}))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_what_is_safe_is_committed_at_the_stop(bench: Bench) -> None:
    bench.run(lambda: bench.job.reports_safe(P, 8))
    assert (bench.begun, bench.commits, bench.failures) == ([{P: COMMITTED}], [{P: 8}], [])


@pytest.mark.parametrize("how", ["lost", "last commit refused"])
def test_receipts_forget_what_somebody_else_copies_again(how: str) -> None:
    receipts = Mock()
    bench = Bench(receipts=receipts)

    def let_go() -> None:
        if how == "lost":
            bench.stream.lost(frozenset())
        else:
            bench.stream.revoked(frozenset({P}))
            bench.stream.committed({}, {P: (CommitProblem.REJOINING, "it is somebody else's")})

    bench.run(lambda: None, let_go)
    assert bench.failures == []
    assert {P} in [set(call.args[0]) for call in receipts.released.mock_calls]


def test_a_stream_with_a_fault_of_ours_leaves_the_group_and_commits_nothing(bench: Bench) -> None:
    """Else the group would wait for it for a session, at each crash; what it says of offsets may be wrong."""

    def fail() -> None:
        raise AssertionError("invariant B")

    bench.run(lambda: bench.job.reports_safe(P, 8), fail)
    (failure,) = bench.failures
    assert str(failure) == "invariant B"
    assert (bench.left, bench.commits) == (True, [])


@pytest.mark.parametrize("error", [StreamFailure, SendFailure, CorruptRecords, Undecided])
def test_what_was_copied_is_committed(bench: Bench, error: type[StreamFailure]) -> None:
    """And the group is left, or it would wait for this member for a session, at each crash."""
    bench.run(
        lambda: bench.job.reports_safe(P, 8),
        lambda: setattr(bench.job, "failed", CopyTrouble("it cannot be read", fatal=True, kind=error.failure_kind)),
    )
    (failure,) = bench.failures
    assert (type(failure), bench.left) == (error, True)
    assert bench.commits == [{P: 8}]


def test_it_leaves_the_group_also_when_its_stop_fails(bench: Bench) -> None:
    def refuse() -> None:
        raise StreamFailure("the group refuses this member")

    bench.run(
        lambda: bench.job.reports_safe(P, 8),
        lambda: setattr(bench.job, "failed", CopyTrouble("torn", fatal=True, kind=FailureKind.CORRUPT_RECORDS)),
        lambda: setattr(bench.job, "wait_over", lambda deadline: False),
        refuse,
    )
    assert (len(bench.failures), bench.left) == (1, True)


def test_a_gap_that_needs_a_person_ends_it_with_what_was_copied_committed() -> None:
    """Else each restart by a supervisor would copy that once more."""
    bench = Bench(fail_on_gap=True)
    other = TopicPartition("payments", 0)

    def fail() -> None:
        bench.job.reports_safe(other, 9)
        bench.job.reports.received(GAP)

    bench.run(partial(bench.stream.assigned, frozenset({other})), lambda: None, fail, lambda: None)
    (failure,) = bench.failures
    assert isinstance(failure, SourceGap)
    assert (bench.commits, bench.left, bench.job.resumed) == ([{other: 9}], True, [])


def test_where_it_goes_on_after_a_gap_is_committed_before_a_record_comes(bench: Bench) -> None:
    """A restart would be at the gap again, and with `latest` skip what came meanwhile."""
    seen: list[list[Offsets]] = []
    bench.run(lambda: bench.job.reports.received(GAP), lambda: seen.append(list(bench.commits)))
    assert seen == [[{P: 150}]]


def test_a_job_that_fails_behind_a_gap_is_followed_by_one_that_begins_behind_it(bench: Bench) -> None:
    """The worker died before it said that it goes on there."""

    def meet_gap() -> None:
        bench.job.reports_safe(P, 8)
        bench.job.reports.received(GAP)

    bench.run(meet_gap, lambda: setattr(bench.job, "failed", LOST), lambda: None)
    assert bench.jobs[0].resumed == [{P: 150}]
    assert (bench.begun, bench.gaps) == ([{P: COMMITTED}, {P: 150}], [142])


def test_where_the_log_was_cut_copying_goes_on_there_also_after_a_restart(bench: Bench) -> None:
    """By then the log may have grown over the offset that was committed, with other records below it."""
    bench.run(lambda: bench.job.reports.received(CUT))
    assert bench.jobs[0].resumed == [{P: 4}]
    assert bench.commits == [{P: 4}]


def test_with_exactly_once_an_offset_that_goes_back_is_committed_when_the_target_has_it() -> None:
    """What was safe before belongs to the log that is gone."""
    bench = Bench(guarantee=Ownership())

    def copy() -> None:
        bench.job.reports_safe(P, 4)

    bench.run(lambda: bench.job.reports_safe(P, 5), lambda: bench.job.reports.received(CUT), copy)
    assert bench.jobs[0].resumed == [{P: 4}]
    assert (bench.failures, bench.commits) == ([], [{P: 4}])


def test_a_gap_that_is_met_while_the_job_stops_is_left_to_the_next_one(bench: Bench) -> None:
    """What was safe before it is committed; it is not counted twice."""

    def stop_at_gap() -> None:
        bench.job.reports_safe(P, 8)
        bench.job.gaps_at_stop.append(GAP)

    bench.run(stop_at_gap)
    assert (bench.commits, bench.gaps, bench.jobs[0].resumed) == ([{P: 8}], [], [])


def test_each_assignment_is_told_to_the_listener_in_order() -> None:
    """The cooperative protocol assigns in several steps, the last ones often nothing; Java tells each."""
    more = frozenset({TopicPartition("orders", 1)})
    listener = Mock()
    bench = Bench(listener=listener)
    told: list[int] = []
    bench.run(
        lambda: None,
        partial(bench.stream.assigned, more),
        partial(bench.stream.assigned, frozenset()),  # before the job has given way to one for both
        lambda: None,
        partial(bench.stream.assigned, frozenset()),
        lambda: None,
        lambda: told.append(listener.assigned.call_count),
    )
    assert [call.args[0] for call in listener.assigned.mock_calls] == [{P}, more, frozenset(), frozenset()]
    assert told == [4], "the last one while the job goes on"
    assert len(bench.jobs) == 2


def test_where_a_partition_begins_counts_before_what_is_safe_of_it() -> None:
    """Both may come while the stream is just asking. Invariant B would be broken, which ends the mirror."""
    bench = Bench(commit_chosen=True)
    bench.committed = lambda partitions, timeout: {}  # type: ignore[method-assign]

    def begin() -> None:
        job = bench.job
        job.reports.take_started()

        def take_started() -> list[Started]:
            job.reports.received(Started({P: 3}, {P: 3}))
            job.reports_safe(P, 9)
            return []

        job.reports.take_started = take_started  # type: ignore[method-assign]

    def go_on() -> None:
        del bench.job.reports.take_started

    bench.run(begin, go_on, lambda: None)
    assert bench.failures == []
    assert bench.commits[-1] == {P: 9}


def test_each_new_try_comes_after_a_longer_pause(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The membership is polled meanwhile, once a second here; what does not pass in that time ends the mirror."""
    polls = 0
    tries: list[int] = []

    def second() -> None:
        nonlocal polls
        polls += 1
        if len(bench.jobs) > len(tries):
            tries.append(polls)
        bench.job.failed = LOST

    monkeypatch.setattr(stream_copy, "monotonic", lambda: 1000.0 + polls)
    bench.run(*[second] * 20)
    assert [after - before for before, after in pairwise(tries)] == [1 + 1, 1 + 2, 1 + 4], (
        "a poll sees that it failed, a later one starts it"
    )
    (failure,) = bench.failures
    assert str(failure) == "the copy job failed 4 times within 5 minutes: its worker is gone"


def test_workers_that_nobody_has_end_the_mirror(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster whose master was restarted gives this application none any more: four jobs, each waited for long."""
    polls = 0

    def half_of_the_wait() -> None:
        nonlocal polls
        polls += 1
        bench.job.failed = CopyTrouble("no worker reported", fatal=False)

    monkeypatch.setattr(Job, "worker", SimpleNamespace(name="far:1", hello_seconds=150.0))
    monkeypatch.setattr(stream_copy, "monotonic", lambda: 1000.0 + 75 * polls)
    bench.run(*[half_of_the_wait] * 20)
    (failure,) = bench.failures
    assert str(failure) == "the copy job failed 4 times within 10 minutes: no worker reported"
    assert len(bench.jobs) == 4


def test_a_worker_that_another_stream_ended_is_replaced_as_often_as_it_takes(bench: Bench) -> None:
    """Streams share workers: what is wrong with one of them must not end the mirror in the name of the others."""

    def spared() -> None:
        bench.job.failed = CopyTrouble("ended because of another stream", fatal=False, counts=False)

    bench.run(*[spared, lambda: None] * 10)
    assert bench.failures == []
    assert len(bench.jobs) == 11


def stop_exactly_once(deadline: Deadline) -> Bench:
    """Copy up to 8, committed at the target, and stop while a transaction up to 12 is not answered."""
    bench = Bench(guarantee=Ownership())

    def copy() -> None:
        bench.job.reports_safe(P, 8)
        bench.job.reports.received(Stopped({P: 12}))

    bench.steps = [
        partial(bench.stream.assigned, frozenset({P})),
        lambda: None,
        copy,
        partial(bench.stream.stop, deadline, commit=True),
    ]
    bench.stream.run()
    assert bench.failures == []
    return bench


def test_a_last_transaction_without_an_answer_keeps_nobody_in_the_group() -> None:
    """Its bundle's next owner ends it; until then the group's offset is that of the transaction before."""
    bench = stop_exactly_once(Deadline.after(10))
    assert (bench.commits, bench.left) == ([{P: 8}], True)
    assert bench.stream.uncommitted() == {P: 12}


@pytest.mark.parametrize("unanswered", [{P: 12}, {}], ids=["transaction", "commit"])
def test_nor_does_a_task_that_has_to_be_killed(
    monkeypatch: pytest.MonkeyPatch, unanswered: dict[TopicPartition, int]
) -> None:
    """The commit for the group goes out at the deadline, and leaving comes behind it."""
    monkeypatch.setattr(Job, "wait_over", lambda job, deadline: False)
    monkeypatch.setattr(Job, "kill", lambda job: job.reports.received(Stopped(unanswered)))
    bench = stop_exactly_once(Deadline.after(0.05))
    assert (bench.commits, bench.left) == ([{P: 8}], True)
    assert bench.stream.uncommitted() == ({P: 8} | unanswered)


def test_at_least_once_it_stays_a_member_until_its_session_is_over(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing fences a task that was killed; its last requests shall not meet a new owner's."""
    monkeypatch.setattr(Job, "wait_over", lambda job, deadline: False)
    bench.steps = [
        partial(bench.stream.assigned, frozenset({P})),
        lambda: None,
        lambda: bench.job.reports_safe(P, 8),
        partial(bench.stream.stop, Deadline.after(0.05), commit=True),
    ]
    bench.stream.run()
    assert (bench.commits, bench.left, bench.stream.uncommitted()) == ([{P: 8}], False, {P: 8})


def test_a_stream_that_is_paused_commits_what_was_copied_and_stays_in_its_group(bench: Bench) -> None:
    while_paused: list[tuple[list[Offsets], bool]] = []
    bench.run(
        lambda: bench.job.reports_safe(P, 8),
        bench.stream.pause,
        lambda: while_paused.append((bench.commits, bench.left)),
        lambda: while_paused.append((list(bench.commits), bench.left)),
    )
    assert while_paused[-1] == ([{P: 8}], False)
    assert bench.begun == [{P: COMMITTED}], "no job begins while it is paused"


def test_a_stream_that_is_resumed_goes_on_where_it_stopped(bench: Bench) -> None:
    bench.run(lambda: bench.job.reports_safe(P, 8), bench.stream.pause, lambda: None, bench.stream.resume, lambda: None)
    assert bench.begun == [{P: COMMITTED}, {P: 8}]
    assert bench.commits == [{P: 8}]


def test_a_stream_that_is_restarted_goes_on_where_it_was_safe(bench: Bench) -> None:
    bench.run(lambda: bench.job.reports_safe(P, 8), bench.stream.restart, lambda: None)
    assert bench.begun == [{P: COMMITTED}, {P: 8}]


def test_partitions_that_come_while_it_is_paused_wait_too(bench: Bench) -> None:
    other = TopicPartition("orders", 1)
    bench.run(bench.stream.pause, lambda: bench.stream.assigned(frozenset({other})), lambda: None)
    assert bench.begun == [{P: COMMITTED}]


def test_a_stop_does_not_wait_for_a_lost_job_longer_than_it_may_last(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Deadline] = []
    never = threading.Event()

    def never_over(job: Job, deadline: Deadline) -> bool:
        asked.append(deadline)
        assert len(asked) < 1_000, "the stream waits for ever"
        return never.wait(min(0.001, deadline.remaining()))

    monkeypatch.setattr(Job, "wait_over", never_over)
    bench.steps = [
        partial(bench.stream.assigned, frozenset({P})),
        lambda: setattr(bench.job, "failed", LOST),
        partial(bench.stream.stop, Deadline.after(0.05), commit=True),
    ]
    bench.stream.run()
    assert bench.failures == []


def test_a_revocation_during_a_stop_ends_with_the_stop(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The group would wait longer, but whoever stops the mirror does not."""
    deadlines: list[Deadline] = []
    monkeypatch.setattr(Job, "stop", lambda job, deadline, for_good=False: deadlines.append(deadline))
    end = Deadline.after(0.5)
    bench.steps = [
        partial(bench.stream.assigned, frozenset({P})),
        lambda: None,
        partial(bench.stream.stop, end, commit=True),
        partial(bench.stream.revoked, frozenset({P})),
    ]
    bench.stream.run()
    assert [each.at for each in deadlines] == [end.at]
