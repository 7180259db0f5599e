"""Heartbeats towards a target that is away: told once, and no beat waits behind another."""

from __future__ import annotations

import math
import queue
import socket
from collections.abc import Iterator
from functools import partial

import pytest

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter, OnResult
from legacy_mm.features.heartbeats.emitter import Heartbeats
from tests.fakes.internal_topic import FakeInternalTopic, Headers

SECONDS = 30.0


@pytest.fixture
def nobody() -> Iterator[ConnectionSettings]:
    """An address where nobody answers."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield ConnectionSettings((f"127.0.0.1:{held.getsockname()[1]}",))


class Watched(InternalTopicWriter):
    """A writer of which the test sees the results, and how many records waited when one more came."""

    def __init__(self, settings: ConnectionSettings, on_result: OnResult) -> None:
        self.results: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.waited: list[int] = []

        def both(key: bytes, reason: str | None) -> None:
            on_result(key, reason)
            self.results.put(reason)

        super().__init__(settings, "heartbeats", both, give_up_seconds=0.5)

    def send(
        self,
        key: bytes,
        value: bytes | None,
        timestamp: int | None = None,
        *,
        partition: int = 0,
        headers: Headers = (),
    ) -> bool:
        self.waited.append(self.waiting())
        return super().send(key, value, timestamp)


def test_a_target_that_is_away(nobody: ConnectionSettings, caplog: pytest.LogCaptureFixture) -> None:
    made: queue.SimpleQueue[Watched] = queue.SimpleQueue()
    ages: list[float] = []

    def writer(on_result: OnResult) -> Watched:
        made.put(watched := Watched(nobody, on_result))
        return watched

    beats = Heartbeats("A", "B", 0.01, lambda: True, writer, ages.append)
    beats.start()
    watched = made.get(timeout=SECONDS)
    reasons = [watched.results.get(timeout=SECONDS) for _ in range(3)]
    beats.stop()
    beats.join(SECONDS)
    assert not beats.is_alive()
    assert None not in reasons
    assert set(watched.waited) == {0}
    assert ages == [math.inf], "there will be some, and there is none yet"
    assert len([record for record in caplog.records if "No heartbeat reaches the target" in record.getMessage()]) == 1


def test_the_age_of_each_heartbeat_at_the_target_is_told() -> None:
    ages: queue.SimpleQueue[float] = queue.SimpleQueue()
    topic = FakeInternalTopic()
    beats = Heartbeats("A", "B", 0.01, lambda: True, topic.writer, ages.put)
    beats.start()
    found = [ages.get(timeout=SECONDS) for _ in range(3)]
    beats.stop()
    beats.join(SECONDS)
    assert found[0] == math.inf
    assert all(0 <= age < SECONDS for age in found[1:])


def test_before_the_topic_is_seen_to_nothing_is_sent(nobody: ConnectionSettings) -> None:
    """It is asked again after a while; a stop is heeded meanwhile."""
    asked: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def unprepared() -> bool:
        asked.put(True)
        return False

    beats = Heartbeats("A", "B", 0.01, unprepared, partial(Watched, nobody), lambda age: None)
    beats.start()
    assert asked.get(timeout=SECONDS)
    beats.stop()
    wait_until(lambda: not beats.is_alive(), SECONDS, "the end")
