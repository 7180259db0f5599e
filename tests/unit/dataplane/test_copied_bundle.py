"""The pieces of one bundle, and its stop; no socket, no session. Brokers show the rest."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from legacy_mm.config.settings import ExactlyOnceSettings, MarkedOffset
from legacy_mm.control_channel.frames import Started
from legacy_mm.dataplane.acks import Piece
from legacy_mm.dataplane.claim_look import ClaimLook
from legacy_mm.dataplane.copied_bundle import CopiedBundle
from legacy_mm.errors import Undecided
from legacy_mm.exactly_once.flow_bundles import FlowBundles
from legacy_mm.model import EARLIEST, UNDEFINED, TopicPartition

SOURCE = TopicPartition("t", 0)


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
        looks=SimpleNamespace(since=lambda moment: ClaimLook("source", {"t": 7}, "")),
        config=SimpleNamespace(offsets={SOURCE: 5}),
        fetcher=Mock(),
        report=Mock(),
    )


@pytest.fixture
def bundle(services: SimpleNamespace) -> CopiedBundle:
    made = CopiedBundle(cast(Any, services), 3, [SOURCE])
    made.begin()
    return made


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
    bundle.weigh([])
    bundle.fetch_from(((SOURCE, 5),))
    services.fetcher.resume.assert_called_once_with({SOURCE: 5}, {"t": 7})


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
    bundle = CopiedBundle(cast(Any, services), 3, [SOURCE])
    if known is None and not adopted:
        bundle.weigh([])
    bundle.fetch_from(((SOURCE, 5),))
    pieces.begin.assert_called_once_with(safe)


def test_without_position_and_offset_none_leaves_the_start_to_a_person(
    bundle: CopiedBundle, services: SimpleNamespace
) -> None:
    services.config.offsets[SOURCE] = UNDEFINED
    with pytest.raises(Undecided, match=r"no reset policy for partitions: \[t-0\].* exactly-once move sets"):
        bundle.weigh([])
