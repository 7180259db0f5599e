"""The planted faults have a place in today's code, and the tests that are to find them exist. `bin/test mutants` runs
them.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from compat.laboratory.mutants import FAULTS, Fault, read_faults
from tests.structure.source_tree import CHECKOUT

LEAST = 150
ROWS = read_faults()


def test_there_are_enough_in_each_area() -> None:
    assert len(ROWS) >= LEAST
    assert min(Counter(fault.area for fault in ROWS).values()) >= 5, FAULTS


def test_each_name_is_there_once() -> None:
    assert [name for name, count in Counter(fault.name for fault in ROWS).items() if count > 1] == []


def test_a_fault_has_its_place_and_its_test() -> None:
    assert [problem for fault in ROWS for problem in _problems(fault)] == []


def test_a_fault_names_what_its_module_has(tmp_path: Path) -> None:
    """A name that is gone ends each test by itself, whatever the fault is."""
    for number, fault in enumerate(ROWS):
        (tmp_path / f"fault{number}.py").write_text(fault.planted(), "utf-8")
    command = (sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "--output-format", "json", ".")
    found = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout)
    names = {f"fault{number}": f"{fault.area}: {fault.name}" for number, fault in enumerate(ROWS)}
    assert [(names[Path(each["filename"]).stem], each["message"]) for each in found] == []


def _problems(fault: Fault) -> Iterator[str]:
    try:
        ast.parse(fault.planted())
    except (ValueError, SyntaxError) as error:
        yield f"{fault.area}: {fault.name}: {error}"
    if not fault.tests:
        yield f"{fault.area}: {fault.name}: no test is named that finds it"
    for test in fault.tests:
        file, _, name = test.partition("::")
        if name not in _tests_of(CHECKOUT / file):
            yield f"{fault.area}: {fault.name}: {file} has no {name}"


@cache
def _tests_of(file: Path) -> set[str]:
    """Names of the functions of a file, those of its classes as pytest writes them, and none for the whole file."""
    tree = ast.parse(file.read_text("utf-8"))
    found = {""}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)}
    return found
