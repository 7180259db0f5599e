"""Whether a copy was emptied: told by the offset that a record got at the target."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.dataplane.acks import Part, Piece
from legacy_mm.dataplane.empty_copies import EmptyCopies
from legacy_mm.model import EARLIEST, LATEST, TopicPartition

P = TopicPartition("orders", 3)
OFFSETS: Any = None


@pytest.mark.parametrize(
    ("start", "safe", "begin", "moved", "partitions", "count"),
    [
        (400, {}, 100, False, 4, 300),  # deleted while the mirror was stopped
        (EARLIEST, {P: 400}, 100, False, 4, 300),  # deleted under the mirror
        (LATEST, {P: 400}, 100, False, 4, 300),
        (EARLIEST, {}, 100, False, 4, 0),  # the first start; what it skips with `latest` has its own line
        (LATEST, {}, 100, False, 4, 0),
        (100, {}, 100, False, 4, 0),
        (50, {}, 100, False, 4, 0),  # a gap
        (400, {}, -1, False, 4, 0),
        (400, {}, 100, True, 4, 0),
        (400, {}, 100, False, 6, 0),
    ],
)
def test_what_the_copy_lacks_is_told(
    start: int,
    safe: dict[TopicPartition, int],
    begin: int,
    moved: bool,
    partitions: int,
    count: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    clusters: Any = Mock(partitions=lambda _: 4), Mock(partitions=lambda _: partitions)
    copies = EmptyCopies({"orders": "up.orders"}, {P: start}, lambda: safe, lambda _: begin, clusters)
    copies.first(Part(Piece(P, 500, 1), OFFSETS, None, moved))
    lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(lines) == (count > 0)
    if count:
        assert f"{P} in topic up.orders " in lines[0]
        assert f"the {count} offsets from {begin} on" in lines[0]
