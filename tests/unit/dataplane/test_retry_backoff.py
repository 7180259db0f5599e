"""The pace at which missing topics are asked for, by a clock that the test moves."""

from __future__ import annotations

import pytest

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.dataplane import target_topics
from legacy_mm.dataplane.target_topics import RetryBackoff
from legacy_mm.policies import growing_pauses
from tests.fixtures import client_settings


class Clock:
    now = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(target_topics, "monotonic", lambda: made.now)
    return made


def pauses(pace: RetryBackoff, clock: Clock, count: int) -> list[float]:
    """Seconds from one request to the next."""
    at: list[float] = []
    while len(at) <= count:
        if pace.is_due(waiting=True):
            at.append(clock.now)
        clock.now += 0.01
    return [round(after - before, 1) for before, after in zip(at, at[1:], strict=False)]


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({}, [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]),
        ({"retry.backoff.ms": "300"}, [0.3, 0.6, 1.0, 1.0]),
        ({"retry.backoff.ms": "2500"}, [2.5, 2.5]),
    ],
    ids=["as Java", "asked for", "longer than the most"],
)
def test_less_and_less_often(properties: dict[str, str], expected: list[float], clock: Clock) -> None:
    assert pauses(RetryBackoff(client_settings.read_connection(properties)), clock, len(expected)) == expected


def test_a_new_wait_begins_soon_again(clock: Clock) -> None:
    pace = RetryBackoff(ConnectionSettings())
    pauses(pace, clock, 5)
    assert not pace.is_due(waiting=False)
    assert pace.is_due(waiting=True)
    assert pauses(pace, clock, 1) == [0.2]


def test_an_answer_that_lasts_is_told_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A topic that cannot be had makes six lines in three minutes, not one a second; what changes is told at once."""
    moment = 0.0
    monkeypatch.setattr(growing_pauses, "monotonic", lambda: moment)
    pace = RetryBackoff(ConnectionSettings(client_id="mirror"))
    for second in range(180):
        moment = float(second)
        pace.tell({"a": "INVALID_TOPIC_EXCEPTION"})
    assert [vars(line)["fields"]["number"] for line in caplog.records] == [1, 6, 16, 36, 76, 156]
    pace.tell({"a": "LEADER_NOT_AVAILABLE"})
    assert not pace.is_due(waiting=False)
    pace.tell({"a": "LEADER_NOT_AVAILABLE"})
    assert [vars(line)["fields"]["number"] for line in caplog.records][6:] == [181, 182]


def test_each_answer_is_a_numbered_line(caplog: pytest.LogCaptureFixture) -> None:
    pace = RetryBackoff(ConnectionSettings(client_id="mirror"))
    pace.tell({})
    pace.tell({"b": "UNKNOWN_TOPIC_OR_PARTITION"})
    pace.tell({"b": "UNKNOWN_TOPIC_OR_PARTITION", "a": "LEADER_NOT_AVAILABLE"})
    fields = [vars(line)["fields"] for line in caplog.records]
    told = ["b=UNKNOWN_TOPIC_OR_PARTITION", "a=LEADER_NOT_AVAILABLE, b=UNKNOWN_TOPIC_OR_PARTITION"]
    assert fields == [{"client": "mirror", "number": 1 + at, "problems": each} for at, each in enumerate(told)]
