"""What the driver knows of a copy job, without a task."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import FailureKind
from legacy_mm.base.reports import Frame, Progress
from legacy_mm.controlplane import copy_job, copy_worker
from legacy_mm.controlplane.copy_job import CopyJob
from legacy_mm.controlplane.copy_worker import CopyWorker
from legacy_mm.controlplane.task_reports import TaskReports
from legacy_mm.metrics.registry import Registry
from legacy_mm.runtime.channel import beat as beat_module
from legacy_mm.runtime.channel.beat import Beat
from legacy_mm.runtime.channel.channel import process_start
from legacy_mm.runtime.channel.frames import Failure, Hello, Stopped, TaskConfig, Ticket, Understood
from legacy_mm.runtime.spark.runner import SparkRunner
from tests.fixtures import client_settings

CONFIG = TaskConfig(
    {}, {}, client_settings.read_consumer({}), client_settings.read_producer({}), 5.0, 60.0, True, False, False
)
TICKET = Ticket("here", 1, b"key", "", "a->b", 0, 1, 1)


class Workers(SparkRunner):
    """Workers of copy jobs, of which none is ever started."""

    def __init__(self, *, shares_workers: bool = False) -> None:
        super().__init__(Future(), iter, lambda: None)  # type: ignore[arg-type]
        self.shares_workers = shares_workers
        self.spared: set[Ticket] = set()
        self.killed: list[int] = []
        self.cancelled: list[Ticket] = []

    @override
    def submit(self, ticket: Ticket, description: str, on_end: Callable[[str], None]) -> None:
        raise NotImplementedError

    @override
    def cancel(self, ticket: Ticket) -> None:
        self.cancelled.append(ticket)

    @override
    def kill(self, ticket: Ticket, worker: int) -> None:
        self.killed.append(worker)

    @override
    def is_spared(self, ticket: Ticket) -> bool:
        return ticket in self.spared


def job_with(channel: Any, workers: Workers | None = None, unattended_seconds: float = float("inf")) -> CopyJob:
    """A job of a flow whose workers are processes of this host."""
    worker = CopyWorker(TICKET, workers or Workers(), embedded=True)
    reports = TaskReports(Registry("a->b", "p", {}).stream(0, "g-0"))
    return CopyJob(worker, CONFIG, channel, reports, unattended_seconds)


def test_a_job_is_attended_as_long_as_its_stream_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant D: a stream that hangs cannot stop the task when the group gives its partitions to others."""
    now = 100.0
    monkeypatch.setattr(copy_job, "monotonic", lambda: now)
    job = job_with(SimpleNamespace(beat=Beat()), unattended_seconds=290.0)
    now += 289.0
    assert job.attended()
    job.trouble()
    now += 289.0
    assert job.attended()
    job.wait_over(Deadline.after(0.05))
    now += 289.0
    assert job.attended()
    now += 2.0
    assert not job.attended()


@pytest.mark.parametrize("last", [Stopped({}), Failure(FailureKind.SEND_FAILURE, "refused", False)])
def test_a_task_is_told_that_its_last_word_is_read(last: Frame) -> None:
    """Before it may end: what is still on its way would end with it."""
    told: list[Frame] = []
    peer: Any = SimpleNamespace(send=told.append)
    job = job_with(None)
    job.admit(peer, Hello(1, "proof", 1, 1, "host"))
    job.received(Progress({}, 0, {}, False))
    assert told == []
    job.received(last)
    assert told == [Understood()]


def shared(workers: Workers, beat: Beat | None = None) -> CopyJob:
    """A job whose worker, this process, has other jobs, too."""
    peer: Any = SimpleNamespace(send=lambda frame: None, close=lambda: None)
    job = job_with(SimpleNamespace(beat=beat or Beat()), workers)
    start = process_start(os.getpid())
    assert start is not None
    job.admit(peer, Hello(1, "proof", os.getpid(), start, "host"))
    return job


@pytest.mark.parametrize("last", [Stopped({}), Failure(FailureKind.OTHER, "over", True)], ids=["Stopped", "Failure"])
def test_a_job_in_a_shared_worker_is_over_when_it_says_so_and_its_channel_is_closed(last: Frame) -> None:
    """Invariant D: a task says its last word when it has closed its connections. Its worker goes on."""
    workers = Workers(shares_workers=True)
    job = shared(workers)
    assert not job.is_over()
    job.received(last)
    assert not job.is_over()
    job.kill()
    assert workers.killed == [], "the others in its worker would go, too"
    job.closed()
    assert job.is_over()


def test_a_job_without_a_last_word_is_over_when_its_shared_worker_is_gone() -> None:
    workers = Workers(shares_workers=True)
    job = shared(workers)
    job.closed()
    assert not job.is_over()
    job.kill()
    assert workers.killed == [os.getpid()]


def test_a_worker_of_its_own_must_be_gone_even_after_the_last_word() -> None:
    workers = Workers()
    job = shared(workers)
    job.received(Stopped({}))
    job.closed()
    assert not job.is_over()
    job.kill()
    assert workers.killed == [os.getpid()]


def test_whose_worker_was_ended_because_of_another_one_has_not_failed() -> None:
    workers = Workers(shares_workers=True)
    job = shared(workers)
    workers.spared.add(TICKET)
    job.closed()
    trouble = job.trouble()
    assert trouble is not None
    assert (trouble.fatal, trouble.counts) == (False, False)


def test_a_failure_of_its_own_counts_also_in_a_worker_that_was_ended() -> None:
    workers = Workers(shares_workers=True)
    job = shared(workers)
    job.received(Failure(FailureKind.SEND_FAILURE, "refused", False))
    workers.spared.add(TICKET)
    trouble = job.trouble()
    assert trouble is not None
    assert (trouble.reason, trouble.fatal, trouble.counts) == ("refused", True, True)


class Clock:
    """The time, for the job and for the beat; a rest between two beats may take longer than it should."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        for each in (copy_job, copy_worker, beat_module):
            monkeypatch.setattr(each, "monotonic", lambda: self.now)

    def rest(self, beat: Beat, seconds: float) -> None:
        """Let the beat rest for so long."""

        class Over(threading.Event):
            def wait(_, timeout: float | None = None) -> bool:
                self.now += seconds
                return False

        beat.rest(Over())


@pytest.mark.parametrize(
    ("rested", "later", "counts"),
    [(8.0, 0.5, False), (1.5, 0.5, True), (8.0, 30.0, True)],
    ids=["paused", "not paused", "paused long ago"],
)
def test_a_worker_that_loses_its_lease_while_the_host_is_paused_does_not_count(
    rested: float, later: float, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virtual machine that moves, a laptop that sleeps: four times in five minutes would end the mirror."""
    clock, beat = Clock(monkeypatch), Beat()
    job = shared(Workers(shares_workers=True), beat)
    clock.rest(beat, rested)
    clock.now += later
    job.closed()
    trouble = job.trouble()
    assert trouble is not None
    assert (trouble.fatal, trouble.counts) == (False, counts)


def test_what_a_task_says_after_a_pause_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, beat = Clock(monkeypatch), Beat()
    job = shared(Workers(shares_workers=True), beat)
    clock.rest(beat, 8.0)
    job.received(Failure(FailureKind.OTHER, "a bug", True))
    trouble = job.trouble()
    assert trouble is not None
    assert (trouble.reason, trouble.counts) == ("a bug", True)


def test_a_worker_has_time_to_report_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its silence was that of the whole host. Asked before the beat itself knows of the pause."""
    clock, beat = Clock(monkeypatch), Beat()
    job = shared(Workers(shares_workers=True), beat)
    found: list[object] = []

    class Over(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            clock.now += 60.0
            found.append(job.trouble())
            return True

    beat.rest(Over())
    assert found == [None]
    clock.now += 9.0
    assert job.trouble() is None
    clock.now += 2.0
    assert job.trouble() is not None
