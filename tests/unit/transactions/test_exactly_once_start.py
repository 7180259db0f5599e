"""The positions topic as a flow begins: a broker that does not know yet what was just created is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.clients.admin.admin import TopicLayout
from legacy_mm.policies.changes import ChangeOutcome
from legacy_mm.transactions import exactly_once_start as exactly_once
from legacy_mm.transactions.bundle import BUNDLES
from legacy_mm.transactions.bundle_settings import NEWEST
from legacy_mm.transactions.exactly_once_start import require_topic, start_doubts
from legacy_mm.transactions.position_records import FlowRecord
from tests.fakes.admin import FakeAdmin
from tests.unit.transactions.test_bundle_settings import ON, settings_of

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

    def inspect() -> bool:
        require_topic(brokers, TOPIC, Deadline.after(10))
        return True

    with pytest.raises(HostError, match=TOPIC):
        inspect()
    for _ in range(questions):
        with suppress(HostError):
            assert inspect()
            break
    else:
        pytest.fail("it is never found")
    assert brokers.created[0] == TOPIC


class Target:
    """A target as a start looks at it before it makes anything."""

    def __init__(self, init_producer_id: int = NEWEST, policy: str = "compact") -> None:
        self._version = init_producer_id
        self._policy = policy

    def lowest_version(self, api_key: int, highest: int, deadline: Deadline) -> int:
        return self._version

    def layout(self, topic: str, deadline: Deadline) -> TopicLayout:
        return TopicLayout(BUNDLES, 1, 1)

    def properties_of(self, topic: str, deadline: Deadline) -> Mapping[str, str]:
        return {"cleanup.policy": self._policy}


THEIRS = FlowRecord(BUNDLES, "another cluster", 0)


@pytest.mark.parametrize(
    ("target", "record", "refused", "code"),
    [
        (Target(), None, None, 0),
        (Target(-1), THEIRS, "needs transactions, which the target's brokers do not have", 1),
        (Target(policy="delete"), THEIRS, "has cleanup.policy=delete", 1),
        (Target(), THEIRS, "has the positions of source cluster another cluster", 255),
    ],
    ids=["nothing", "no transactions", "a topic that forgets", "another source"],
)
def test_what_a_start_would_be_refused_with(
    target: Target,
    record: FlowRecord | None,
    refused: str | None,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In the order of the start, with its exit code; without the flag none of it is asked."""
    monkeypatch.setattr(exactly_once, "NativeAdmin", lambda *_: target)
    monkeypatch.setattr(exactly_once, "flow_record", lambda *_: record)
    ends = FakeAdmin(), FakeAdmin()
    found = start_doubts(settings_of(tmp_path, *ON), *ends, Deadline.after(1))
    assert [(each.exit_code, refused in str(each)) for each in found if refused] == ([(code, True)] if refused else [])
    assert bool(found) == (refused is not None)
    assert start_doubts(settings_of(tmp_path), *ends, Deadline.after(1)) == []
