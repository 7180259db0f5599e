"""The session by hand: the order of each sequence, and what every answer and doubt does in each state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.protocol.error_codes import ErrorCode as E
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_events import (
    Answered,
    AskOwnership,
    BundleAction,
    BundleEvent,
    Discard,
    End,
    FetchFrom,
    First,
    HoldPartitions,
    Jumped,
    Owned,
    PieceRead,
    PositionsRead,
    ReadPositions,
    Refuse,
    Report,
    Send,
    Timer,
    Unanswered,
)
from legacy_mm.transactions.bundle_session import BundleSession, BundleState
from legacy_mm.transactions.txn_errors import Reaction
from legacy_mm.transactions.txn_requests import (
    AddPartitionsToTxn,
    Append,
    ClaimBatch,
    EndTxn,
    InitProducerId,
    PositionsBatch,
    ProducerIdAndEpoch,
    TransactionVersion,
)

ID = "mirror.g.f.7"
PLACE = TopicPartition("positions", 7)
BUNDLE = Bundle(ID, PLACE)
SOURCE, OTHER = TopicPartition("s", 0), TopicPartition("s", 1)
TARGET, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)
P0, P1 = ProducerIdAndEpoch(40, 0), ProducerIdAndEpoch(40, 1)
INIT = InitProducerId(ID, None)
START = ((SOURCE, 5), (OTHER, 0))
PIECE = PieceRead(SOURCE, 5, 8, ((TARGET, "a"),))
BATCH = Append(ID, P0, TARGET, "a")
ADD = AddPartitionsToTxn(ID, P0, frozenset({TARGET, PLACE}))
MOVE = Append(ID, P0, PLACE, PositionsBatch(((SOURCE, 8),)))
COMMIT = EndTxn(ID, P0)
DONE = ((SOURCE, 8), (OTHER, 0))
CLAIM_ADD = AddPartitionsToTxn(ID, P0, frozenset({PLACE}))
CLAIM = Append(ID, P0, PLACE, ClaimBatch())
CLAIMED: list[BundleEvent] = [
    Owned(),
    Answered(INIT, producer=P0),
    Answered(CLAIM_ADD),
    Answered(CLAIM, offset=12),
    Answered(COMMIT),
]
READY: list[BundleEvent] = [*CLAIMED, PositionsRead(START, ())]
OPEN: list[BundleEvent] = [*READY, PIECE]
CLOSING: list[BundleEvent] = [*OPEN, Answered(ADD), Timer.INTERVAL_OVER]
ENDING: list[BundleEvent] = [*CLOSING, Answered(BATCH), Answered(MOVE)]


def after(events: Iterable[BundleEvent]) -> tuple[BundleSession, list[BundleAction]]:
    session, actions = BundleSession.begin(BUNDLE)
    done = list(actions)
    for event in events:
        session, actions = session.handle(event)
        done += actions
    return session, done


def then(events: Iterable[BundleEvent], event: BundleEvent) -> tuple[BundleSession, tuple[BundleAction, ...]]:
    return after(events)[0].handle(event)


def test_a_claim_goes_from_the_driver_to_the_id_to_the_positions_to_the_source() -> None:
    session, done = after(READY)
    assert done == [
        AskOwnership(),
        Send(INIT, First.FIND_COORDINATOR),
        Send(CLAIM_ADD),
        Send(CLAIM),
        Send(COMMIT),
        ReadPositions(12),
        FetchFrom(START),
    ]
    assert (session.state, session.next) == (BundleState.READY, START)


def test_first_positions_are_committed_before_the_source_is_fetched() -> None:
    session, _ = after(CLAIMED)
    session, actions = session.handle(PositionsRead(((SOURCE, 5),), ((OTHER, 0),)))
    assert actions == (Send(CLAIM_ADD),)
    adopt = Append(ID, P0, PLACE, PositionsBatch(((OTHER, 0),)))
    assert session.handle(Answered(CLAIM_ADD))[1] == (Send(adopt),)
    assert not session.takes_pieces
    for event in (Answered(CLAIM_ADD), Answered(adopt)):
        session, _ = session.handle(event)
    session, actions = session.handle(Answered(COMMIT))
    assert actions == (FetchFrom(START),), "and nothing is reported: nothing is copied"


def test_a_transaction_adds_then_produces_then_moves_positions_then_ends_then_reports() -> None:
    before = len(after(READY)[1])
    session, done = after([*ENDING, Answered(COMMIT)])
    assert done[before:] == [Send(ADD), Send(BATCH), Send(MOVE), Send(COMMIT), Report(DONE)]
    assert (session.state, session.positions) == (BundleState.READY, DONE)


def test_a_transaction_ends_when_the_target_has_all_of_it() -> None:
    session, actions = then(CLOSING, Answered(MOVE))
    assert actions == ()
    assert session.handle(Answered(BATCH))[1] == (Send(COMMIT),)


def test_pieces_for_other_partitions_are_added_one_request_after_the_other() -> None:
    session, _ = after(OPEN)
    session, none = session.handle(PieceRead(OTHER, 0, 1, ((SECOND, "b"), (TARGET, "c"))))
    assert none == (), "one addition is under way"
    session, actions = session.handle(Answered(ADD))
    more = AddPartitionsToTxn(ID, P0, frozenset({SECOND}))
    assert actions == (Send(BATCH), Send(Append(ID, P0, TARGET, "c")), Send(more))
    assert session.handle(Answered(more))[1] == (Send(Append(ID, P0, SECOND, "b")),)


@pytest.mark.parametrize("offset", [3, 9])
def test_a_jump_is_committed_before_or_behind_the_position(offset: int) -> None:
    """Where the source goes on after a gap."""
    jumped = ((SOURCE, offset), (OTHER, 0))
    move = Append(ID, P0, PLACE, PositionsBatch(((SOURCE, offset),)))
    events = [*READY, Jumped(SOURCE, offset), Timer.INTERVAL_OVER, Answered(CLAIM_ADD), Answered(move)]
    session, done = after([*events, Answered(COMMIT)])
    assert session.positions == session.next == jumped
    assert done[-1] == Report(jumped)


def test_a_piece_without_batches_moves_the_position() -> None:
    """All its records were dropped on purpose."""
    session, _ = after([*READY, PieceRead(SOURCE, 5, 9, ())])
    session, actions = session.handle(Timer.INTERVAL_OVER)
    assert actions == (Send(CLAIM_ADD),)
    assert session.handle(Answered(CLAIM_ADD))[1] == (Send(Append(ID, P0, PLACE, PositionsBatch(((SOURCE, 9),)))),)


@pytest.mark.parametrize("piece", [replace(PIECE, begin=4), replace(PIECE, begin=6), replace(PIECE, end=5)])
def test_a_piece_begins_at_the_position(piece: PieceRead) -> None:
    with pytest.raises(AssertionError, match="a piece begins at the position"):
        then(READY, piece)


@pytest.mark.parametrize("events", [[], CLAIMED[:1], CLAIMED, CLOSING, ENDING, [*READY, Timer.STOP]])
def test_a_piece_that_comes_at_the_wrong_time_is_not_taken(events: list[BundleEvent]) -> None:
    session, _ = after(events)
    assert not session.takes_pieces
    assert session.handle(PIECE) == (session, ())


@pytest.mark.parametrize(
    ("events", "request_"),
    [(CLAIMED[:2], CLAIM_ADD), (CLAIMED[:3], CLAIM), (OPEN, ADD), (CLOSING, BATCH), (CLOSING, MOVE), (ENDING, COMMIT)],
)
def test_a_request_in_doubt_is_sent_again_and_the_next_epoch_follows_the_commit(
    events: list[BundleEvent], request_
) -> None:
    session, actions = then(events, Unanswered(request_))
    assert [each.request for each in actions if isinstance(each, Send)] == [request_]
    while session.state is not BundleState.RENEWING:
        transaction = session.transaction
        assert transaction
        waiting = [transaction.adding, *transaction.unanswered, COMMIT]
        request = next(each for each in waiting if each)
        if session.state is BundleState.OPEN and request == COMMIT:
            session, actions = session.handle(Timer.INTERVAL_OVER)
        else:
            session, actions = session.handle(Answered(request, offset=1))
    renewal = InitProducerId(ID, P0)
    assert actions[-1] == Send(renewal, First.PAUSE)
    session, _ = session.handle(Answered(renewal, producer=P1))
    assert (session.producer, session.state) == (
        P1,
        BundleState.READING if request_ in (CLAIM_ADD, CLAIM) else BundleState.READY,
    )


RENEWING: list[BundleEvent] = [*ENDING, Unanswered(COMMIT), Answered(COMMIT)]
RENEWAL = InitProducerId(ID, P0)


def test_a_late_claim_or_renewal_does_no_harm_so_it_raises_no_doubt() -> None:
    session, actions = then(CLAIMED[:1], Unanswered(INIT))
    assert actions == (Send(INIT, First.FIND_COORDINATOR),)
    session, actions = then(RENEWING, Unanswered(RENEWAL))
    assert actions == (Send(RENEWAL, First.FIND_COORDINATOR),)
    session, _ = session.handle(Answered(RENEWAL, producer=P1))
    assert session.state is BundleState.READY


def test_a_renewal_with_another_producer_id_is_worth_nothing() -> None:
    """The coordinator forgot the id, and with it an owner that may have copied since."""
    session, actions = then(RENEWING, Answered(RENEWAL, producer=ProducerIdAndEpoch(41, 0)))
    assert actions == (Discard(Reaction.FENCED), AskOwnership())
    assert (session.state, session.positions, session.producer) == (BundleState.IDLE, (), None)


@pytest.mark.parametrize("events", [OPEN, CLOSING, ENDING, RENEWING, CLAIMED[:3]])
def test_what_does_not_settle_is_given_up_with_all_that_is_known(events: list[BundleEvent]) -> None:
    session, actions = then(events, Timer.OVERDUE)
    assert actions == (Discard(Timer.OVERDUE), AskOwnership())
    assert session == BundleSession(BUNDLE)


@pytest.mark.parametrize(
    "error", [E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH, E.INVALID_TXN_STATE, E.UNKNOWN_SERVER_ERROR]
)
@pytest.mark.parametrize(
    ("events", "request_"), [(CLAIMED[:1], INIT), (OPEN, ADD), (CLOSING, BATCH), (ENDING, COMMIT), (RENEWING, RENEWAL)]
)
def test_a_fence_forgets_everything_and_asks_the_driver_again(events: list[BundleEvent], request_, error: E) -> None:
    session, (discard, asks) = then(events, Answered(request_, error))
    assert isinstance(discard, Discard)
    assert (discard.error, asks, session) == (error, AskOwnership(), BundleSession(BUNDLE))
    assert session.handle(Answered(request_)) == (session, ()), "a late answer changes nothing"
    assert session.handle(Unanswered(request_)) == (session, ())


def test_the_answer_to_the_end_of_before_a_fence_is_no_commit() -> None:
    """It was under way while the bundle was claimed anew."""
    claimed: list[BundleEvent] = [
        Timer.OVERDUE,
        Owned(),
        Answered(INIT, producer=P1),
        Answered(replace(CLAIM_ADD, producer=P1)),
        Answered(replace(CLAIM, producer=P1), offset=14),
    ]
    session, _ = after([*ENDING, *claimed])
    assert session.state is BundleState.ENDING
    assert session.handle(Answered(COMMIT)) == (session, ())


def test_passing_errors_send_the_same_again() -> None:
    assert then(ENDING, Answered(COMMIT, E.CONCURRENT_TRANSACTIONS))[1] == (Send(COMMIT, First.PAUSE),)
    assert then(OPEN, Answered(ADD, E.NOT_COORDINATOR))[1] == (Send(ADD, First.FIND_COORDINATOR),)
    session, actions = then(CLOSING, Answered(BATCH, E.NOT_ENOUGH_REPLICAS_AFTER_APPEND))
    assert actions == (Send(BATCH, First.PAUSE),)
    assert session == after(CLOSING)[0], "and there is no doubt: the broker has answered"


def test_partitions_that_cannot_be_added_are_held_and_the_transaction_is_given_up() -> None:
    refused = frozenset({TARGET})
    _, actions = then(OPEN, Answered(ADD, E.UNKNOWN_TOPIC_OR_PARTITION, refused=refused))
    assert actions == (
        HoldPartitions(refused, E.UNKNOWN_TOPIC_OR_PARTITION),
        Discard(Reaction.UNWRITABLE, E.UNKNOWN_TOPIC_OR_PARTITION),
        AskOwnership(),
    )


def test_a_refused_batch_is_its_lanes_matter() -> None:
    session, actions = then(CLOSING, Answered(BATCH, E.MESSAGE_TOO_LARGE))
    assert actions == (Refuse(BATCH, E.MESSAGE_TOO_LARGE),)
    assert session == after(CLOSING)[0], "the transaction waits"


def test_a_claim_record_at_an_unknown_offset_is_written_anew() -> None:
    _, actions = then(CLAIMED[:3], Answered(CLAIM, E.DUPLICATE_SEQUENCE_NUMBER))
    assert actions == (Discard(Reaction.FENCE, E.DUPLICATE_SEQUENCE_NUMBER), AskOwnership())


def test_an_error_for_good_ends_the_session() -> None:
    session, actions = then(CLAIMED[:1], Answered(INIT, E.INVALID_TRANSACTION_TIMEOUT))
    assert actions == (End(E.INVALID_TRANSACTION_TIMEOUT),)
    assert session.handle(Owned()) == (session, ())


@pytest.mark.parametrize("events", [[], CLAIMED[:1], CLAIMED[:3], CLAIMED, READY])
def test_a_stop_without_records_on_their_way_ends_at_once(events: list[BundleEvent]) -> None:
    session, actions = then(events, Timer.STOP)
    assert (session.state, actions) == (BundleState.OVER, (End(),))
    assert session.handle(Timer.STOP) == (session, ())


@pytest.mark.parametrize("place", [len(OPEN), len(CLOSING), len(ENDING)])
def test_a_stop_commits_what_is_open_and_then_ends(place: int) -> None:
    """Wherever it comes; an interval that is over later changes nothing."""
    session, _ = after([*ENDING[:place], Timer.STOP, Answered(ADD), *ENDING[place:], Answered(BATCH), Answered(MOVE)])
    session, actions = session.handle(Answered(COMMIT))
    assert actions == (Report(DONE), End())
    assert session.state is BundleState.OVER


def test_a_stop_needs_no_new_epoch() -> None:
    """The next owner gets one."""
    _, actions = then([*ENDING, Unanswered(COMMIT), Timer.STOP], Answered(COMMIT))
    assert actions == (Report(DONE), End())


def test_a_stop_that_is_fenced_ends_too() -> None:
    session, actions = then([*ENDING, Timer.STOP], Answered(COMMIT, E.PRODUCER_FENCED))
    assert actions == (Discard(Reaction.FENCED, E.PRODUCER_FENCED), End())
    assert session.state is BundleState.OVER


# Transaction version 2

TWO = TransactionVersion.TWO
P2, OTHER_ID = ProducerIdAndEpoch(40, 2), ProducerIdAndEpoch(41, 0)
CLAIM_2 = Append(ID, P0, PLACE, ClaimBatch(), TWO)
COMMIT_2, NEXT_COMMIT_2 = EndTxn(ID, P0, TWO), EndTxn(ID, P1, TWO)
BATCH_2 = Append(ID, P1, TARGET, "a", TWO)
MOVE_2 = Append(ID, P1, PLACE, PositionsBatch(((SOURCE, 8),)), TWO)
READY_2: list[BundleEvent] = [
    Owned(),
    Answered(INIT, producer=P0, version=TWO),
    Answered(CLAIM_2, offset=12),
    Answered(COMMIT_2, producer=P1),
    PositionsRead(START, ()),
]
ENDING_2: list[BundleEvent] = [*READY_2, PIECE, Timer.INTERVAL_OVER, Answered(BATCH_2), Answered(MOVE_2)]


def test_version_2_adds_no_partitions_and_takes_the_epoch_of_the_commit() -> None:
    session, done = after(ENDING_2)
    sent = [action.request for action in done if isinstance(action, Send)]
    assert sent == [INIT, CLAIM_2, COMMIT_2, BATCH_2, MOVE_2, NEXT_COMMIT_2]
    session, actions = session.handle(Answered(NEXT_COMMIT_2, producer=P2))
    assert (session.state, session.producer, actions) == (BundleState.READY, P2, (Report(DONE),))


def test_version_2_renews_nothing_after_a_doubt() -> None:
    session, _ = after([*ENDING_2, Unanswered(NEXT_COMMIT_2), Answered(NEXT_COMMIT_2, producer=P2)])
    assert (session.state, session.producer) == (BundleState.READY, P2)


def test_a_new_producer_id_counts_when_the_same_commit_has_the_same_answer() -> None:
    session, _ = after(ENDING_2)
    session, actions = session.handle(Answered(NEXT_COMMIT_2, producer=OTHER_ID))
    assert (session.state, actions) == (BundleState.ENDING, (Send(NEXT_COMMIT_2, First.PAUSE),))
    session, actions = session.handle(Answered(NEXT_COMMIT_2, E.CONCURRENT_TRANSACTIONS))
    assert actions == (Send(NEXT_COMMIT_2, First.PAUSE),)
    session, actions = session.handle(Answered(NEXT_COMMIT_2, producer=OTHER_ID))
    assert (session.state, session.producer, actions) == (BundleState.READY, OTHER_ID, (Report(DONE),))


def test_a_commit_that_meets_a_time_out_is_no_commit() -> None:
    session, _ = after(ENDING_2)
    session, actions = session.handle(Answered(NEXT_COMMIT_2, E.INVALID_TXN_STATE))
    assert (session.state, actions) == (
        BundleState.IDLE,
        (Discard(Reaction.FENCE, E.INVALID_TXN_STATE), AskOwnership()),
    )


def test_the_next_claim_decides_about_the_version_again() -> None:
    session, _ = after([*ENDING_2, Answered(NEXT_COMMIT_2, E.PRODUCER_FENCED), Owned(), Answered(INIT, producer=P2)])
    assert session.version is TransactionVersion.ONE
