"""For how long a topic is left to the duty that makes it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest

from legacy_mm.dataplane import target_topics
from legacy_mm.dataplane.target_topics import UnmadeTopics
from legacy_mm.runtime.channel.frames import TaskConfig
from tests.fixtures import client_settings


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_topics, "_LOOK_INTERVAL", 0.0)


class Target:
    """Lacks these topics, in this order of questions, the last one for ever; counts the questions."""

    def __init__(self, *lacks: Collection[str] | None) -> None:
        self._lacks = lacks
        self.asked = 0

    def missing(self, topics: Collection[str]) -> Collection[str] | None:
        self.asked += 1
        return self._lacks[min(self.asked, len(self._lacks)) - 1]


def unmade(target: Target, *, made: bool = True, compacted: Sequence[str] = ()) -> UnmadeTopics:
    """Of a task config that keeps a and b in place and not c."""
    names = {topic: f"A.{topic}" for topic in "abc"}
    config = TaskConfig(
        {},
        names,
        client_settings.read_consumer({}),
        client_settings.read_producer({}),
        0.0,
        1.0,
        False,
        False,
        keeps_partition=["a", "b"],
        topics_made=made,
        compacted=compacted,
    )  # noqa: FBT003
    return UnmadeTopics(config, target.missing)


def test_what_no_duty_makes_is_not_asked_for() -> None:
    """Invariant E."""
    target = Target({"A.a", "A.c"})
    assert not unmade(target, made=False).holds("A.a")
    assert not unmade(target).holds("A.c")
    assert not target.asked


def test_a_topic_is_held_until_it_is_made() -> None:
    """All are asked for at once, and not again when they are there."""
    target = Target({"A.a"}, {"A.a"}, set())
    topics = unmade(target)
    assert [topics.holds("A.a") for _ in range(4)] == [True, True, False, False]
    assert not topics.holds("A.b")
    assert target.asked == 3


def test_what_is_not_made_in_time_is_let_go(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(target_topics, "_MADE_TIMEOUT", 0.0)
    topics = unmade(Target({"A.a"}))
    assert not topics.holds("A.a")
    assert not topics.holds("A.a")
    assert len(caplog.records) == 1
    assert "topic A.a is still missing at the target and is left to its brokers" in caplog.text
    assert "its records wait" in caplog.text, "a name that collides, for example, is refused to brokers as well"


def test_a_target_that_does_not_answer_takes_no_time_from_the_duty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_topics, "_MADE_TIMEOUT", 0.0)
    assert unmade(Target(None)).holds("A.a")
    monkeypatch.setattr(target_topics, "_MADE_TIMEOUT", 60.0)
    topics = unmade(Target({"A.a"}, None, {"A.a"}))
    assert topics.holds("A.a")
    monkeypatch.setattr(target_topics, "_MADE_TIMEOUT", 0.0)
    assert topics.holds("A.a")
    assert not topics.holds("A.a"), "the time begins anew"


def test_a_duty_that_makes_one_after_the_other_has_time_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("legacy_mm.base.clock.monotonic", lambda: now)
    topics = unmade(Target({"A.a", "A.b"}, {"A.a"}))
    assert topics.holds("A.a")
    now = 29.0
    assert topics.holds("A.a")
    now = 58.0
    assert topics.holds("A.a")
    now = 60.0
    assert not topics.holds("A.a")


def test_a_copy_of_a_compacted_topic_is_never_let_go(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The brokers would make it with cleanup.policy=delete, and old records would be removed."""
    monkeypatch.setattr(target_topics, "_MADE_TIMEOUT", 0.0)
    topics = unmade(Target({"A.a", "A.b"}, {"A.a", "A.b"}, {"A.a", "A.b"}, set()), compacted=["a"])
    assert topics.holds("A.a")
    assert topics.holds("A.a")
    assert not topics.holds("A.b")
    assert [record.event.name for record in caplog.records] == ["compacted-unmade", "topic-unmade"]  # type: ignore[attr-defined]
    assert not topics.holds("A.a"), "the duty has made it at last"
