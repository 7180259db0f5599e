"""A flow begins where MirrorMaker 2 has stopped, and nowhere else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import pytest

from legacy_mm.clients.native import error_text
from legacy_mm.clock import Deadline
from legacy_mm.errors import HostError
from legacy_mm.features.connect_offsets.connect_offset_settings import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.connect_start import ConnectStart, Stored, positions_of_mirror_maker_2
from legacy_mm.model import TopicPartition
from legacy_mm.protocol.connect_offsets import Connector, key_of, value_of
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fakes.groups import FakeGroups

SETTINGS = ConnectOffsetSettings("mm2-offsets.A.internal", 25, 1, "MirrorSourceConnector", "A")
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
MEMBERS = error_text.text(ErrorCode.UNKNOWN_MEMBER_ID)


def stored(place: TopicPartition, copied: int | None, *, ours: bool = False, cluster: str = "A") -> Stored:
    key = key_of(Connector("MirrorSourceConnector", cluster), place)
    return Stored(key, None if copied is None else value_of(copied), ours)


@pytest.mark.parametrize(
    ("records", "positions"),
    [
        ([], {}),
        ([stored(T0, 41)], {T0: 42}),
        ([stored(T0, 41), stored(T1, 0), stored(T0, 50)], {T0: 51, T1: 1}),
        ([stored(T0, 41, ours=True)], {}),
        ([stored(T0, 41), stored(T0, 60, ours=True)], {}),
        ([stored(T0, 60, ours=True), stored(T0, 41)], {T0: 42}),
        ([stored(T0, 41), stored(T0, None)], {}),
        ([stored(T0, 41, cluster="C"), Stored(b"other", b"x", ours=False), Stored(None, b"x", ours=False)], {}),
    ],
    ids=["empty", "one", "the last counts", "ours", "ours last", "theirs last", "taken back", "of others"],
)
def test_positions(records: list[Stored], positions: dict[TopicPartition, int]) -> None:
    assert positions_of_mirror_maker_2(records, SETTINGS) == positions


def refusing(offsets: Mapping[TopicPartition, int], why: str) -> FakeGroups:
    groups = FakeGroups(g=offsets)
    groups.refusals["g"] = why
    return groups


def keep(groups: FakeGroups, *records: Stored, topics: Collection[str] = ("t",)) -> dict[TopicPartition, int]:
    ConnectStart(SETTINGS, "g", groups, lambda deadline: records, 1.0).keep(topics)
    return groups.committed["g"]


def test_a_group_that_has_nothing_gets_the_positions() -> None:
    assert keep(FakeGroups(g={}), stored(T0, 41), stored(T1, 9)) == {T0: 42, T1: 10}


def test_mirror_maker_2_ran_after_us() -> None:
    assert keep(FakeGroups(g={T0: 10, T1: 7}), stored(T0, 41), stored(T1, 6, ours=True)) == {T0: 42, T1: 7}


def test_a_user_has_moved_the_group_back_after_our_last_word() -> None:
    assert keep(FakeGroups(g={T0: 0}), stored(T0, 41, ours=True)) == {T0: 0}


def test_topics_that_are_not_mirrored_are_left_out() -> None:
    assert keep(FakeGroups(g={}), stored(T0, 41), topics=("other",)) == {}


def test_another_node_has_begun() -> None:
    assert keep(refusing({T0: 10}, MEMBERS), stored(T0, 41)) == {T0: 10}


def test_a_refusal_is_tried_again_by_the_caller() -> None:
    with pytest.raises(HostError, match="COORDINATOR_LOAD_IN_PROGRESS"):
        keep(refusing({}, "COORDINATOR_LOAD_IN_PROGRESS"), stored(T0, 41))


def test_a_topic_that_cannot_be_read_commits_nothing() -> None:
    def unreadable(deadline: Deadline) -> Iterator[Stored]:
        raise HostError("reading failed")

    groups = FakeGroups(g={})
    with pytest.raises(HostError):
        ConnectStart(SETTINGS, "g", groups, unreadable, 1.0).keep(("t",))
    assert groups.committed["g"] == {}
