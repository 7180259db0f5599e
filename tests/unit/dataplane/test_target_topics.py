"""How long the `batches` engine waits for a target topic."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from kafka.errors import for_code

from legacy_mm.copyjob import Plan
from legacy_mm.dataplane.send_failure import Unsendable
from legacy_mm.dataplane.target_topics import TargetTopics


class Coming:
    """A target cluster whose topic `t` is there at look number `there`; until then it answers with an error.

    What it told first is a minute old.
    """

    def __init__(self, error: int, there: int = 3) -> None:
        self._error = error
        self._there = there
        self._looks = 0

    def watch(self, topics: list[str], *, create: bool) -> None:
        assert (topics, create) == (["t"], True)

    def partitions(self, topic: str) -> int:
        return 2 if self._looks >= self._there else 0

    def problem(self, topic: str) -> type[Exception]:
        problem: type[Exception] = for_code(self._error)
        return problem

    def age(self) -> float:
        return 0.0 if self._looks else 60.0

    def stale(self) -> None:
        self._looks += 1


def topics(error: int, tell: Callable[[str], None] = lambda _: None, there: int = 3) -> TargetTopics:
    """Of a plan without duties; the next look is always at hand."""
    plan = Plan({}, {"t": "t"}, {}, {}, 0.0, 1.0, abort_on_send_failure=False, synchronous=False)
    nobody: Any = None
    target: Any = Coming(error, there)
    return TargetTopics(plan, target, nobody, threading.Event(), lambda: None, tell)


@pytest.mark.parametrize("error", [3, 5, 7, 37, 38, 40, 41, 44, -1])
def test_a_topic_that_brokers_cannot_make_at_the_moment_is_waited_for(error: int) -> None:
    """As in Java for `max.block.ms`: a target with a broker too few for the replicas answers 38 until that is back."""
    assert topics(error).partitions("t", 1) == 2


@pytest.mark.parametrize("error", [17, 29])
def test_a_topic_that_the_target_will_not_have_is_not_waited_for(error: int) -> None:
    with pytest.raises(Unsendable) as refused:
        topics(error).partitions("t", 1)
    assert refused.value.code == error


@pytest.mark.parametrize("error", [17, 29])
def test_a_refusal_of_long_ago_is_asked_about_again(error: int) -> None:
    """Metadata lives for minutes; without abort all records of that time would be lost though the right is there."""
    assert topics(error, there=1).partitions("t", 1) == 2


@pytest.mark.parametrize(("error", "said"), [(3, ""), (5, ""), (38, "Replication-factor"), (44, "[Pp]olicy")])
def test_what_keeps_brokers_from_making_it_is_told(error: int, said: str) -> None:
    """Not that it is being made."""
    told: list[str] = []
    topics(error, told.append).partitions("t", 1)
    assert bool(told) == bool(said)
    assert not said or re.search(said, told[0])
