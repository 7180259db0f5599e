"""Every row of the ledger names a test that exists, and no two rows have one id."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from legacy_mm.explain.difference import Quirk
from legacy_mm.explain.differences import QUIRKS

CHECKOUT = Path(__file__).parents[2]


def test_ids_are_unique() -> None:
    ids = [row.id for row in QUIRKS]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("row", QUIRKS, ids=lambda row: row.id)
def test_the_named_test_exists(row: Quirk) -> None:
    file, _, name = row.test.partition("::")
    functions = {
        node.name for node in ast.walk(ast.parse((CHECKOUT / file).read_text())) if isinstance(node, ast.FunctionDef)
    }
    assert name in functions, row.test
