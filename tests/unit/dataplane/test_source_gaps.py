"""A gap is told when nothing of its partition is under way, and answered when the delivery allows it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from legacy_mm.base.model import Offsets, TopicPartition
from legacy_mm.base.reports import Gap
from legacy_mm.dataplane.acks import Pieces, SafeOffsets
from legacy_mm.dataplane.source_gaps import SourceGaps

HERE, OTHER = (TopicPartition("t", number) for number in (0, 1))


def test_a_gap_waits_for_what_is_under_way_of_its_partition() -> None:
    pieces = Pieces(SafeOffsets())
    gaps, found = SourceGaps(pieces), [Gap(*HERE, 1, 5, 9, "as it is")]
    fetcher: Any = SimpleNamespace(take_gaps=lambda: [found.pop()] if found else [])
    piece = pieces.open(HERE, 1, 1)
    pieces.open(OTHER, 1, 1)
    assert list(gaps.found(fetcher)) == [] and gaps
    pieces.acknowledged(piece)
    assert [gap.topic_partition for gap in gaps.found(fetcher)] == [HERE]
    assert not gaps


def test_an_answer_waits_until_the_delivery_allows_it() -> None:
    gaps, resumed = SourceGaps(Pieces(SafeOffsets())), list[Offsets]()
    fetcher: Any = SimpleNamespace(awaited=lambda offsets: offsets, resume=resumed.append)
    gaps.resume({HERE: 5})
    assert list(gaps.answered(fetcher, lambda offsets: False)) == resumed == []
    assert gaps
    assert list(gaps.answered(fetcher, lambda offsets: True)) == resumed == [{HERE: 5}]
    assert not gaps
