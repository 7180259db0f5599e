"""A container as it was sized for the legacy tool: 512 MiB, few processes and threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cgroup import Cgroup, small_cgroup
from compat.laboratory.tools import LAUNCHER
from legacy_mm.base.errors import HostError
from tests.faults.conftest import Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark]
MEMORY_MIB, CORES, TASKS = 512, 2, 128
LARGER = (4096, CORES, 512)
"""Memory and tasks of a container for forty streams."""
STREAMS = 40


@pytest.fixture
def container(request: pytest.FixtureRequest) -> Iterator[Cgroup]:
    """A parameter gives other limits."""
    try:
        with small_cgroup(*getattr(request, "param", (MEMORY_MIB, CORES, TASKS))) as made:
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


@pytest.mark.parametrize("container", [LARGER], indirect=True, ids=["512 tasks"])
def test_forty_streams_with_a_handler_in_a_jar_fit(
    source: Any,
    target: Any,
    make_scene: Callable[..., Scene],
    container: Cgroup,
    launcher: Path,
    handler_jars: dict[str, Path],
) -> None:
    """A JVM for each of them met the limit after 42 s, and nothing arrived."""
    scene = make_scene(source, target, 20_000, partitions=STREAMS)
    words = ("--num.streams", str(STREAMS), "--message.handler", "Counter", *COMMIT_OFTEN)
    tool = scene.mirror(*words, launcher=launcher, classpath=[handler_jars["Counter"]])
    scene.wait_committed(20_000)
    stop(tool)
    assert container.killed() == 0
    assert scene.arrived() == 20_000
