"""When records may go to the partitions that they have at the source."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from legacy_mm.dataplane import partition_counts
from legacy_mm.dataplane.partition_counts import NamedPartitions, PartitionCounts
from legacy_mm.errors import StreamFailure


class Answers:
    """A cluster whose answers about any topic come in this order, the last one for ever; counts the questions."""

    def __init__(self, *answers: int | None) -> None:
        self._answers: Sequence[int | None] = answers
        self.asked = 0

    def __call__(self, topic: str) -> int | None:
        self.asked += 1
        return self._answers[min(self.asked, len(self._answers)) - 1]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition_counts, "GROWTH_TIMEOUT", 0.0)


def give_up_after(times: int) -> Callable[[], bool]:
    left = iter([True] * times)
    return lambda: next(left, False)


def test_both_clusters_are_asked_once_and_again_for_a_partition_that_is_new() -> None:
    source, target = Answers(4, 5), Answers(4, 6)
    counts = PartitionCounts(source, target, 0.0)
    for number in (0, 3, 1):
        assert counts.suffice([("t", number, "t")], give_up_after(0))
    assert (source.asked, target.asked) == (1, 1)
    assert counts.suffice([("t", 4, "t")], give_up_after(0))
    assert (source.asked, target.asked) == (2, 2)


def test_a_target_that_has_fewer_is_told_even_if_this_partition_would_fit() -> None:
    counts = PartitionCounts(Answers(4), Answers(3), 0.0)
    with pytest.raises(StreamFailure, match=r"u has 3 partitions at the target and 4 at the source"):
        counts.suffice([("t", 0, "u")], give_up_after(9))


def test_the_partition_counts_where_the_source_s_answer_is_old() -> None:
    with pytest.raises(StreamFailure, match=r"t has 3 partitions at the target and 6 at the source"):
        PartitionCounts(Answers(3), Answers(3), 0.0).suffice([("t", 5, "t")], give_up_after(9))


def test_the_time_until_anybody_answers_is_not_that_of_a_missing_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    """As while a duty is to make it: it is checked once it is there."""
    now = 100.0
    monkeypatch.setattr("legacy_mm.clock.monotonic", lambda: now)
    answers = iter([None, 0, 1, 1])

    def at_target(topic: str) -> int | None:
        nonlocal now
        answer = next(answers)
        now += 31.0 if answer is None else 1.0
        return answer

    with pytest.raises(StreamFailure, match="t has 1 partitions at the target and 3 at the source"):
        PartitionCounts(Answers(3), at_target, 30.0).suffice([("t", 0, "t")], give_up_after(9))


@pytest.mark.parametrize("answers", [(2, 4), (None, 4), (0, 4)], ids=["grows", "does not answer", "is not there"])
def test_a_target_that_is_not_ready_is_waited_for(
    answers: tuple[int | None, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_counts, "GROWTH_TIMEOUT", 60.0)
    counts = PartitionCounts(Answers(4), Answers(*answers), 60.0)
    assert not counts.suffice([("t", 0, "t")], give_up_after(0))
    assert PartitionCounts(Answers(4), Answers(*answers), 60.0).suffice([("t", 0, "t")], give_up_after(1))


def test_clusters_that_do_not_answer_are_no_reason_to_fail() -> None:
    target = Answers(None)
    assert not PartitionCounts(Answers(4), target, 0.0).suffice([("t", 0, "t")], give_up_after(20))
    assert not PartitionCounts(Answers(None), target, 0.0).suffice([("t", 0, "t")], give_up_after(20))


def test_a_topic_that_stays_away_is_left_to_the_producer() -> None:
    assert PartitionCounts(Answers(4), Answers(0), 0.0).suffice([("t", 0, "t")], give_up_after(0))


@pytest.mark.parametrize("before", [2, 0, None], ids=["too few", "not there", "no answer"])
def test_a_partition_that_a_handler_names_is_waited_for(before: int | None) -> None:
    target = Answers(before, 4)
    named = NamedPartitions(target, 60.0)
    assert not named.are_there([("t", 3)], give_up_after(0))
    assert named.are_there([("t", 3), ("t", 0)], give_up_after(0))
    assert target.asked == 2, "once for all that it has"


def test_a_named_partition_that_stays_away_is_left_to_the_producer() -> None:
    assert NamedPartitions(Answers(2), 0.0).are_there([("t", 3)], give_up_after(0))
