"""Files up to 450 lines, functions up to 60; a listed table may be longer if it is only rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.structure.source_tree import Module, checkout_modules, functions, modules

FILE_LIMIT = 450
"""A guard against files that nobody reads to their end. No file is split because it comes near."""
TEST_FILE_LIMIT = 500
FUNCTION_LIMIT = 60
TABLE_FUNCTION_LIMIT = 10

# Module -> what its rows are. Such a file may be longer than FILE_LIMIT.
TABLES = {
    "legacy_mm.explain.differences": "one row for each known difference from the legacy tool",
    "legacy_mm.logs.log_lines": "one row for each line that operators meet",
    "legacy_mm.logs.events": "one row for each line of ours",
    "compat.laboratory.connect_requests": "one row for each request of a script",
}
# Module -> why it cannot be two. Such a file may be longer than FILE_LIMIT.
WHOLE = {"legacy_mm.protocol.record_kernels": "one compiled module: C puts the reading of a record into each walk"}


def size_violations(tree: dict[str, Module], file_limit: int, tables: dict[str, str] | None = None) -> list[str]:
    """Files and functions that are too long, and tables that are gone."""
    tables = tables or {}
    gone = [name for name in tables if name not in tree]
    found = [f"{name} is listed as a table but does not exist" for name in gone]
    for module in tree.values():
        lines = len(module.text.splitlines())
        if lines > file_limit and module.name not in {**tables, **WHOLE}:
            found.append(f"{module.path.name}: {lines} lines, the limit is {file_limit}")
        limit = TABLE_FUNCTION_LIMIT if module.name in tables else FUNCTION_LIMIT
        for node in functions(module.tree):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > limit:
                where = f"{module.name}:{node.lineno} {node.name}"
                found.append(f"{where}: {length} lines, the limit is {limit}")
    return found


def test_files_and_functions_of_the_package() -> None:
    found = size_violations(checkout_modules(), FILE_LIMIT, TABLES)
    assert not found, "\n".join(found)


def test_files_and_functions_of_the_tests() -> None:
    found = size_violations(checkout_modules("tests"), TEST_FILE_LIMIT)
    assert not found, "\n".join(found)


def plant(folder: Path, text: str) -> dict[str, Module]:
    path = folder / "legacy_mm" / "a.py"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    return modules(folder)


@pytest.mark.parametrize(("lines", "violations"), [(450, 0), (451, 1)])
def test_a_long_file_is_found(tmp_path: Path, lines: int, violations: int) -> None:
    assert len(size_violations(plant(tmp_path, "x = 1\n" * lines), FILE_LIMIT)) == violations


@pytest.mark.parametrize(("lines", "violations"), [(60, 0), (61, 1)])
def test_a_long_method_is_found(tmp_path: Path, lines: int, violations: int) -> None:
    text = "class A:\n    def f(self):\n" + "        x = 1\n" * (lines - 1)
    assert len(size_violations(plant(tmp_path, text), FILE_LIMIT)) == violations


def test_a_table_may_be_long_but_holds_no_long_function(tmp_path: Path) -> None:
    tables = {"legacy_mm.a": "rows"}
    tree = plant(tmp_path, "ROWS = [\n" + "    1,\n" * 900 + "]\n")
    assert size_violations(tree, FILE_LIMIT, tables) == []
    tree["legacy_mm.a"].path.write_text("def f():\n" + "    x = 1\n" * 10, encoding="utf-8")
    assert len(size_violations(modules(tmp_path), FILE_LIMIT, tables)) == 1


def test_a_table_that_is_gone_is_found(tmp_path: Path) -> None:
    tables = {"legacy_mm.b": "rows"}
    assert "does not exist" in size_violations(plant(tmp_path, ""), FILE_LIMIT, tables)[0]
