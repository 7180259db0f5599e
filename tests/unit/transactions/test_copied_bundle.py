"""The pieces of one bundle, what counts with a commit and what is given up; no socket, no session."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from legacy_mm.base.errors import StreamFailure, Undecided
from legacy_mm.base.model import EARLIEST, TopicPartition
from legacy_mm.base.reports import Started
from legacy_mm.clients.fetch.fetcher import NOWHERE
from legacy_mm.clients.produce.appender import Acknowledged
from legacy_mm.dataplane.acks import Piece
from legacy_mm.runtime.channel.frames import MarkAsked
from legacy_mm.transactions.bundle_events import Discard, FetchFrom, Report, Timer
from legacy_mm.transactions.copied_bundle import CopiedBundle
from legacy_mm.transactions.txn_errors import Reaction
from tests.unit.transactions.bundle_parts import NUMBER, SOURCE, JobParts, found, written

OVERDUE, FENCED = Discard(Timer.OVERDUE), Discard(Reaction.FENCED)
COMMITTED = Report(((SOURCE, 10),))
ARRIVED = Acknowledged("opaque", 40)


@pytest.fixture
def job() -> JobParts:
    return JobParts()


@pytest.fixture
def bundle(job: JobParts) -> CopiedBundle:
    return job.copied()


def put(bundle: CopiedBundle, size: int = 2, records: int = 3) -> Piece:
    """Give it a whole piece that is one batch of so many bytes."""
    piece = Piece(SOURCE, 10, 1)
    bundle.begin_piece(piece, ())
    bundle.append(piece, SOURCE, cast(Any, SimpleNamespace(buffer=bytes(size))), None)
    bundle.end_piece(records, complete=True)
    return piece


def test_a_piece_waits_for_its_commit(bundle: CopiedBundle, job: JobParts) -> None:
    piece = Piece(SOURCE, 10, 2)
    bundle.begin_piece(piece, ())
    assert bundle.append(piece, SOURCE, cast(Any, SimpleNamespace(buffer=b"12")), None)
    assert (bundle.uncommitted.pieces, bundle.uncommitted.size) == ([piece], 2)
    assert not job.pieces.acknowledged.called


def test_a_piece_that_brings_nothing_is_over_at_once(bundle: CopiedBundle, job: JobParts) -> None:
    """Else what waits for all pieces of its partition would wait for the next transaction."""
    job.owner.begin_piece.return_value = False
    piece = Piece(SOURCE, 10, 1)
    bundle.begin_piece(piece, ())
    assert bundle.end_piece(0, complete=True)
    job.pieces.acknowledged.assert_called_once_with(piece)
    assert bundle.uncommitted.pieces == []
    with pytest.raises(AssertionError, match="t-0 is copied up to 10 already"):
        bundle.append(piece, SOURCE, cast(Any, None), None)


def test_a_piece_that_is_not_complete_is_never_committed(bundle: CopiedBundle, job: JobParts) -> None:
    bundle.begin_piece(Piece(SOURCE, 10, 2), ())
    assert not bundle.end_piece(3, complete=False)
    job.owner.give_up.assert_called_once_with()


def test_what_is_in_hand_of_a_transaction_that_was_given_up_is_in_no_other(bundle: CopiedBundle, job: JobParts) -> None:
    piece = Piece(SOURCE, 10, 2)
    bundle.begin_piece(piece, ())
    job.owner.has_piece = job.owner.end_piece.return_value = False
    assert not bundle.append(piece, SOURCE, cast(Any, SimpleNamespace(buffer=b"12")), None)
    assert not bundle.end_piece(3, complete=True)
    assert not job.owner.append.called
    assert (bundle.uncommitted.size, bundle.uncommitted.records) == (0, 0)


def test_what_is_in_hand_of_a_full_transaction_is_read_again(bundle: CopiedBundle, job: JobParts) -> None:
    job.owner.next.return_value = 7
    job.owner.takes_pieces = False
    put(bundle)
    job.fetcher.hold.assert_called_once_with(SOURCE, 7)
    assert bundle.reading.holds == 1, "so the engine sees that what it has in hand is read again"


def test_a_transaction_counts_when_it_is_committed(bundle: CopiedBundle, job: JobParts) -> None:
    piece = put(bundle)
    bundle.uncommitted.acknowledged.append(ARRIVED)
    assert bundle.uncommitted.copied == 0
    bundle.do(COMMITTED)
    assert bundle.uncommitted.copied == 3
    job.count.assert_called_once_with(ARRIVED)
    job.pieces.acknowledged.assert_called_once_with(piece)


def test_what_was_given_up_does_not_count_with_the_next_commit(bundle: CopiedBundle, job: JobParts) -> None:
    put(bundle)
    bundle.do(OVERDUE)
    piece = put(bundle, records=2)
    bundle.do(COMMITTED)
    assert bundle.uncommitted.copied == 2
    job.pieces.acknowledged.assert_called_once_with(piece)


def test_nor_does_what_the_target_had_of_it_and_nobody_has_heard_of(bundle: CopiedBundle, job: JobParts) -> None:
    job.take_acknowledged.side_effect = lambda: bundle.uncommitted.acknowledged.append(ARRIVED)
    bundle.do(OVERDUE)
    assert bundle.uncommitted.acknowledged == []
    job.take_acknowledged.assert_called_once_with()


def test_what_was_given_up_is_read_anew_and_holds_up_nothing(bundle: CopiedBundle, job: JobParts) -> None:
    bundle.do(OVERDUE)
    job.fetcher.hold.assert_called_once_with(SOURCE, NOWHERE)
    job.forget.assert_called_once_with(SOURCE)
    assert bundle.reading.holds == 1


def test_behind_one_that_was_overdue_a_transaction_is_half_as_large_until_one_is_committed(
    bundle: CopiedBundle,
) -> None:
    put(bundle, 100)
    bundle.do(OVERDUE)
    takes_more: list[bool] = []
    for size in (49, 1):
        put(bundle, size)
        takes_more.append(bundle.takes_pieces)
    bundle.do(COMMITTED)
    put(bundle, 99)
    assert [*takes_more, bundle.takes_pieces] == [True, False, True]


def test_who_is_fenced_over_and_over_ends(bundle: CopiedBundle) -> None:
    """Two mirrors copy the same. A commit in between tells that it is over."""
    for _ in range(3):
        bundle.do(FENCED)
    bundle.do(COMMITTED)
    for _ in range(3):
        bundle.do(FENCED)
    with pytest.raises(StreamFailure, match=f"bundle {NUMBER} was taken over 4 times without a commit"):
        bundle.do(FENCED)


@pytest.mark.parametrize("takes_pieces", [True, False])
def test_a_position_moves_with_an_open_transaction(bundle: CopiedBundle, job: JobParts, takes_pieces: bool) -> None:
    job.owner.takes_pieces = takes_pieces
    bundle.passed(SOURCE, 11)
    assert job.owner.passed.called is takes_pieces


def test_a_jump_is_part_of_the_transaction(bundle: CopiedBundle, job: JobParts) -> None:
    bundle.do(Report(((SOURCE, 100),)))
    piece = Piece(SOURCE, 90, 1)
    bundle.jump(piece)
    job.owner.jump.assert_called_once_with(SOURCE, 90)
    assert bundle.uncommitted.pieces == [piece]
    assert written(bundle.positions, 90).adopted == 100


@pytest.mark.parametrize(
    ("known", "adopted", "safe"),
    [
        (3, False, {SOURCE: 5}),
        (5, False, {}),  # the group has it already
        (None, True, {SOURCE: 5}),  # somebody has begun, and has committed nothing at the source
        (None, False, {}),  # it begins here, by `auto.offset.reset`
    ],
)
def test_a_position_that_the_group_does_not_have_is_safe(
    known: int | None, adopted: bool, safe: dict[TopicPartition, int]
) -> None:
    """Else the group of an idle topic would stay behind what a killed owner has committed at the target."""
    job = JobParts(known)
    job.begins[SOURCE] = EARLIEST
    job.fetcher.find.return_value = Started({SOURCE: 5}, {SOURCE: 0})
    bundle = job.copied()
    if known is None and not adopted:
        bundle.positions.decide_positions([])
    bundle.do(FetchFrom(((SOURCE, 5),)))
    job.pieces.begin.assert_called_once_with(safe)


def test_a_claim_that_finds_less_than_was_committed_ends(bundle: CopiedBundle) -> None:
    bundle.do(Report(((SOURCE, 9),)))
    assert bundle.positions.decide_positions(found(9)) == (((SOURCE, 9),), ())
    with pytest.raises(Undecided, match="position is only 7: later ones are lost"):
        bundle.positions.decide_positions(found(7))


def test_an_adopted_offset_is_committed_for_the_group_before_a_record_is_read() -> None:
    """From then on the group's offset is ours, so nobody's reset to the same offset is taken for it."""
    job = JobParts(known=5)
    bundle = job.copied()
    bundle.positions.decide_positions([])
    assert written(bundle.positions, 5).adopted == 5
    bundle.do(FetchFrom(((SOURCE, 5),)))
    job.fetcher.resume.assert_called_once_with({}, {"t": 7}, {})
    job.report.assert_called_with(MarkAsked({SOURCE: 5}))
    bundle.park()
    bundle.poll(0.0)
    assert not job.fetcher.hold.called and not job.fetcher.release.called, "nothing of it is read"
    bundle.positions.marked(SOURCE)
    bundle.poll(0.0)
    job.fetcher.resume.assert_called_with({SOURCE: 5}, {"t": 7}, {})
    assert written(bundle.positions, 9).adopted is None


def test_a_bundle_that_is_claimed_again_does_not_ask_again_for_what_the_group_has() -> None:
    job = JobParts(known=5)
    bundle = job.copied()
    for rows in ([], found(5)):
        bundle.positions.decide_positions(rows)
        bundle.do(FetchFrom(((SOURCE, 5),)))
        bundle.positions.marked(SOURCE)
        bundle.poll(0.0)
    assert [call.args[0] for call in job.report.call_args_list if isinstance(call.args[0], MarkAsked)] == [
        MarkAsked({SOURCE: 5})
    ]
