"""Positions of exactly once are moved at the target: an offset beside them would be a doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from unittest.mock import Mock

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.settings import OffsetReset
from legacy_mm.clients.admin.inspector import NativeInspector
from legacy_mm.connect import mirror_offsets
from legacy_mm.connect.entities import ConnectorOffset
from legacy_mm.features import flags
from legacy_mm.flow.position_book import GroupBook
from legacy_mm.transactions.position_changes import PositionChanges
from tests.unit.flow_settings import flow_settings

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
GIVEN = {"exactly.once": ["true"], "source.cluster.alias": ["A"], "target.cluster.alias": ["B"]}
SETTINGS = replace(flow_settings(), features=flags.settings(GIVEN))


@pytest.fixture
def book(monkeypatch: pytest.MonkeyPatch) -> Mock:
    found = Mock(GroupBook)
    found.is_in_use.return_value = False
    found.offsets.return_value = {T0: Mock(offset=5), T1: Mock(offset=1)}
    monkeypatch.setattr(mirror_offsets, "position_book", lambda settings: found)
    return found


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[TopicPartition, int]]:
    found: list[Mapping[TopicPartition, int]] = []
    monkeypatch.setattr(PositionChanges, "__init__", lambda self, settings, deadline: None)
    monkeypatch.setattr(PositionChanges, "move", lambda self, offsets: found.append(offsets))
    monkeypatch.setattr(NativeInspector, "log_ends", lambda self, places, deadline: dict.fromkeys(places, (3, 9)))
    return found


@pytest.mark.parametrize(("reset", "begin"), [("earliest", 3), ("latest", 9)])
def test_a_request_moves_them_and_a_forgotten_partition_begins_where_a_new_one_would(
    book: Mock, moved: list[Mapping[TopicPartition, int]], reset: OffsetReset, begin: int
) -> None:
    settings = replace(SETTINGS, source=replace(SETTINGS.source, offset_reset=reset))
    place = {"cluster": "A", "partition": 0, "topic": "t"}
    mirror_offsets.alter(settings, "source", [ConnectorOffset(place, {"offset": 1})])
    mirror_offsets.alter(settings, "source", [ConnectorOffset(place, None)])
    mirror_offsets.reset(settings, "source")
    assert moved == [{T0: 2}, {T0: begin}, {T0: begin, T1: begin}]
    book.commit.assert_not_called()
    book.forget.assert_not_called()
    assert book.require_no_members.call_count == 3
