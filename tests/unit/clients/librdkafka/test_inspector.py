"""A group's committed offsets, as its coordinator tells them to somebody who is no member."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from legacy_mm.clients.librdkafka import inspector
from legacy_mm.clients.librdkafka.inspector import LibrdkafkaInspector
from legacy_mm.clock import Deadline
from legacy_mm.config import property_names
from legacy_mm.errors import HostError
from legacy_mm.model import TopicPartition

HERE = TopicPartition("t", 0)


class Coordinated:
    """A consumer whose group has no coordinator for its first questions."""

    answers: list[int] = []

    def __init__(self, properties: dict[str, Any]) -> None: ...

    def committed(self, partitions: list[Any], timeout: float) -> list[Any]:
        if self.answers:
            raise KafkaException(KafkaError(self.answers.pop(0)))
        return [ClientPartition(*HERE, 7)]

    def close(self) -> None: ...


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> LibrdkafkaInspector:
    monkeypatch.setattr(inspector, "Consumer", Coordinated)
    return LibrdkafkaInspector(property_names.read_connection({"bootstrap.servers": "127.0.0.1:1"}))


def test_a_coordinator_that_moves_is_asked_again(asked: LibrdkafkaInspector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Coordinated, "answers", [KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS])
    assert asked._committed("g", [HERE], Deadline.after(30)) == {HERE: 7}


@pytest.mark.parametrize(
    ("answer", "patience"), [(KafkaError.GROUP_AUTHORIZATION_FAILED, 30), (KafkaError.NOT_COORDINATOR, 0)]
)
def test_what_does_not_pass_is_told(
    asked: LibrdkafkaInspector, monkeypatch: pytest.MonkeyPatch, answer: int, patience: float
) -> None:
    monkeypatch.setattr(Coordinated, "answers", [answer])
    with pytest.raises(HostError, match="reading the offsets of group g failed"):
        asked._committed("g", [HERE], Deadline.after(patience))
