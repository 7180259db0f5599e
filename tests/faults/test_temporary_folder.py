"""Everything below TMPDIR is removed while the mirror runs, as systemd-tmpfiles does with what is ten days old."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.spark]
SECONDS = 30.0
HANDLER = "handlers.Rename"


def empty(folder: Path) -> list[str]:
    """Remove all that is in the folder; what there was."""
    found = sorted(path.name for path in folder.iterdir())
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    return found


@pytest.mark.parametrize("kind", ["batches", "records", "jar"])
def test_nothing_happens(
    kind: str,
    source: Any,
    target: Any,
    topic: Callable[..., str],
    group: str,
    our_tool: Callable[..., ToolProcess],
    handler_jars: dict[str, Path],
    tmp_path: Path,
) -> None:
    """New copy jobs start after rebalances, also with a handler in a jar, and the stop is clean and silent."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    first = topic("kept")
    words: tuple[str, ...] = ("--num.streams", "2")
    more: dict[str, Any] = {}
    prefix = ""
    if kind == "records":
        words += ("--engine", "records")
    elif kind == "jar":
        prefix = "copy."
        words += ("--message.handler", HANDLER, "--message.handler.args", prefix)
        more["classpath"] = [handler_jars["Rename"]]
    read = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    create_topic(source.bootstrap, first, partitions=4)
    tool = our_tool(
        {**read, "metadata.max.age.ms": "1000"},
        {"bootstrap.servers": target.bootstrap},
        "--whitelist",
        f"{first}.*",
        *words,
        environment={"TMPDIR": str(folder)},
        **more,
    )

    def copied(name: str, count: int) -> None:
        create_topic(target.bootstrap, f"{prefix}{name}", partitions=4)
        load(source.bootstrap, name, count, 100)
        wait_until(lambda: sum(end_offsets(target.bootstrap, f"{prefix}{name}").values()) == count, SECONDS, name)

    copied(first, 1_000)
    assert empty(folder), "nothing was there, so nothing is shown"
    for later in (f"{first}-2", f"{first}-3"):  # each makes the group rebalance
        create_topic(source.bootstrap, later, partitions=4)
        copied(later, 1_000)
        empty(folder)
    tool.signal(signal.SIGTERM)
    assert tool.wait(40) == 143
    assert [line for line in tool.output().splitlines() if "legacy_mm" in line or "ERROR" in line] == []
    assert empty(folder) == []
