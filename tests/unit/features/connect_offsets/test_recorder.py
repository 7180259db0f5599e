"""What a flow commits is written as Kafka Connect's workers write it."""

from __future__ import annotations

from legacy_mm.clock import Deadline
from legacy_mm.features.connect_offsets.connect_offset_settings import ConnectOffsetSettings
from legacy_mm.features.connect_offsets.connect_start import MARK
from legacy_mm.features.connect_offsets.recorder import ConnectOffsetRecorder
from legacy_mm.model import TopicPartition
from tests.fakes.internal_topic import FakeInternalTopic

SETTINGS = ConnectOffsetSettings("mm2-offsets.A.internal", 25, 1, "MirrorSourceConnector", "A")


def test_an_offset_is_written_as_that_of_the_last_record_copied() -> None:
    topic = FakeInternalTopic()
    recorder = ConnectOffsetRecorder(SETTINGS, lambda: topic)
    recorder.committed({TopicPartition("test-topic", 3): 43, TopicPartition("empty", 0): 0})
    recorder.finish(Deadline.after(1))
    key = b'["MirrorSourceConnector",{"cluster":"A","partition":3,"topic":"test-topic"}]'
    ((written, value),), ((partition, mark),) = topic.written, topic.places
    assert (written, value, mark) == (key, b'{"offset":42}', MARK)
    assert 0 <= partition < 25
    assert topic.flushed


def test_a_key_is_always_in_the_same_partition() -> None:
    topic = FakeInternalTopic()
    recorder = ConnectOffsetRecorder(SETTINGS, lambda: topic)
    for offset in (1, 2, 3):
        recorder.committed({TopicPartition("t", 0): offset})
    assert len({partition for partition, _ in topic.places}) == 1


def test_a_flow_that_commits_nothing_makes_no_client() -> None:
    made: list[FakeInternalTopic] = []
    recorder = ConnectOffsetRecorder(SETTINGS, lambda: made.append(FakeInternalTopic()) or made[-1])  # type: ignore[func-returns-value]
    recorder.start()
    recorder.stop()
    recorder.finish(Deadline.after(1))
    assert made == []
