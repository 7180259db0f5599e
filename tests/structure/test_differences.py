"""Every known difference names a test that exists, and no two have one id."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from legacy_mm.explain.differences import DIFFERENCES
from legacy_mm.explain.known_difference import KnownDifference

CHECKOUT = Path(__file__).parents[2]


def test_ids_are_unique() -> None:
    ids = [row.id for row in DIFFERENCES]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("row", DIFFERENCES, ids=lambda row: row.id)
def test_the_named_test_exists(row: KnownDifference) -> None:
    file, _, name = row.test.partition("::")
    functions = {
        node.name for node in ast.walk(ast.parse((CHECKOUT / file).read_text())) if isinstance(node, ast.FunctionDef)
    }
    assert name in functions, row.test
