"""A last stable offset that does not move is told once it has stood for longer than a transaction lasts by default."""

from __future__ import annotations

import pytest

from legacy_mm.base.clock import monotonic
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.fetch.stable_offsets import StableOffsets

PLACE = TopicPartition("orders", 3)
LONG = 61.0


def test_one_that_stands_still_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    offsets = StableOffsets()
    offsets.note(PLACE, 40, 50)
    offsets.note(PLACE, 40, 60)
    offsets.poll(monotonic() + 50)
    assert not caplog.records
    offsets.poll(monotonic() + LONG)
    offsets.poll(monotonic() + 2 * LONG)
    (line,) = [record.getMessage() for record in caplog.records]
    assert "Nothing of orders-3 is read beyond offset 40, though its log ends at 60" in line
    assert "find-hanging --topic orders --partition 3" in line


@pytest.mark.parametrize(("offset", "end"), [(50, 60), (60, 60)])
def test_one_that_moves_is_not_told(offset: int, end: int, caplog: pytest.LogCaptureFixture) -> None:
    """Another transaction may be open behind it, for as long again."""
    offsets = StableOffsets()
    offsets.note(PLACE, 40, 60)
    began = monotonic()
    while monotonic() == began:
        pass
    offsets.note(PLACE, offset, end)
    offsets.poll(began + 60)
    assert not caplog.records
