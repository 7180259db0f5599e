"""Readings of positions come back to the owner that wanted them, and to no later one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import Undecided
from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle import Bundle
from legacy_mm.transactions.bundle_events import CopyAction, FetchFrom
from legacy_mm.transactions.bundle_session import BundleState
from legacy_mm.transactions.transaction_client import TransactionClient
from legacy_mm.transactions.txn_requests import Positions

PLACE = TopicPartition("t", 0)
BUNDLE = Bundle("id", TopicPartition("positions", 0))
PATIENCE = 10.0


class Work(SimpleNamespace):
    """Weighs when the test says so, and notes where the owner begins to read."""

    def __init__(self, outcome: Callable[[], tuple[Positions, Positions]]) -> None:
        super().__init__(begun=[])
        self.may_end = threading.Event()
        self._outcome = outcome

    def decide_positions(self, rows: Any) -> tuple[Positions, Positions]:
        assert self.may_end.wait(PATIENCE)
        return self._outcome()

    def do(self, action: CopyAction) -> None:
        if isinstance(action, FetchFrom):
            self.begun.append(action.positions)


def found() -> tuple[Positions, Positions]:
    return ((PLACE, 7),), ()


def doubted() -> tuple[Positions, Positions]:
    raise Undecided("nobody knows")


def read(monkeypatch: pytest.MonkeyPatch, work: Any, *, fenced: bool) -> None:
    """Let an owner read; it is fenced, or not, before the reading ends. The session waits for positions again."""
    woken = threading.Event()
    client = TransactionClient(SimpleNamespace(cluster=None), 60.0, lambda text: None, woken.set)  # type: ignore[arg-type]
    monkeypatch.setattr(client, "_rows", lambda *_: [])
    owner = client.own(BUNDLE, work, work.do, 1.0)
    owner._session = replace(owner._session, state=BundleState.READING)
    client.read(BUNDLE, 0, work)
    if fenced:
        owner._discard()
    work.may_end.set()
    wait_until(woken.is_set, PATIENCE, "the end of the reading")
    client.poll()


def test_positions_reach_their_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(found)
    read(monkeypatch, work, fenced=False)
    assert work.begun == [((PLACE, 7),)]


def test_a_reading_of_before_a_fence_is_worth_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another owner may have committed since: the later claim would copy its records again."""
    work = Work(found)
    read(monkeypatch, work, fenced=True)
    assert work.begun == []


def test_so_is_its_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Undecided):
        read(monkeypatch, Work(doubted), fenced=False)
    read(monkeypatch, Work(doubted), fenced=True)
