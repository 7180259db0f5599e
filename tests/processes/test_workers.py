"""Several workers of pytest: what shares a cluster, or a file, is run by one of them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.fixtures.workers import shared_by
from tests.structure.source_tree import CHECKOUT

FILES = ["tests/unit/test_clock.py", "tests/unit/test_errors.py", "tests/unit/test_model.py"]
LINE = re.compile(r"^\[(gw\d)\] .* PASSED ([^:]+)::", re.MULTILINE)


@pytest.mark.parametrize(
    ("nodeid", "shared"),
    [
        ("tests/faults/test_stop.py::test_a[x::y]", "tests/faults/"),
        ("tests/brokers/test_security.py::test_a[x]", "tests/brokers/test_security.py"),
        ("tests/processes/jvm/test_gateway.py::test_a[x]", "tests/processes/jvm/test_gateway.py"),
    ],
)
def test_what_is_shared(nodeid: str, shared: str) -> None:
    assert shared_by(nodeid) == shared


def test_the_folder_that_is_not_shared_out_is_here() -> None:
    assert (CHECKOUT / shared_by("tests/faults/test_a.py::test_b")).is_dir()


def test_a_file_is_run_by_one_worker() -> None:
    """With the pytest and the xdist that are here."""
    words = ["--numprocesses", "2", "--dist", "loadgroup", "-v", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *FILES], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    ran = {(file, worker) for worker, file in LINE.findall(done.stdout)}
    assert sorted(file for file, _ in ran) == FILES
