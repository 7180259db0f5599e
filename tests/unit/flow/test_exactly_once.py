"""The positions topic as a flow begins: a broker that does not know yet what was just created is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest

from legacy_mm.clients.native.admin import TopicLayout
from legacy_mm.clock import Deadline
from legacy_mm.errors import HostError
from legacy_mm.exactly_once.bundle import BUNDLES
from legacy_mm.flow.exactly_once import require_topic
from legacy_mm.policies.changes import ChangeOutcome

TOPIC = "positions"


class SlowBrokers:
    """A target whose brokers know a topic after so many questions about it."""

    def __init__(self, questions: int) -> None:
        self.created: list[str] = []
        self._questions = questions

    def layout(self, topic: str, deadline: Deadline) -> TopicLayout:
        return TopicLayout(BUNDLES if self._known() else 0, 1, 1)

    def create_topics(self, wanted: Any, deadline: Deadline) -> Iterator[ChangeOutcome]:
        for each in wanted:
            yield ChangeOutcome(each, already=bool(self.created))
            self.created.append(each.topic)

    def properties_of(self, topic: str, deadline: Deadline) -> Mapping[str, str]:
        if not self._known():
            raise HostError(f"it does not know {topic}")
        return {"cleanup.policy": "compact"}

    def _known(self) -> bool:
        if self.created:
            self._questions -= 1
        return self._questions < 0


@pytest.mark.parametrize("questions", [1, 2, 3, 4])
def test_brokers_hear_late_of_the_topic(questions: int) -> None:
    brokers: Any = SlowBrokers(questions)

    def look() -> bool:
        require_topic(brokers, TOPIC, Deadline.after(10))
        return True

    with pytest.raises(HostError, match=TOPIC):
        look()
    for _ in range(questions):
        with suppress(HostError):
            assert look()
            break
    else:
        pytest.fail("it is never found")
    assert brokers.created[0] == TOPIC
