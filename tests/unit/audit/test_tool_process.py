"""A tool in a process of its own."""

from __future__ import annotations

import signal
from pathlib import Path

from legacy_mm.audit.tool_process import ToolProcess

PATIENCE = 30.0


def test_a_tool_has_a_folder_of_its_own_for_temporary_files(tmp_path: Path) -> None:
    """What is killed removes nothing."""
    tool = ToolProcess(["sh", "-c", 'mktemp && kill -KILL "$$"'], tmp_path)
    assert tool.wait(PATIENCE) == 128 + signal.SIGKILL
    assert Path(tool.output().strip()).parent == tmp_path / "tmp"
