"""One snapshot a second, however many ask."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from legacy_mm.metrics.registry import Registry, Snapshot
from legacy_mm.metrics.shared_snapshots import SharedSnapshots


def test_who_asks_within_a_second_gets_the_same() -> None:
    now, registry = 100.0, Registry("f", "p", {})
    shared = SharedSnapshots(lambda: [registry.snapshot()], lambda: now)
    first = shared()
    assert [each.flow for each in first] == ["f"]
    now = 100.9
    assert shared() is first
    now = 101.0
    assert shared() is not first


def test_who_asks_while_one_is_made_waits_for_that_one() -> None:
    begun, go_on, made = threading.Event(), threading.Event(), list[int]()

    def snapshots() -> list[Snapshot]:
        made.append(1)
        begun.set()
        assert go_on.wait(20)
        return []

    shared = SharedSnapshots(snapshots)
    with ThreadPoolExecutor(4) as callers:
        first = callers.submit(shared)
        assert begun.wait(20)
        others = [callers.submit(shared) for _ in range(3)]
        go_on.set()
        assert all(each.result(20) is first.result(20) for each in others)
    assert made == [1]
