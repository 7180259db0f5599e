"""The harness that judges our command, on the real one: every record must come out equal to itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat.laboratory.releases import OLD
from compat.laboratory.replay import difference, recorded_cases, run_old

pytestmark = pytest.mark.side_by_side

SAMPLE = (
    "no-args", "version", "unknown-long", "num-streams-zero-info", "include-empty", "producer-empty-file",
    "sigterm-default-log",
)  # fmt: skip


@pytest.mark.parametrize("name", SAMPLE)
def test_the_real_tool_equals_its_record(name: str, tmp_path: Path) -> None:
    (case,) = (case for case in recorded_cases() if (case.release, case.id) == (OLD, name))
    case.write_files(tmp_path)
    assert difference(case, run_old(case, tmp_path)) == ""
