"""Every module, public class and public function says what it is for.

Name and types are enough for functions whose body is one simple statement, and for methods of
at most METHOD_LIMIT lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.structure.source_tree import Module, checkout_modules, modules

METHOD_LIMIT = 15
BLOCKS = (ast.With, ast.For, ast.While, ast.Try)


def docstring_violations(tree: dict[str, Module]) -> list[str]:
    """What has no docstring and needs one."""
    found = []
    for module in tree.values():
        if ast.get_docstring(module.tree) is None:
            found.append(f"{module.name}: the module has no docstring")
        for node in _needing_one(module.tree):
            if ast.get_docstring(node) is None:
                found.append(f"{module.name}:{node.lineno} {node.name} has no docstring")
    return found


Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def _needing_one(tree: ast.Module) -> Iterator[Definition]:
    for node in _public(tree.body):
        if isinstance(node, ast.ClassDef):
            yield node
            for member in _public(node.body):
                if not isinstance(member, ast.ClassDef) and _length(member) > METHOD_LIMIT:
                    yield member
        elif len(node.body) > 1 or isinstance(node.body[0], BLOCKS):
            yield node


def _public(body: list[ast.stmt]) -> Iterator[Definition]:
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node


def _length(node: Definition) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_the_package_has_its_docstrings() -> None:
    found = docstring_violations(checkout_modules())
    assert not found, "\n".join(found)


LONG = "        x = 1\n" * METHOD_LIMIT
CLASS = '"""Doc."""\nclass A:\n    """Doc."""\n'
BAD = {
    "no module docstring": "x = 1",
    "empty file": "",
    "class": '"""Doc."""\nclass A:\n    x = 1',
    "function": '"""Doc."""\ndef f():\n    x = 1\n    return x',
    "long method": CLASS + "    def f(self):\n" + LONG,
}
GOOD = {
    "one-liner": '"""Doc."""\ndef f():\n    return 1',
    "private": '"""Doc."""\ndef _f():\n    x = 1\n    return x\nclass _A:\n    x = 1',
    "short method": CLASS + "    def f(self):\n        x = 1\n        y = 2",
    "dunder": CLASS + "    def __init__(self):\n" + LONG,
}


def plant(folder: Path, text: str) -> dict[str, Module]:
    (folder / "legacy_mm").mkdir()
    (folder / "legacy_mm" / "a.py").write_text(text, encoding="utf-8")
    return modules(folder)


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_a_missing_docstring_is_found(tmp_path: Path, text: str) -> None:
    assert len(docstring_violations(plant(tmp_path, text))) == 1


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_what_needs_none_passes(tmp_path: Path, text: str) -> None:
    assert docstring_violations(plant(tmp_path, text)) == []
