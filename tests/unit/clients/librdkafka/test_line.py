"""How far away leaders are; the client is a stand-in, because real round trips are what they are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from legacy_mm.clients.librdkafka import client
from legacy_mm.clients.librdkafka.client import NetworkLine, measure_line


class Cluster:
    """Answers after each of these times; its topic has partitions with these leaders."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: list[float], leaders: tuple[int, ...]) -> None:
        self.now, self.times, self.leaders = 0.0, times, leaders
        monkeypatch.setattr(client, "monotonic", lambda: self.now)

    def list_topics(self, topic: str, timeout: float) -> Any:
        if not self.times:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        self.now += self.times.pop(0)
        partitions = {number: SimpleNamespace(leader=leader) for number, leader in enumerate(self.leaders)}
        return SimpleNamespace(topics={topic: SimpleNamespace(partitions=partitions)})


@pytest.mark.parametrize(
    ("times", "leaders", "line"),
    [
        ([0.5, 0.25, 0.75], (1, 2, 1), NetworkLine(0.25, 2)),
        ([0.5, 0.125], (1, 2, 1), NetworkLine(0.125, 2)),
        ([0.125], (3, -1), NetworkLine(0.125, 1)),
        ([0.125], (-1, -1), None),
        ([0.125], (), None),
        ([0.5, 0.25], (1,), None),
        ([], (1,), None),
    ],
    ids=["long", "one was short", "a leader is missing", "no leader", "no topic", "an answer is missing", "no answer"],
)
def test_the_shortest_of_some_round_trips_and_the_leaders(
    monkeypatch: pytest.MonkeyPatch, times: list[float], leaders: tuple[int, ...], line: NetworkLine | None
) -> None:
    cluster = Cluster(monkeypatch, times, leaders)
    assert measure_line(cluster, "t", short=0.2) == line
    assert not cluster.times
