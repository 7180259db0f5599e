"""What the driver knows of a copy job, without a task."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.clock import Deadline
from legacy_mm.control_channel.frames import Failure, Frame, Hello, Plan, Progress, Stopped, Ticket, Understood
from legacy_mm.controlplane import copy_job
from legacy_mm.controlplane.copy_job import CopyJob
from legacy_mm.errors import FailureKind

PLAN = Plan({}, {}, {}, {}, 5.0, 60.0, True, False, False)
TICKET = Ticket("here", 1, b"key", "", "a->b", 0, 1, 1)


def test_a_job_is_attended_as_long_as_its_stream_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant D: a stream that hangs cannot stop the task when the group gives its partitions to others."""
    now = 100.0
    monkeypatch.setattr(copy_job, "monotonic", lambda: now)
    nobody: Any = None
    job = CopyJob(TICKET, PLAN, nobody, nobody, nobody, embedded=True, unattended_seconds=290.0)
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


NO_ROOM = ": the cluster has no free core, too little memory, or a master that has forgotten this application"


@pytest.mark.parametrize(
    ("embedded", "patience", "why"), [(True, 30, ""), (False, 150, NO_ROOM)], ids=["embedded", "cluster"]
)
def test_a_cluster_may_make_its_executors_first(
    embedded: bool, patience: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(copy_job, "monotonic", lambda: now)
    nobody: Any = None
    job = CopyJob(TICKET, PLAN, nobody, nobody, nobody, embedded=embedded, unattended_seconds=1.0)
    now += patience - 1
    assert job.trouble() is None
    now += 2
    trouble = job.trouble()
    assert trouble is not None
    assert trouble.reason == f"no worker reported within {patience} s{why}"


@pytest.mark.parametrize("last", [Stopped({}), Failure(FailureKind.SEND_FAILURE, "refused", False)])
def test_a_task_is_told_that_its_last_word_is_read(last: Frame) -> None:
    """Before it may end: what is still on its way would end with it."""
    told: list[Frame] = []
    somebody: Any = SimpleNamespace(send=told.append, progress=lambda frame: None)
    job = CopyJob(TICKET, PLAN, somebody, somebody, somebody, embedded=True)
    job.admit(somebody, Hello(1, "proof", 1, 1, "host"))
    job.received(Progress({}, 0, {}, False))
    assert told == []
    job.received(last)
    assert told == [Understood()]
