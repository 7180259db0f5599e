"""A topic that is copied into itself: when a task says so, and when it ends."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.base.errors import EndlessCopy
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.net.connection_errors import ClusterUnreachable
from legacy_mm.dataplane.acks import Part, Piece
from legacy_mm.dataplane.keep_alive import KeepAlive
from legacy_mm.dataplane.one_cluster import OneCluster
from tests.fakes.cluster import FakeCluster

PLACE = TopicPartition("t", 0)
OFFSETS: Any = None


class Named(FakeCluster):
    """A cluster with an id, and a log with an end, which may be told late: each answer is asked for once."""

    def __init__(self, *ids: str, end: int | None = 20) -> None:
        super().__init__()
        self._ids, self.end = [*ids], end

    @override
    def cluster_id(self) -> str:
        return self._ids.pop(0) if len(self._ids) > 1 else self._ids[0]

    @override
    def cluster_ids(self) -> tuple[str, ...]:
        return (self.cluster_id(),)

    @override
    def of_led(
        self, partitions: Collection[TopicPartition], which: int, *, patient: bool = True
    ) -> dict[TopicPartition, int]:
        if self.end is None:
            raise ClusterUnreachable("nobody answers")
        return dict.fromkeys(partitions, self.end)


def check(source: Named, target: Named, names: dict[str, str] | None = None) -> OneCluster:
    return OneCluster(names or {"t": "t"}, (source, target), KeepAlive(lambda: None))


def part(next_offset: int, *, moved: bool = False, place: TopicPartition = PLACE) -> Part:
    return Part(Piece(place, next_offset, 1), OFFSETS, None, moved)


@pytest.mark.parametrize(
    ("names", "source", "target", "lines"),
    [
        ({"t": "t"}, "a", "a", 1),
        ({"t": "t"}, "a", "b", 0),
        ({"t": "t"}, "", "", 0),  # brokers before 0.10.1
        ({"t": "up.t"}, "a", "a", 0),
        ({"t": "up.t", "other": "other"}, "a", "a", 1),
    ],
)
def test_it_is_said_once(
    names: dict[str, str], source: str, target: str, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    same = check(Named("", source), Named(target), names)
    for _ in range(4):
        same.tell()
    assert len([line for line in caplog.messages if "source and target are one cluster (a)" in line]) == lines


@pytest.mark.parametrize("names", [{"t": "t"}, {"t": "up.t"}])
def test_brokers_of_several_clusters_are_told_once(names: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    class Two(Named):
        @override
        def cluster_ids(self) -> tuple[str, ...]:
            return ("c", "b")

    same = check(Named("a"), Two("b"), names)
    for _ in range(3):
        same.tell()
    (line,) = caplog.messages
    assert "the brokers of the target are of several clusters (b and c): " in line


def test_it_ends_when_what_it_wrote_is_read_again() -> None:
    same = check(Named("a"), Named("a"))
    same.acknowledged(part(5), 10)
    same.acknowledged(part(10), 15)
    with pytest.raises(EndlessCopy, match="records of t-0 multiply: what was written to it at offset 10 and after"):
        same.acknowledged(part(11), 20)
    same.acknowledged(part(21), 25)  # what is on its way then is no second failure


@pytest.mark.parametrize("another", ["id", "name", "partition", "unanswered"])
def test_what_is_copied_elsewhere_does_not_end(another: str) -> None:
    same = check(Named("a"), Named("b" if another == "id" else "a"), {"t": "up.t" if another == "name" else "t"})
    for base in range(10, 50, 5):
        same.acknowledged(part(base - 5, moved=another == "partition"), -1 if another == "unanswered" else base)


@pytest.mark.parametrize(
    ("first", "end"), [(8, 20), (100, 21), (100, 19)], ids=["it is shorter", "it ends later", "it ends earlier"]
)
def test_another_log_of_the_same_name_does_not_end(first: int, end: int) -> None:
    """Clusters that were made from one snapshot have one id, and topics of one id."""
    same = check(Named("a"), Named("a", end=end))
    same.acknowledged(part(10), first)
    for offset in range(11, 200, 10):
        same.acknowledged(part(offset), offset + first)


def test_a_cluster_that_does_not_answer_is_asked_again() -> None:
    source = Named("a", end=None)
    same = check(source, Named("a"))
    same.acknowledged(part(5), 10)
    same.acknowledged(part(11), 15)
    source.end = 20
    with pytest.raises(EndlessCopy):
        same.acknowledged(part(12), 16)
