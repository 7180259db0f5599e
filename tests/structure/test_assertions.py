"""A test asserts something, itself or by a function that it calls; one that only must not raise says why here."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

from tests.structure.source_tree import CHECKOUT

PROOFS = {"raises", "wait_until", "fail", "warns"}
MUST_NOT_RAISE = {
    "test_without_a_console_a_line_that_cannot_be_written_is_lost": "the line has no place to be looked for",
    "test_a_c_library_that_cannot_be_told_is_left_alone": "there is nothing that could have changed",
    "test_masters": "the check raises for what is wrong; the test beside it shows that",
    "test_encryption_is_free_where_nothing_leaves_the_host": "the same",
    "test_everything_else_is_the_user_s": "the same",
    "test_a_message_of_any_lengths": "it hands made-up bytes to the test above it",
}
"""Test -> why no exception is all that it can show."""


def proves(node: ast.AST, helpers: Collection[str]) -> bool:
    """Whether something in it can fail on purpose; what a stand-in inside a test raises is no proof."""
    is_test = isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    for each in ast.walk(node):
        if isinstance(each, ast.Assert) or (isinstance(each, ast.Raise) and not is_test):
            return True
        if isinstance(each, ast.Call):
            name = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            if name in PROOFS or name in helpers:
                return True
    return False


def helpers_that_prove(functions: list[ast.FunctionDef]) -> set[str]:
    """Names of functions of the tests that assert, themselves or by others."""
    found: set[str] = set()
    while new := {each.name for each in functions if each.name not in found and proves(each, found)}:
        found |= new
    return found


def functions_of(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))


def unproven(folder: Path) -> set[str]:
    """Names of the tests below a folder that assert nothing."""
    functions = [each for path in folder.rglob("*.py") for each in functions_of(ast.parse(path.read_text()))]
    helpers = helpers_that_prove([each for each in functions if not each.name.startswith("test_")])
    return {each.name for each in functions if each.name.startswith("test_") and not proves(each, helpers)}


def test_each_test_asserts_something() -> None:
    assert unproven(CHECKOUT / "tests") == set(MUST_NOT_RAISE)


def test_a_test_that_asserts_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "def look(x):\n    assert x\n\ndef test_a():\n    print(1)\n\ndef test_b():\n    look(1)\n\n"
        "def test_c():\n    def fail():\n        raise ValueError\n\n    print(fail)\n"
    )
    assert unproven(tmp_path) == {"test_a", "test_c"}
