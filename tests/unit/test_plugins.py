"""Rebalance listeners: one call at a time, and how what they raise is told."""

from __future__ import annotations

import threading

import pytest

from legacy_mm.errors import HandlerFailure
from legacy_mm.model import TopicPartition
from legacy_mm.plugins import OneAtATime

SOME = frozenset({TopicPartition("t", 0)})


class Recorder:
    """Notes on which thread it is called; raises on nothing."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        self.threads.add(threading.current_thread().name)

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        self.threads.add(threading.current_thread().name)
        if not partitions:
            raise OSError("no disk")


def test_calls_of_several_streams_share_one_thread() -> None:
    listener = Recorder()
    told = OneAtATime(listener)
    streams = [threading.Thread(target=told.assigned, args=(SOME,)) for _ in range(4)]
    for stream in streams:
        stream.start()
    for stream in streams:
        stream.join()
    told.revoked(SOME)
    assert len(listener.threads) == 1
    assert threading.current_thread().name not in listener.threads


def test_what_a_listener_raises_ends_the_stream() -> None:
    with pytest.raises(HandlerFailure, match="the rebalance listener failed: OSError: no disk") as failure:
        OneAtATime(Recorder()).revoked(frozenset())
    assert failure.value.exit_code == 255
