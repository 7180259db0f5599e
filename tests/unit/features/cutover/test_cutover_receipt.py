"""A receipt holds all that is needed to go back, and is read by nobody else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from legacy_mm.base.errors import ConfigurationError, HostError
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.features.cutover.cutover_receipt import CutoverReceipt, MovedPartition, load, save

BEFORE, AFTER = CommittedOffset(5, "theirs"), CommittedOffset(7, "ours")
MOVED = MovedPartition(TopicPartition("t", 1), 10, TopicPartition("west.t", 1), BEFORE, AFTER, "exact")
RECEIPT = CutoverReceipt("g", "f", "id", "2026-01-01T00:00:00Z", "planned", (MOVED, replace(MOVED, before=None)))


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    for receipt in (RECEIPT, replace(RECEIPT, state="committed")):
        save(receipt, file)
        assert load(file) == receipt
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["receipt.json"]


def test_a_partition_has_changed_where_something_else_is_committed() -> None:
    assert MOVED.changed
    assert replace(MOVED, before=None).changed
    assert not replace(MOVED, before=AFTER).changed


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "partitions": [{}]}'])
def test_another_file_is_no_receipt(tmp_path: Path, text: str) -> None:
    file = tmp_path / "receipt.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=r"is no receipt of legacy-mm cutover$"):
        load(file)


def test_a_receipt_of_another_version(tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    save(RECEIPT, file)
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 99}))
    with pytest.raises(ConfigurationError, match=r"is a receipt of another version$"):
        load(file)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "missing" / "receipt.json"
    with pytest.raises(HostError, match="cannot be written"):
        save(RECEIPT, file)
    with pytest.raises(HostError, match="cannot be read"):
        load(file)
