"""What is told of a flow that somebody may want to fail over: ages, and the groups whose place is unknown."""

from __future__ import annotations

import math

from legacy_mm.connect.page.fail_over import FailOver, fail_over
from legacy_mm.connect.page.flow_numbers import MEASURES, numbers_of
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from tests.fixtures.counted_flows import CountedFlow


class Ticks:
    """A clock that is set."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def told(flow: CountedFlow) -> FailOver:
    return fail_over(numbers_of([flow.registry.snapshot(MEASURES)]))


def test_a_flow_without_features_has_nothing_to_tell() -> None:
    found = told(CountedFlow().assigned())
    assert (found.is_known, found.ages, [*found.left_out], found.done) == (False, {}, [], {})
    assert math.isnan(found.groups)


def test_what_is_switched_on_is_told_before_it_happens() -> None:
    flow = CountedFlow()
    flow.registry.heartbeat(math.inf)
    metrics = OffsetMetrics(flow.registry)
    assert told(flow).ages == {"heartbeat": math.inf, "offset sync": math.inf}
    metrics.checkpoints_begin()
    assert told(flow).ages == dict.fromkeys(("heartbeat", "checkpoint", "look at the groups", "offset sync"), math.inf)


def test_ages_are_those_of_the_last_success() -> None:
    clock = Ticks()
    flow = CountedFlow(clock=clock)
    metrics = OffsetMetrics(flow.registry)
    flow.registry.heartbeat(0.5)
    metrics.checkpoint("g", "east.orders", 0, 0.25)
    metrics.sync_settled(failed=False)
    clock.now += 30
    metrics.sync_settled(failed=True)
    metrics.groups_looked_at(2.0)
    clock.now += 1
    found = told(flow)
    assert found.ages == {"heartbeat": 31.5, "checkpoint": 31, "look at the groups": 3, "offset sync": 31}
    assert found.done == {
        "checkpoints written": 1,
        "offset syncs written": 1,
        "offset syncs that failed": 1,
    }


def test_groups_are_counted_and_those_without_a_checkpoint_are_named() -> None:
    flow = CountedFlow()
    metrics = OffsetMetrics(flow.registry)
    metrics.groups_seen(41, {"b": "no checkpoint for t-0", "a": "its offsets cannot be read: no right"})
    found = told(flow)
    assert (found.groups, found.translated, found.left_out_count) == (41, 39, 2)
    assert found.left_out == [("a", "its offsets cannot be read: no right"), ("b", "no checkpoint for t-0")]
