"""Which topics the watch tells its streams to mirror."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import HostError, InvalidPattern, SourceGap
from legacy_mm.controlplane import topic_watch as module
from legacy_mm.controlplane.positions import GapGuard, of_group
from legacy_mm.controlplane.topic_watch import KnownTopics, TopicEntries, TopicWatch
from legacy_mm.policies.topic_choice import TopicChoice
from tests.fakes.topic_lister import FakeTopicLister


def ignored(offsets: int) -> None:
    """Nobody counts."""


def choice(*, inverted: bool = False) -> TopicChoice:
    return TopicChoice(FakeTopicLister(), inverted=inverted, is_barred=lambda name: name.startswith("__"))


def guard(count: Callable[[int], None] = ignored, *, fail: bool = False) -> GapGuard:
    return GapGuard("latest", count, ignored, fail=fail, set_position=of_group("mirror"))


def entries(make: Callable[[], TopicChoice] = choice) -> TopicEntries:
    return TopicEntries(make, "a.*", lambda mirrored: (), shared=False)


def watch(**changes: Any) -> TopicWatch:
    arguments: dict[str, Any] = {
        "lister": FakeTopicLister,
        "interval": 60.0,
        "entries": entries(),
        "known": KnownTopics(guard()),
        "before_first": None,
        "on_change": lambda found: None,
        "on_failure": lambda stream, error: None,
    }
    return TopicWatch(**{**arguments, **changes})


@pytest.mark.parametrize(("inverted", "mirrored"), [(False, {"a", "ab"}), (True, {"b"})])
def test_what_is_mirrored(inverted: bool, mirrored: set[str]) -> None:
    told: queue.SimpleQueue[frozenset[str]] = queue.SimpleQueue()
    known = KnownTopics(guard())
    topic_watch = watch(entries=entries(lambda: choice(inverted=inverted)), on_change=told.put, known=known)
    topic_watch.start()
    try:
        assert told.get(timeout=10) == mirrored
    finally:
        topic_watch.stop()
        topic_watch.join(10)
    assert known.existing == frozenset(FakeTopicLister().topics())


def test_whoever_misses_a_topic_makes_it_look_again() -> None:
    """So that commits for a deleted topic fail for a minute, as in the legacy tool, not until the next look is due."""
    cluster = FakeTopicLister()
    known = KnownTopics(guard())
    topic_watch = watch(lister=lambda: cluster, interval=3600.0, known=known)
    topic_watch.start()
    wait_until(lambda: cluster.looks == 1, 10, "the first look")
    assert known.ask() is not None
    wait_until(lambda: cluster.looks == 2, 10, "another look")
    topic_watch.stop()
    topic_watch.join(10)
    assert not topic_watch.is_alive()


def test_what_comes_first_is_tried_again_until_it_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told to mirror anything before; and it comes once."""
    monkeypatch.setattr("legacy_mm.controlplane.topic_watch._RETRY_BACKOFF", 0.0)
    done: list[str] = []
    cluster = FakeTopicLister()

    def begin(found: frozenset[str]) -> None:
        done.append(", ".join(sorted(found)))
        if len(done) < 3:
            raise HostError("no answer")

    topic_watch = watch(
        lister=lambda: cluster,
        interval=0.0,
        before_first=begin,
        on_change=lambda found: done.append("changed"),
    )
    topic_watch.start()
    wait_until(lambda: cluster.looks >= 3, 10, "more looks")
    topic_watch.stop()
    topic_watch.join(10)
    assert done == ["a, ab", "a, ab", "a, ab", "changed"]


def test_a_look_without_an_answer_is_repeated_soon(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And the connection ends with the watch. What lasts is told once."""
    monkeypatch.setattr("legacy_mm.controlplane.topic_watch._RETRY_BACKOFF", 0.0)
    told: queue.SimpleQueue[frozenset[str]] = queue.SimpleQueue()

    class Silent(FakeTopicLister):
        @override
        def topics(self) -> dict[str, str]:
            topics = super().topics()
            if self.looks <= 3:
                raise HostError("no answer")
            return topics

    cluster = Silent()
    topic_watch = watch(lister=lambda: cluster, on_change=told.put)
    topic_watch.start()
    assert told.get(timeout=10) == {"a", "ab"}
    topic_watch.stop()
    topic_watch.join(10)
    assert caplog.text.count("no answer") == 1
    assert cluster.closed


def test_a_pattern_that_does_not_compile_ends_it_before_it_looks(caplog: pytest.LogCaptureFixture) -> None:
    failures: queue.SimpleQueue[BaseException] = queue.SimpleQueue()

    def refuse() -> TopicChoice:
        refused = InvalidPattern("* is an invalid regex.")
        refused.advice = "a way out"
        raise refused

    def inspect() -> FakeTopicLister:
        raise AssertionError("it looked")

    topic_watch = watch(entries=entries(refuse), lister=inspect, on_failure=lambda stream, error: failures.put(error))
    topic_watch.start()
    assert isinstance(failures.get(timeout=10), InvalidPattern)
    topic_watch.join(10)
    assert "a.*" in caplog.text and "a way out" in caplog.text


def test_a_topic_that_was_recreated_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """The watch of a mirror that goes on; it ends here because the third look sees nothing new."""
    counted: queue.SimpleQueue[int] = queue.SimpleQueue()
    cluster = FakeTopicLister()
    topic_watch = watch(lister=lambda: cluster, interval=0.0, known=KnownTopics(guard(counted.put)))
    topic_watch.start()
    assert counted.get(timeout=10) == 0
    wait_until(lambda: cluster.looks >= 4, 10, "two more looks")
    topic_watch.stop()
    topic_watch.join(10)
    (line,) = [record.getMessage() for record in caplog.records if "recreated" in record.getMessage()]
    assert "Gap in ab" in line and "ab-1, now ab-2" in line
    assert counted.empty()


def test_a_topic_that_comes_back_is_told_before_it_is_read() -> None:
    """A stream may find an old offset of the group there, and asks at once where to go on."""
    told: queue.SimpleQueue[str] = queue.SimpleQueue()

    class Recreated(FakeTopicLister):
        @override
        def topics(self) -> dict[str, str]:
            super().topics()
            inspections = [{"a": "a-1", "ab": "ab-1"}, {"a": "a-1"}, {"a": "a-1", "ab": "ab-2"}]
            return inspections[min(self.looks, len(inspections)) - 1]

    topic_watch = watch(
        lister=Recreated,
        interval=0.0,
        known=KnownTopics(guard(lambda offsets: told.put("recreated"))),
        on_change=lambda found: told.put(" ".join(sorted(found))),
    )
    topic_watch.start()
    assert [told.get(timeout=10) for _ in range(4)] == ["a ab", "a", "recreated", "a ab"]
    topic_watch.stop()
    topic_watch.join(10)


def test_a_topic_that_was_recreated_can_be_fatal() -> None:
    failures: queue.SimpleQueue[BaseException] = queue.SimpleQueue()
    topic_watch = watch(
        interval=0.0,
        known=KnownTopics(guard(fail=True)),
        on_failure=lambda stream, error: failures.put(error),
    )
    topic_watch.start()
    assert isinstance(failures.get(timeout=10), SourceGap)
    topic_watch.join(10)


class Bench:
    """Entries that match nothing, and a clock that is turned by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, shared: bool = False) -> None:
        self.now, self.left = 1_000.0, ["odrers", "pay.*"]
        self.looks = 0
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        self.entries = TopicEntries(choice, "a.*", self._find, shared=shared)

    def _find(self, mirrored: frozenset[str]) -> list[str]:
        self.looks += 1
        return self.left

    def inspect(self, seconds: float) -> None:
        """Another look after so long."""
        self.now += seconds
        self.entries.inspect(frozenset())


def test_they_are_told_once_after_a_minute(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(monkeypatch)
    assert bench.entries.due_in() == float("inf"), "nothing is known before the first look"
    bench.inspect(0)
    assert (bench.entries.due_in(), caplog.messages) == (60.0, [])
    bench.inspect(59)
    bench.left = ["pay.*"]
    bench.inspect(2)
    bench.inspect(100)
    assert [message.partition(":")[0] for message in caplog.messages] == ["Nothing is copied for pay.*"]
    assert (bench.entries.due_in(), bench.looks) == (float("inf"), 3)


def test_all_that_match_are_never_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch)
    bench.left = []
    bench.inspect(0)
    bench.inspect(100)
    assert (bench.entries.due_in(), bench.looks) == (float("inf"), 1)


def test_flows_that_share_their_entries_warn_of_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    bench = Bench(monkeypatch, shared=True)
    bench.inspect(0)
    bench.inspect(61)
    assert [line.levelname for line in caplog.records] == ["INFO"]
