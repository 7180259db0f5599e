"""Safe offsets: only past acknowledged data records, only forward (invariants A and B)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Portion
from legacy_mm.dataplane.acks import Part, Piece, Pieces, SafeOffsets
from legacy_mm.dataplane.tally import Tally

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def test_nothing_is_safe_before_it_is_acknowledged() -> None:
    """Invariant A."""
    safe = SafeOffsets()
    safe.sent({A: 5})
    assert safe.take_moved() == {}
    assert safe.unacknowledged() == {A: 5}
    safe.acknowledged(A, 5)
    assert safe.take_moved() == {A: 5}
    assert safe.unacknowledged() == {}
    safe.sent({A: 9})
    assert safe.unacknowledged() == {A: 9}, "though a part of it is safe"


def test_moves_are_reported_once() -> None:
    safe = SafeOffsets()
    for partition, offset in ((A, 5), (B, 1), (B, 2)):
        safe.sent({partition: offset})
        safe.acknowledged(partition, offset)
    assert safe.take_moved() == {A: 5, B: 2}
    assert safe.take_moved() == {}


def test_invariant_b_a_safe_offset_never_goes_back() -> None:
    safe = SafeOffsets()
    safe.sent({A: 5})
    safe.acknowledged(A, 5)
    with pytest.raises(AssertionError, match="invariant B"):
        safe.acknowledged(A, 4)


def test_after_a_gap_a_lower_offset_is_a_new_beginning() -> None:
    safe = SafeOffsets()
    safe.sent({A: 500})
    safe.acknowledged(A, 500)
    safe.restart(A)
    safe.sent({A: 3})
    safe.acknowledged(A, 3)
    assert safe.take_moved() == {A: 3}


def test_a_piece_is_safe_when_all_its_batches_arrived_and_all_before_it() -> None:
    """Invariant A, for pieces that come back in any order."""
    safe = SafeOffsets()
    pieces = Pieces(safe)
    first, second = pieces.open(A, 10, 2), pieces.open(A, 20, 1)
    pieces.acknowledged(second)
    pieces.acknowledged(first)
    assert safe.take_moved() == {}
    assert safe.unacknowledged() == {A: 20}
    pieces.acknowledged(first)
    assert safe.take_moved() == {A: 20}


def test_the_first_piece_in_flight_says_what_the_target_misses() -> None:
    pieces = Pieces(SafeOffsets())
    opened = [pieces.open(A, begin + 10, 1, begin=begin) for begin in (0, 10, 20)]
    pieces.open(B, 5, 1)
    assert pieces.first_missing() == {A: 0}, "where it begins is not known of B"
    for piece, expected in ((opened[1], {A: 0}), (opened[0], {A: 20}), (opened[2], {})):
        pieces.acknowledged(piece)
        assert pieces.first_missing() == expected


def test_a_piece_that_was_dropped_on_purpose_waits_for_those_before_it() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    first = pieces.open(A, 10, 1)
    pieces.open(A, 20, 0)
    assert safe.take_moved() == {}
    pieces.acknowledged(first)
    assert safe.take_moved() == {A: 20}


def test_what_the_target_has_from_before_is_safe_at_once() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    pieces.begin({A: 10})
    assert safe.take_moved() == {A: 10}
    assert safe.unacknowledged() == {}


def test_pieces_from_before_a_gap_do_not_count() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    old = pieces.open(A, 10, 1)
    pieces.restart(A)
    new = pieces.open(A, 5, 1)
    pieces.acknowledged(new)
    pieces.acknowledged(old)
    assert safe.take_moved() == {A: 5}


def test_pieces_behind_a_gap_may_be_lower_than_what_was_safe_before_it() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    pieces.acknowledged(pieces.open(A, 500, 1))
    pieces.restart(A)
    pieces.acknowledged(pieces.open(A, 3, 1))
    assert safe.take_moved() == {A: 3}


@given(st.lists(st.integers(0, 3), min_size=1, max_size=10), st.randoms())
def test_the_safe_offset_is_the_end_of_the_complete_front(batches: list[int], random: Random) -> None:
    """Invariants A and B, after every single acknowledgement."""
    safe = SafeOffsets()
    pieces = Pieces(safe)
    opened = [pieces.open(A, number + 1, count) for number, count in enumerate(batches)]
    waiting = [piece for piece in opened for _ in range(piece.missing)]
    random.shuffle(waiting)
    now = 0
    for piece in [None, *waiting]:
        if piece is not None:
            pieces.acknowledged(piece)
        now = safe.take_moved().get(A, now)
        complete = next((number for number, piece in enumerate(opened) if piece.missing), len(opened))
        assert now == complete


def parts(piece: Piece, *offsets: int) -> Callable[[], list[Part]]:
    return lambda: [Part(piece, [offset], None) for offset in offsets]


def not_asked() -> list[Part]:
    raise AssertionError("a second try looks at no queue")


def test_what_is_before_a_record_that_waits_is_safe_while_it_waits() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    first, piece = pieces.open(A, 10, 1, begin=0), pieces.open(A, 20, 4, begin=10)
    pieces.acknowledged(first)
    pieces.cut(piece, 10, parts(piece, 10, 17))
    assert safe.take_moved() == {A: 10}, "nothing of it is before its first record"
    pieces.cut(piece, 17, parts(piece, 12, 17, 18))
    assert safe.take_moved() == {}, "a part before it is under way"
    for _ in range(2):
        pieces.acknowledged(piece)
    pieces.cut(piece, 17, lambda: [*parts(piece, 17, 18)(), *parts(first, 3)()])
    assert safe.take_moved() == {A: 17}
    pieces.cut(piece, 17, not_asked)
    for _ in range(2):
        assert safe.take_moved() == {}
        pieces.acknowledged(piece)
    assert safe.take_moved() == {A: 20}


def test_a_record_that_waits_moves_nothing_past_an_older_piece() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    older, piece = pieces.open(A, 10, 1, begin=0), pieces.open(A, 20, 1, begin=10)
    pieces.cut(piece, 17, parts(piece, 17))
    assert safe.take_moved() == {}
    pieces.acknowledged(older)
    assert safe.take_moved() == {A: 17}


def test_a_record_from_before_a_gap_moves_nothing() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    piece = pieces.open(A, 20, 1, begin=10)
    pieces.restart(A)
    pieces.cut(piece, 17, parts(piece, 17))
    assert safe.take_moved() == {}


def test_receipts_count_whole_pieces_though_a_record_waits() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe, Tally())
    piece = pieces.open(A, 20, 1, begin=10)
    pieces.cut(piece, 17, parts(piece, 17))
    assert safe.take_moved() == {}


def test_what_is_before_the_first_abandoned_record_is_safe_at_the_end() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    first, other = pieces.open(A, 10, 1, begin=0), pieces.open(B, 5, 1, begin=0)
    second = pieces.open(A, 20, 2, begin=10)
    for piece in (first, second, other):
        pieces.acknowledged(piece)
    for partition, offset in ((A, 17), (A, 14), (B, 3)):
        pieces.abandon(partition, offset)
    assert safe.safe() == {A: 10, B: 5}
    pieces.all_others_arrived()
    assert safe.safe() == {A: 14, B: 5}


def test_where_nothing_arrived_nothing_is_safe() -> None:
    """As the legacy tool, which commits no offset at which it has only begun."""
    safe = SafeOffsets()
    pieces = Pieces(safe)
    pieces.open(A, 10, 1, begin=4)
    pieces.abandon(A, 4)
    pieces.all_others_arrived()
    assert safe.safe() == {}


def test_with_receipts_a_piece_is_safe_as_a_whole_or_not_at_all() -> None:
    """Else no receipt would tell of the records before the abandoned one."""
    safe = SafeOffsets()
    pieces = Pieces(safe, Tally())
    pieces.acknowledged(pieces.open(A, 10, 1, Portion(*A, 0, 10, 10, 100), begin=0))
    pieces.acknowledged(pieces.open(A, 20, 2, Portion(*A, 10, 20, 10, 100), begin=10))
    pieces.abandon(A, 14)
    pieces.all_others_arrived()
    assert safe.safe() == {A: 10}


def test_a_gap_forgets_what_was_abandoned_before_it() -> None:
    safe = SafeOffsets()
    pieces = Pieces(safe)
    pieces.abandon(A, 17)
    pieces.restart(A)
    pieces.all_others_arrived()
    assert safe.safe() == {}
