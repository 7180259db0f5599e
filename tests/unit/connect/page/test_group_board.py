"""The whole group of a flow: when it is asked for, and how its members are shown."""

from __future__ import annotations

import math
from http import HTTPStatus

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.group.group_protocol import DescribedGroup, DescribedMember
from legacy_mm.connect.entities import ConnectRestError
from legacy_mm.connect.page.group_board import ASK_SECONDS, GroupBoard, MemberRow, in_few_words
from tests.fakes.herder import FakeHerder, not_found


class Bench:
    """A board, its clock, and who is asked."""

    def __init__(self) -> None:
        self.now = 0.0
        self.herder = FakeHerder()
        self.board = GroupBoard(self.herder.flow_group, lambda: self.now)

    def asked(self) -> list[object]:
        return [flow for _, flow in self.herder.calls]


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_each_group_is_asked_for_when_somebody_looks_and_the_answer_is_some_seconds_old(bench: Bench) -> None:
    assert bench.asked() == []
    for flow in ("a", "b", "a"):
        bench.board.view(flow)
    bench.now += ASK_SECONDS - 0.1
    bench.board.view("a")
    assert bench.asked() == ["a", "b"]
    bench.now += 0.1
    bench.board.view("a")
    assert bench.asked() == ["a", "b", "a"]


def test_a_group_that_cannot_be_described_says_why_and_is_not_asked_each_time(bench: Bench) -> None:
    bench.herder.failure = ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, "no right")
    assert bench.board.view("a").error == "no right"
    bench.herder.failure = None
    assert bench.board.view("a").error == "no right"
    bench.now += ASK_SECONDS
    assert (bench.board.view("a").error, bench.board.view("a").state) == ("", "Stable")


def test_a_flow_that_does_not_run_here_is_404(bench: Bench) -> None:
    bench.herder.failure = not_found("Flow a does not run here")
    with pytest.raises(ConnectRestError, match="does not run here"):
        bench.board.view("a")


def test_members_have_their_partitions_and_very_many_are_not_all_shown(bench: Bench) -> None:
    orders = frozenset(TopicPartition("orders", number) for number in range(3))
    members = [DescribedMember(f"mm-{number:03}", "10.0.0.1", orders) for number in range(102)]
    members[1] = DescribedMember("mm-001", "10.0.0.1", None)
    bench.herder.group = DescribedGroup("g", "Stable", tuple(members))
    found = bench.board.view("a")
    assert (found.group, len(found.members), found.more) == ("g", 100, 2)
    assert found.members[0] == MemberRow("mm-000", "10.0.0.1", 3, "orders 0-2")
    assert math.isnan(found.members[1].owned)


def test_partitions_in_few_words() -> None:
    numbers = {"b": (14, 0, 1, 2), "a": (3,)}
    assert in_few_words({TopicPartition(topic, each) for topic, some in numbers.items() for each in some}) == (
        "a 3; b 0-2, 14"
    )
    assert in_few_words(()) == ""
    many = in_few_words({TopicPartition(f"t{number:02}", 0) for number in range(12)})
    assert many.endswith("t09 0; 2 topics more")
