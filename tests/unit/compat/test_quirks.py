"""The ledger is in order: ids are unique, every test it names exists or is a colleague's."""

from __future__ import annotations

import re
from pathlib import Path

from legacy_mm.compat.quirks import COLLEAGUES_TESTS, QUIRKS

ROOT = Path(__file__).parents[3]


def test_ids_are_unique() -> None:
    ids = [row.id for row in QUIRKS]
    assert len(ids) == len(set(ids))


def test_every_row_has_a_test() -> None:
    for row in QUIRKS:
        if row.test in COLLEAGUES_TESTS:
            continue
        file, _, name = row.test.partition("::")
        text = (ROOT / file).read_text()
        assert re.search(rf"^def {name}\(", text, re.MULTILINE), row.id


def test_every_colleague_s_test_is_named() -> None:
    assert set(COLLEAGUES_TESTS) <= {row.test for row in QUIRKS}
