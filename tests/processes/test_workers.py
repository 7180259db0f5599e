"""Several workers of pytest: what shares a cluster, or a file, is run by one of them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.fixtures.workers import GROUPS, shared_by
from tests.structure.source_tree import CHECKOUT

FILES = ["tests/unit/test_clock.py", "tests/unit/test_errors.py", "tests/unit/test_model.py"]
LINE = re.compile(r"^\[(gw\d)\] .* PASSED ([^:]+)::", re.MULTILINE)


@pytest.mark.parametrize(
    ("nodeid", "shared"),
    [
        ("tests/brokers/test_plan.py::test_a", "ours"),
        ("tests/faults/test_stop.py::test_a[x::y]", "ours"),
        ("tests/brokers/test_security.py::test_a[x]", "both"),
        ("tests/side_by_side/test_offsets.py::test_a", "both"),
        ("tests/processes/jvm/test_gateway.py::test_a[x]", "tests/processes/jvm/test_gateway.py"),
    ],
)
def test_what_is_shared(nodeid: str, shared: str) -> None:
    assert shared_by(nodeid) == shared


def test_each_group_is_of_a_folder_or_file_that_is_here() -> None:
    assert [name for name in GROUPS if not (CHECKOUT / "tests" / name).exists()] == []


def test_a_file_is_run_by_one_worker() -> None:
    """With the pytest and the xdist that are here."""
    words = ["--numprocesses", "2", "--dist", "loadgroup", "-v", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *FILES], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    ran = {(file, worker) for worker, file in LINE.findall(done.stdout)}
    assert sorted(file for file, _ in ran) == FILES
