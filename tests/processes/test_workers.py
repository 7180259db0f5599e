"""Several workers of pytest: what shares a cluster, or a file, is run by one of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tests.fixtures.times import RECORD, REPORT
from tests.fixtures.workers import pytest_collection_modifyitems, shared_by
from tests.structure.source_tree import CHECKOUT

FILES = ["tests/unit/base/test_clock.py", "tests/unit/base/test_errors.py", "tests/unit/base/test_model.py"]
LINE = re.compile(r"^\[(gw\d)\] .* PASSED ([^:]+)::", re.MULTILINE)


@pytest.mark.parametrize(
    ("nodeid", "shared"),
    [
        ("tests/faults/test_stop.py::test_a[x::y]", "tests/faults/"),
        ("tests/structure/test_layers.py::test_a", "tests/structure/"),
        ("tests/brokers/test_security.py::test_a[x]", "tests/brokers/test_security.py"),
        ("tests/processes/runtime/jvm/test_gateway.py::test_a[x]", "tests/processes/runtime/jvm/test_gateway.py"),
    ],
)
def test_what_is_shared(nodeid: str, shared: str) -> None:
    assert shared_by(nodeid) == shared


@pytest.mark.parametrize("folder", ["faults", "structure"])
def test_the_folders_that_are_not_shared_out_are_here(folder: str) -> None:
    assert (CHECKOUT / shared_by(f"tests/{folder}/test_a.py::test_b")).is_dir()


def test_files_with_clusters_come_last_and_the_longest_first() -> None:
    recorded = json.loads(REPORT.read_text("utf-8"))["files"]
    short, *_, long = sorted((file for file in recorded if "/brokers/" in file), key=lambda file: recorded[file])
    files = [
        short,
        "tests/faults/test_stop.py",
        long,
        "tests/side_by_side/test_new.py",
        "tests/unit/base/test_clock.py",
    ]
    items: list[Any] = [SimpleNamespace(nodeid=f"{file}::test_a") for file in files]
    pytest_collection_modifyitems(items)
    assert [item.nodeid.partition("::")[0] for item in items] == [files[1], files[4], long, short, files[3]]


def test_a_file_is_run_by_one_worker() -> None:
    """With the pytest and the xdist that are here."""
    words = ["--numprocesses", "2", "--dist", "loadgroup", "-v", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *FILES],
        cwd=CHECKOUT,
        env={name: text for name, text in os.environ.items() if name != RECORD},
        capture_output=True,
        text=True,
        check=True,
    )
    ran = {(file, worker) for worker, file in LINE.findall(done.stdout)}
    assert sorted(file for file, _ in ran) == FILES
