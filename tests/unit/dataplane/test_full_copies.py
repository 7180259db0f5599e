"""A copy that holds records before the first one comes: told by the offset that this one got."""

from __future__ import annotations

from typing import Any

import pytest

from legacy_mm.base.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.dataplane.acks import Part, Piece
from legacy_mm.dataplane.empty_copies import FullCopies
from legacy_mm.logs import events

P, Q = TopicPartition("orders", 0), TopicPartition("orders", 1)
OFFSETS: Any = None


def part(place: TopicPartition, *, moved: bool = False) -> Part:
    return Part(Piece(place, 1, 1), OFFSETS, None, moved)


def full(starts: dict[TopicPartition, int], target: int = 2) -> FullCopies:
    return FullCopies({"orders": "orders"}, starts, lambda topic: 2, lambda topic: target)


def told(caplog: pytest.LogCaptureFixture) -> list[int]:
    return [vars(each)["fields"]["count"] for each in caplog.records if vars(each).get("event") is events.COPY_FULL]


@pytest.mark.parametrize(
    ("start", "base", "target", "counts"),
    [
        (EARLIEST, 30, 2, [30]),
        (EARLIEST, 0, 2, []),  # the first record of the copy
        (EARLIEST, -1, 2, []),  # acks=0
        (EARLIEST, 30, 3, []),  # other partitions' records come into the same one
        (LATEST, 30, 2, []),  # what it skips has its own line
        (7, 30, 2, []),
    ],
)
def test_what_was_there_is_told(
    start: int, base: int, target: int, counts: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    copies = full({P: start}, target)
    copies.acknowledged(part(P), base)
    copies.acknowledged(part(P), base + 5)
    assert told(caplog) == counts


def test_it_is_told_once_for_a_topic(caplog: pytest.LogCaptureFixture) -> None:
    copies = full({P: EARLIEST, Q: EARLIEST})
    copies.acknowledged(part(P), 30)
    copies.acknowledged(part(Q), 31)
    assert told(caplog) == [30]


def test_only_the_first_record_of_a_partition_tells(caplog: pytest.LogCaptureFixture) -> None:
    copies = full({P: EARLIEST})
    copies.acknowledged(part(P), 0)
    copies.acknowledged(part(P), 30)
    assert told(caplog) == []


def test_what_another_partition_has_sent_is_no_earlier_copy(caplog: pytest.LogCaptureFixture) -> None:
    copies = full({P: EARLIEST, Q: EARLIEST})
    copies.acknowledged(part(Q, moved=True), 0)
    copies.acknowledged(part(P), 1)
    assert told(caplog) == []
