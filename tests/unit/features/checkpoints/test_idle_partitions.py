"""What a group has left in topics with partitions of which nothing is known; the source is a stand-in."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import CommittedOffset, GroupOffsets, TopicPartition
from legacy_mm.features.checkpoints.idle_partitions import IdlePartitions
from tests.fakes.inspector import FakeInspector

IDLE, BUSY = TopicPartition("t", 0), TopicPartition("t", 1)
END = 100


def group(**offsets: int) -> GroupOffsets:
    """`idle` and `busy`: where it is in these partitions."""
    return {{"idle": IDLE, "busy": BUSY}[name]: CommittedOffset(offset, "") for name, offset in offsets.items()}


def left_nothing(groups: Mapping[str, GroupOffsets], known: int | None, *, copied: int = END, low: int = 0) -> set[str]:
    """The groups that have nothing left in the topic, each partition of which ends at END.

    `known`: from where on BUSY is known; `copied`: where the mirror is in both.
    """
    idle = IdlePartitions(
        FakeInspector({"t": 2}, [(low, END)]),
        lambda deadline: group(idle=copied, busy=copied),
        lambda place: known if place == BUSY else None,
        lambda place, begin, end: max(begin, low) < end,
    )
    found = idle.read_to_the_end(groups, {"t"}, Deadline.after(5))
    return {name for name, topics in found.items() if topics}


@pytest.mark.parametrize(
    ("offsets", "known", "is_read"),
    [
        ({"idle": END, "busy": END}, None, True),
        ({"idle": END, "busy": END - 1}, None, False),
        ({"idle": END, "busy": 60}, 60, True),
        ({"idle": END, "busy": 80}, 60, True),
        ({"idle": END, "busy": 59}, 60, False),
        ({"idle": END - 1, "busy": END}, 60, False),
        ({"idle": END}, 60, False),
    ],
    ids=[
        "all is read",
        "a record is unread that may stand anywhere",
        "at the first known pair",
        "behind it",
        "before it",
        "in the idle partition itself",
        "it never read the other one",
    ],
)
def test_what_came_behind_the_first_known_pair_may_be_unread(
    offsets: dict[str, int], known: int | None, is_read: bool
) -> None:
    """It stands in the partition of its own number; what came before may stand in any."""
    assert left_nothing({"g": group(**offsets)}, known) == ({"g"} if is_read else set())


def test_what_the_mirror_has_not_copied_is_not_read() -> None:
    assert left_nothing({"g": group(idle=END, busy=60)}, 60, copied=END - 1) == set()


def test_what_the_source_has_removed_unread_may_be_in_the_copy() -> None:
    groups = {"g": group(idle=END, busy=60)}
    assert left_nothing(groups, 60, low=60) == {"g"}
    assert left_nothing(groups, 61, low=61) == set()


def test_each_group_has_an_answer_of_its_own() -> None:
    groups = {"all": group(idle=END, busy=END), "none": group(idle=1), "elsewhere": group()}
    assert left_nothing(groups, None) == {"all"}


def test_a_topic_that_is_gone_is_not_read() -> None:
    idle = IdlePartitions(FakeInspector({}, [(0, 0)]), lambda _: {}, lambda _: None, lambda *_: False)
    assert idle.read_to_the_end({"g": group(idle=5)}, {"t"}, Deadline.after(5)) == {"g": set()}


def test_where_all_is_known_nobody_is_asked() -> None:
    def unasked(deadline: Deadline) -> GroupOffsets:
        raise HostError("asked")

    idle = IdlePartitions(FakeInspector({"t": 2}, []), unasked, lambda _: 0, lambda *_: True)
    assert idle.read_to_the_end({"g": group(idle=5)}, {"t"}, Deadline.after(5)) == {"g": set()}
