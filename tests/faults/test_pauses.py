"""The host stands still: a virtual machine that moves, a snapshot, a laptop that sleeps."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.runtime.channel.frames import LEASE_TIMEOUT
from tests.faults.conftest import PATIENCE, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
PAUSES = 5
"""One more than lost copy jobs that end the mirror."""


def test_a_mirror_lives_through_pauses_that_cost_the_lease(
    source: Any, target: Any, make_scene: Callable[..., Scene]
) -> None:
    """The task ends each time, as it must, and that does not count as its failure."""
    scene = make_scene(source, target, 1)
    tool = scene.mirror(*COMMIT_OFTEN)
    for number in range(1, PAUSES + 1):
        scene.wait_committed(number)
        still = tool.tree.pids()
        for pid in still:
            os.kill(pid, signal.SIGSTOP)
        pause = Deadline.after(LEASE_TIMEOUT + 1)
        wait_until(pause.expired, PATIENCE, "the end of the pause")
        for pid in still:
            os.kill(pid, signal.SIGCONT)
        scene.load(1, seed=number)
    scene.wait_committed(PAUSES + 1)
    assert tool.output().count("after a pause of this process or host") == PAUSES
    stop(tool)
    assert scene.differences(allow_duplicates=True) == []
