"""What the engine does about a target topic that is not there: it waits for none."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.dataplane import target_topics
from legacy_mm.dataplane.send_failure import ProducerBroken, Unsendable
from legacy_mm.dataplane.target_topics import TargetTopics, WaitingTopics
from legacy_mm.runtime.channel.frames import TaskConfig
from tests.fakes.cluster import ComingTopic
from tests.fixtures import client_settings

QUICK = {"retry.backoff.ms": "0"}


def topics(error: int, there: int = 3, target: Mapping[str, str] = QUICK) -> TargetTopics:
    """Of a task config without duties."""
    config = TaskConfig(
        {},
        {"t": "t"},
        client_settings.read_consumer({}),
        client_settings.read_producer({**QUICK, **target}),
        0.0,
        1.0,
        abort_on_send_failure=False,
        synchronous=False,
    )
    nobody: Any = None
    return TargetTopics(config, ComingTopic(error, there), nobody, threading.Event(), lambda: None)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_topics, "_MOST_BACKOFF", 0.0)


@pytest.mark.parametrize("error", [3, 5, 7, 37, 38, 40, 41, 44, -1])
def test_a_topic_that_brokers_cannot_make_at_the_moment_keeps_nobody(error: int) -> None:
    """As in Java for `max.block.ms`: a target with a broker too few for the replicas answers 38 until that is back."""
    found = topics(error)
    assert found.partitions("t", 1) == 0
    assert not found.may_go_on("t", 1)
    for _ in range(2):
        found.poll(())
    assert found.may_go_on("t", 1)
    assert found.partitions("t", 1) == 2


@pytest.mark.parametrize("error", [17, 29])
def test_a_topic_that_the_target_will_not_have_is_not_waited_for(error: int) -> None:
    with pytest.raises(Unsendable) as refused:
        topics(error).partitions("t", 1)
    assert refused.value.code == error


@pytest.mark.parametrize("error", [17, 29])
def test_a_refusal_of_long_ago_is_asked_about_again(error: int) -> None:
    """Metadata lives for minutes; without abort all records of that time would be lost though the right is there."""
    assert topics(error, there=1).partitions("t", 1) == 2


def test_a_topic_that_stays_away_is_given_up_when_the_file_says_so() -> None:
    """`max.block.ms`; each batch of records begins the time anew, as each record does in Java."""
    found = topics(3, target={"topic.metadata.propagation.max.ms": "0"})
    for _ in range(2):
        with pytest.raises(Unsendable):
            found.partitions("t", 1)


def test_a_topic_that_is_too_small_ends_the_mirror_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    found = topics(0, there=0)
    assert found.partitions("t", 3) == 0
    found.poll([TopicPartition("t", 0)])
    assert not found.may_go_on("t", 3)
    monkeypatch.setattr("legacy_mm.base.clock.monotonic", lambda: 1e9)
    assert found.may_go_on("t", 3)
    with pytest.raises(StreamFailure):
        found.partitions("t", 3)


def test_an_answer_is_told_in_the_words_of_the_old_tool(caplog: pytest.LogCaptureFixture) -> None:
    found = topics(3, target={"client.id": "producer-1"})
    found.partitions("t", 1)
    for _ in range(4):
        found.poll(())
        found.may_go_on("t", 1)
    told = [record for record in caplog.records if record.event.name == "topics-missing"]  # type: ignore[attr-defined]
    assert [record.fields["number"] for record in told] == [1]  # type: ignore[attr-defined]
    assert told[0].fields["problems"] == "t=UNKNOWN_TOPIC_OR_PARTITION"  # type: ignore[attr-defined]


def test_a_partition_that_is_gone_from_its_topic_ends_the_job() -> None:
    """Its topic came back with two partitions, or is away now, which may end."""
    found, away = topics(0, there=1), topics(3, there=10)
    for each in (found, away):
        each.partitions("t", 1)
    found.poll([TopicPartition("t", 1)])
    away.poll([TopicPartition("t", 2)])
    with pytest.raises(ProducerBroken, match="t-2 is gone from the target: the topic was recreated there with 2"):
        found.poll([TopicPartition("t", 2)])


def test_each_is_told_once_and_many_at_once_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = 100.0
    monkeypatch.setattr("legacy_mm.base.clock.monotonic", lambda: now)
    caplog.set_level("INFO")
    waiting = WaitingTopics()
    stuck = {f"t{number}": f"t{number}-0: it has no leader" for number in range(100)}
    waiting.note({"a": "UNKNOWN_TOPIC_OR_PARTITION"}, stuck)
    assert not caplog.records, "leaders move, and brokers make topics, in less"
    now += 3.1
    for _ in range(2):
        waiting.note({"a": "UNKNOWN_TOPIC_OR_PARTITION"}, stuck)
    one, many = caplog.messages
    assert one.startswith("Topic a cannot be written at the target (UNKNOWN_TOPIC_OR_PARTITION)")
    assert many.startswith("Topic t0 and 99 more cannot be written at the target (t0-0: it has no leader)")
    caplog.clear()
    for _ in range(2):
        waiting.note({}, {"t0": "t0-0: it has no leader"})
    assert caplog.messages == ["Topic a and 99 more can be written at the target again"]
