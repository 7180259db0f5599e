"""The pieces of one bundle, what counts with a commit and what is given up; no socket, no session."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.base.errors import StreamFailure, Undecided
from legacy_mm.base.model import EARLIEST, UNDEFINED, TopicPartition
from legacy_mm.base.reports import Started
from legacy_mm.base.settings import ExactlyOnceSettings, MarkedOffset
from legacy_mm.clients.fetch.fetcher import NOWHERE
from legacy_mm.clients.produce.appender import Acknowledged
from legacy_mm.dataplane.acks import Piece
from legacy_mm.runtime.channel.frames import MarkAsked
from legacy_mm.transactions.bundle import BUNDLES, FlowBundles, bundle_of
from legacy_mm.transactions.bundle_events import Discard, Timer
from legacy_mm.transactions.bundle_owner import LogRow
from legacy_mm.transactions.claim_inspection import ClaimInspection
from legacy_mm.transactions.copied_bundle import CopiedBundle
from legacy_mm.transactions.position_records import SourcePosition, decode, encode_position
from legacy_mm.transactions.txn_errors import Reaction

SOURCE = TopicPartition("t", 0)
NUMBER = bundle_of(SOURCE, BUNDLES)
OVERDUE = Discard(Timer.OVERDUE)
ARRIVED = Acknowledged("opaque", 40)


@pytest.fixture
def owner() -> Mock:
    return Mock(epoch=1, busy=False, takes_pieces=True, piece=Mock(return_value=True))


@pytest.fixture
def pieces() -> Mock:
    return Mock()


@pytest.fixture
def services(owner: Mock, pieces: Mock) -> SimpleNamespace:
    settings = ExactlyOnceSettings("g", "source", "target")
    return SimpleNamespace(
        settings=settings,
        flow=FlowBundles("g", "source", "target"),
        client=SimpleNamespace(own=lambda *words: owner),
        pieces=pieces,
        inspections=SimpleNamespace(since=lambda moment: ClaimInspection("source", {"t": 7}, "")),
        config=SimpleNamespace(offsets={SOURCE: 5}),
        fetcher=Mock(),
        report=Mock(),
        records=0,
        engine=Mock(),
        appender=Mock(take_acknowledged=Mock(return_value=[])),
    )


@pytest.fixture
def bundle(services: SimpleNamespace) -> CopiedBundle:
    made = CopiedBundle(cast(Any, services), NUMBER, [SOURCE])
    made.begin()
    return made


def put(bundle: CopiedBundle, size: int = 2, records: int = 3) -> Piece:
    """Give it a whole piece that is one batch of so many bytes."""
    piece = Piece(SOURCE, 10, 1)
    bundle.begin_piece(piece, ())
    bundle.append(piece, SOURCE, cast(Any, SimpleNamespace(buffer=bytes(size))), None)
    bundle.end_piece(records, complete=True)
    return piece


def test_a_piece_waits_for_its_commit(bundle: CopiedBundle, owner: Mock, pieces: Mock) -> None:
    piece = Piece(SOURCE, 10, 2)
    bundle.begin_piece(piece, ())
    assert bundle.append(piece, SOURCE, cast(Any, SimpleNamespace(buffer=b"12")), None)
    assert (bundle.uncommitted.pieces, bundle.uncommitted.size) == ([piece], 2)
    assert not pieces.acknowledged.called


def test_a_piece_that_brings_nothing_is_over_at_once(bundle: CopiedBundle, owner: Mock, pieces: Mock) -> None:
    """Else what waits for all pieces of its partition would wait for the next transaction."""
    owner.piece.return_value = False
    piece = Piece(SOURCE, 10, 1)
    bundle.begin_piece(piece, ())
    assert bundle.end_piece(0, complete=True)
    pieces.acknowledged.assert_called_once_with(piece)
    assert bundle.uncommitted.pieces == []
    with pytest.raises(AssertionError, match="t-0 is copied up to 10 already"):
        bundle.append(piece, SOURCE, cast(Any, None), None)


def test_a_piece_that_is_not_complete_is_never_committed(bundle: CopiedBundle, owner: Mock) -> None:
    bundle.begin_piece(Piece(SOURCE, 10, 2), ())
    assert not bundle.end_piece(3, complete=False)
    owner.give_up.assert_called_once_with()


def test_what_is_in_hand_of_a_transaction_that_was_given_up_is_in_no_other(bundle: CopiedBundle, owner: Mock) -> None:
    piece = Piece(SOURCE, 10, 2)
    bundle.begin_piece(piece, ())
    owner.epoch = 2
    assert not bundle.append(piece, SOURCE, cast(Any, SimpleNamespace(buffer=b"12")), None)
    assert not bundle.end_piece(3, complete=True)
    assert not owner.append.called
    assert (bundle.uncommitted.size, bundle.uncommitted.records) == (0, 0)


def test_what_is_in_hand_of_a_full_transaction_is_read_again(
    bundle: CopiedBundle, owner: Mock, services: SimpleNamespace
) -> None:
    owner.next.return_value = 7
    owner.takes_pieces = False
    put(bundle)
    services.fetcher.hold.assert_called_once_with(SOURCE, 7)
    assert bundle.holds == 1, "so the engine sees that what it has in hand is read again"


def test_a_transaction_counts_when_it_is_committed(
    bundle: CopiedBundle, services: SimpleNamespace, pieces: Mock
) -> None:
    piece = put(bundle)
    bundle.uncommitted.acknowledged.append(ARRIVED)
    assert services.records == 0
    bundle.committed(((SOURCE, 10),))
    assert services.records == 3
    services.engine.count.assert_called_once_with(ARRIVED)
    pieces.acknowledged.assert_called_once_with(piece)


def test_what_was_given_up_does_not_count_with_the_next_commit(
    bundle: CopiedBundle, services: SimpleNamespace, pieces: Mock
) -> None:
    put(bundle)
    bundle.discarded(OVERDUE)
    piece = put(bundle, records=2)
    bundle.committed(((SOURCE, 10),))
    assert services.records == 2
    pieces.acknowledged.assert_called_once_with(piece)


def test_nor_does_what_the_target_had_of_it_and_nobody_has_heard_of(
    bundle: CopiedBundle, services: SimpleNamespace
) -> None:
    services.acknowledged = lambda acknowledged: bundle.uncommitted.acknowledged.append(acknowledged)
    services.appender.take_acknowledged.return_value = [ARRIVED]
    bundle.discarded(OVERDUE)
    assert bundle.uncommitted.acknowledged == []
    services.appender.take_acknowledged.assert_called_once_with()


def test_what_was_given_up_is_read_anew_and_holds_up_nothing(bundle: CopiedBundle, services: SimpleNamespace) -> None:
    bundle.discarded(OVERDUE)
    services.fetcher.hold.assert_called_once_with(SOURCE, NOWHERE)
    services.engine.forget.assert_called_once_with(SOURCE)
    assert bundle.holds == 1


def test_behind_one_that_was_overdue_a_transaction_is_half_as_large_until_one_is_committed(
    bundle: CopiedBundle,
) -> None:
    put(bundle, 100)
    bundle.discarded(OVERDUE)
    takes_more: list[bool] = []
    for size in (49, 1):
        put(bundle, size)
        takes_more.append(bundle.takes_pieces)
    bundle.committed(((SOURCE, 10),))
    put(bundle, 99)
    assert [*takes_more, bundle.takes_pieces] == [True, False, True]


def test_who_is_fenced_over_and_over_ends(bundle: CopiedBundle) -> None:
    """Two mirrors copy the same. A commit in between tells that it is over."""
    for _ in range(3):
        bundle.discarded(Discard(Reaction.FENCED))
    bundle.committed(((SOURCE, 10),))
    for _ in range(3):
        bundle.discarded(Discard(Reaction.FENCED))
    with pytest.raises(StreamFailure, match=f"bundle {NUMBER} was taken over 4 times without a commit"):
        bundle.discarded(Discard(Reaction.FENCED))


@pytest.mark.parametrize("takes_pieces", [True, False])
def test_a_position_moves_with_an_open_transaction(bundle: CopiedBundle, owner: Mock, takes_pieces: bool) -> None:
    owner.takes_pieces = takes_pieces
    bundle.passed(SOURCE, 11)
    assert owner.passed.called is takes_pieces


@pytest.mark.parametrize("busy", [False, True])
def test_a_stop_commits_no_half_of_a_piece(bundle: CopiedBundle, owner: Mock, busy: bool) -> None:
    owner.busy = busy
    bundle.stop()
    called = [name for name, *_ in owner.method_calls]
    assert called == (["give_up", "stop"] if busy else ["stop"])
    assert owner.busy is False


def test_reading_begins_in_the_topics_that_the_claim_has_seen(bundle: CopiedBundle, services: Any) -> None:
    """Positions name their ids, so a topic that is recreated before the first fetch is another one."""
    bundle.decide_positions([])
    bundle.fetch_from(((SOURCE, 5),))
    services.fetcher.resume.assert_called_once_with({SOURCE: 5}, {"t": 7}, {})


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
    services: SimpleNamespace, pieces: Mock, known: int | None, adopted: bool, safe: dict[TopicPartition, int]
) -> None:
    """Else the group of an idle topic would stay behind what a killed owner has committed at the target."""
    if known is not None:
        services.settings = replace(services.settings, group_offsets=[MarkedOffset(*SOURCE, known, "")])
    services.config.offsets[SOURCE] = EARLIEST
    services.fetcher.find.return_value = Started({SOURCE: 5}, {SOURCE: 0})
    bundle = CopiedBundle(cast(Any, services), NUMBER, [SOURCE])
    if known is None and not adopted:
        bundle.decide_positions([])
    bundle.fetch_from(((SOURCE, 5),))
    pieces.begin.assert_called_once_with(safe)


def test_without_position_and_offset_none_leaves_the_start_to_a_person(
    bundle: CopiedBundle, services: SimpleNamespace
) -> None:
    services.config.offsets[SOURCE] = UNDEFINED
    with pytest.raises(Undecided, match=r"no reset policy for partitions: \[t-0\].* exactly-once move sets"):
        bundle.decide_positions([])


def found(position: int) -> list[LogRow]:
    """The positions topic, with this position of SOURCE."""
    return [(0, *encode_position(SOURCE, SourcePosition(position, 4, "7", "source", 0)))]


def test_a_claim_that_finds_less_than_was_committed_ends(bundle: CopiedBundle) -> None:
    bundle.committed(((SOURCE, 9),))
    assert bundle.decide_positions(found(9)) == (((SOURCE, 9),), ())
    with pytest.raises(Undecided, match="position is only 7: later ones are lost"):
        bundle.decide_positions(found(7))


def test_reading_begins_with_the_epochs_that_the_positions_name(bundle: CopiedBundle, services: Any) -> None:
    """An unclean election at the source while nobody read is seen before the first fetch."""
    bundle.decide_positions(found(9))
    bundle.fetch_from(((SOURCE, 9),))
    services.fetcher.resume.assert_called_once_with({SOURCE: 9}, {"t": 7}, {SOURCE: 4})


def adopting(services: SimpleNamespace, offset: int = 5) -> CopiedBundle:
    """A bundle that takes over an offset of the group."""
    services.settings = replace(services.settings, group_offsets=[MarkedOffset(*SOURCE, offset, "")])
    services.fetcher.epoch_read.return_value = 4
    bundle = CopiedBundle(cast(Any, services), NUMBER, [SOURCE])
    bundle.begin()
    return bundle


def told(bundle: CopiedBundle, offset: int) -> SourcePosition:
    """The position that is written for SOURCE."""
    ((key, value),) = bundle.position_records(((SOURCE, offset),))
    _, position = cast(Any, decode(key, value))
    return cast(SourcePosition, position)


def test_an_adopted_offset_is_committed_for_the_group_before_a_record_is_read(
    services: SimpleNamespace, owner: Mock
) -> None:
    """From then on the group's offset is ours, so nobody's reset to the same offset is taken for it."""
    bundle = adopting(services)
    owner.next.return_value = 5
    bundle.decide_positions([])
    assert told(bundle, 5).adopted == 5
    bundle.fetch_from(((SOURCE, 5),))
    services.fetcher.resume.assert_called_once_with({}, {"t": 7}, {})
    services.report.assert_called_with(MarkAsked({SOURCE: 5}))
    bundle.park()
    bundle.poll(0.0)
    assert not services.fetcher.hold.called and not services.fetcher.release.called, "nothing of it is read"
    bundle.marked.append(SOURCE)
    bundle.poll(0.0)
    services.fetcher.resume.assert_called_with({SOURCE: 5}, {"t": 7}, {})
    assert told(bundle, 9).adopted is None


def test_a_bundle_that_is_claimed_again_does_not_ask_again_for_what_the_group_has(
    services: SimpleNamespace, owner: Mock
) -> None:
    bundle = adopting(services)
    owner.next.return_value = 5
    for rows in ([], found(5)):
        bundle.decide_positions(rows)
        bundle.fetch_from(((SOURCE, 5),))
        bundle.marked.append(SOURCE)
        bundle.poll(0.0)
    assert [call.args[0] for call in services.report.call_args_list if isinstance(call.args[0], MarkAsked)] == [
        MarkAsked({SOURCE: 5})
    ]


def test_a_reset_to_the_offset_that_was_adopted_once_is_noticed(services: SimpleNamespace) -> None:
    copied, started = adopting(services), adopting(services)
    copied.decide_positions([])
    copied.fetch_from(((SOURCE, 5),))
    copied.marked.append(SOURCE)
    copied.poll(0.0)
    (record,) = copied.position_records(((SOURCE, 9),))
    with pytest.raises(Undecided, match="somebody copied in another mode since, or moved the group"):
        started.decide_positions([(0, *record)])


def test_a_position_that_goes_back_names_the_offset_that_the_group_has_still(
    bundle: CopiedBundle, services: SimpleNamespace, owner: Mock
) -> None:
    """A mirror that is killed before the group follows finds it beside the position."""
    services.fetcher.epoch_read.return_value = 4
    bundle.committed(((SOURCE, 100),))
    piece = Piece(SOURCE, 90, 1)
    bundle.jump(piece)
    owner.jump.assert_called_once_with(SOURCE, 90)
    assert bundle.uncommitted.pieces == [piece]
    assert [told(bundle, offset).adopted for offset in (90, 99, 100, 90)] == [100, 100, None, None]


def test_an_adopted_position_is_certain_before_the_group_has_heard_of_it(services: SimpleNamespace) -> None:
    """A mirror that was killed then finds it beside the offset that it has adopted."""
    services.settings = replace(services.settings, group_offsets=[MarkedOffset(*SOURCE, 5, "")])
    services.fetcher.epoch_read.return_value = 4
    killed, started = (CopiedBundle(cast(Any, services), NUMBER, [SOURCE]) for _ in range(2))
    assert killed.decide_positions([]) == ((), ((SOURCE, 5),))
    (record,) = killed.position_records(((SOURCE, 9),))
    assert started.decide_positions([(0, *record)]) == (((SOURCE, 9),), ())
