"""A container as it was sized for the legacy tool: 512 MiB, few processes and threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cgroup import Cgroup, small_cgroup
from compat.laboratory.tools import LAUNCHER
from legacy_mm.errors import HostError
from tests.faults.conftest import Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark]
MEMORY_MIB, CORES, TASKS = 512, 2, 128


@pytest.fixture
def container() -> Iterator[Cgroup]:
    try:
        with small_cgroup(MEMORY_MIB, CORES, TASKS) as made:
            yield made
    except HostError as error:
        pytest.skip(str(error))


@pytest.fixture
def launcher(container: Cgroup, tmp_path: Path) -> Path:
    """Our start script, in the container from its first instruction."""
    script = tmp_path / "mirror.sh"
    moves = "".join(f"echo $$ > {folder}/cgroup.procs\n" for folder in container.folders)
    script.write_text(f'#!/bin/sh\n{moves}exec {LAUNCHER} "$@"\n')
    script.chmod(0o755)
    return script


def test_one_stream_fits(
    source: Any, target: Any, make_scene: Callable[..., Scene], container: Cgroup, launcher: Path
) -> None:
    scene = make_scene(source, target, 200_000, size=1_000)
    tool = scene.mirror(*COMMIT_OFTEN, launcher=launcher)
    scene.wait_committed(200_000)
    stop(tool)
    assert container.killed() == 0
    assert scene.differences(allow_duplicates=False) == []


def test_streams_that_need_more_are_refused_before_they_start(
    source: Any, target: Any, make_scene: Callable[..., Scene], container: Cgroup, launcher: Path
) -> None:
    scene = make_scene(source, target, 100)
    tool = scene.mirror("--num.streams", "20", launcher=launcher)
    assert tool.wait(40) == 1, tool.output()
    assert f"20 streams need about 194 processes and threads, and pids.max of this container ({TASKS})" in tool.output()
    assert scene.arrived() == scene.committed() == 0
