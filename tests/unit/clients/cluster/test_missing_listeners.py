"""What is said of partitions whose leader lacks the client's listener, and when."""

from __future__ import annotations

import logging

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.missing_listeners import MissingListeners, listener_problem

T = frozenset(TopicPartition("t", number) for number in range(12))
ONE = frozenset({TopicPartition("t", 3)})


def test_each_time_that_they_are_others_they_are_said(caplog: pytest.LogCaptureFixture) -> None:
    listeners = MissingListeners("mirror-0")
    with caplog.at_level(logging.WARNING, "legacy_mm"):
        for found in (frozenset(), ONE, ONE, T, frozenset(), ONE):
            listeners.note(found)
    assert [line.partition(" partitions")[0] for line in caplog.messages] == [
        "[mirror-0] 1",
        "[mirror-0] 12",
        "[mirror-0] 1",
    ]


def test_ten_are_named_in_javas_words() -> None:
    ten = "[t-0, t-1, t-2, t-3, t-4, t-5, t-6, t-7, t-8, t-9]"
    assert listener_problem(T).startswith(
        f"12 partitions have leader brokers without a matching listener, including {ten}: "
    )
