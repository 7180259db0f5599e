"""The sample file of the demo, and the records that follow from it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from compat.laboratory.checkout import COMMANDS, SAMPLES
from compat.laboratory.demo_data import TopicRow, items, read_rows
from legacy_mm.base.errors import ConfigurationError

ROW = TopicRow("audit", True, 2, 1_000, 0, 20, "none", headers=("hop", "hop"), tombstone_every=10)
HEAD = "first_timestamp = 2026-01-01T00:00:00Z\n"


def test_the_shipped_file_has_every_kind() -> None:
    rows = read_rows(SAMPLES / "demo" / "topics.toml")
    assert {row.name: row.mirrored for row in rows} == {
        "orders.eu": True,
        "orders.us": True,
        "orders.audit": True,
        "audit": True,
        "payments": False,
    }
    assert any(not row.keys for row in rows)
    assert any(row.headers for row in rows)
    assert any(row.tombstone_every for row in rows)
    assert 200_000 <= sum(row.records for row in rows) <= 500_000
    assert rows[0].first_timestamp == 1_767_225_600_000


def test_the_command_is_beside_the_samples() -> None:
    assert (COMMANDS / "kafka-mirror-maker.sh").is_file()


def test_records_follow_the_row() -> None:
    made = list(items(ROW))
    assert len(made) == 1_000
    assert all(item.key is None for item in made)
    assert sum(item.value is None for item in made) == 100
    assert len({item.value for item in made}) == 901  # all others differ
    assert {tuple(name for name, _ in item.headers) for item in made} == {("hop", "hop")}
    assert any(value is None for item in made for _, value in item.headers)
    assert [item.timestamp for item in made[:3]] == [0, 10, 20]
    assert made == list(items(ROW))


def test_keys_are_used_evenly() -> None:
    row = TopicRow("orders", True, 2, 1_000, 50, 20, "lz4")
    assert set(Counter(item.key for item in items(row)).values()) == {20}


@pytest.mark.parametrize(
    "text", ["", "[[topic", HEAD, "first_timestamp = 1\n[[topic]]\n", HEAD + "[[topic]]\nsize = 1\n"]
)
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "topics.toml"
    path.write_text(text)
    with pytest.raises(ConfigurationError, match=str(path)):
        read_rows(path)
