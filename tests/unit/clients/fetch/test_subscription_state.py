"""Which partitions a broker is asked for, from where on, and what halts them."""

from __future__ import annotations

from math import inf

from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Gap
from legacy_mm.clients.cluster.topology import Leadership
from legacy_mm.clients.fetch.subscription_state import SubscriptionState

A, B, C = (TopicPartition("t", number) for number in range(3))
NODE, NEARER = 1, 2
LEADERS = {A: Leadership(NODE, 4), B: Leadership(NODE, 4)}


def asked_of(state: SubscriptionState, node: int) -> dict[TopicPartition, int]:
    return {want.partition: want.offset for want in state.wanted(node, LEADERS)}


def reading() -> SubscriptionState:
    state = SubscriptionState()
    state.resume({A: 20, B: 30, C: 40})
    return state


def test_a_leader_is_asked_for_what_it_leads_and_a_nearer_replica_instead() -> None:
    state = reading()
    assert asked_of(state, NODE) == {A: 20, B: 30}
    assert [node for _, node in state.places(LEADERS, 0.0)] == [NODE, NODE, None]
    state.read_from(A, NEARER)
    assert (asked_of(state, NODE), asked_of(state, NEARER)) == ({B: 30}, {A: 20})
    assert [node for _, node in state.places(LEADERS, inf)][0] == NODE, "advice does not hold for ever"


def test_what_is_asked_for_or_pauses_or_is_held_is_not_asked_for() -> None:
    state = reading()
    state.ask(want for want in state.wanted(NODE, LEADERS) if want.partition == A)
    assert asked_of(state, NODE) == {B: 30}
    state.answered([A])
    state.pause(A)
    state.hold(B, 25)
    assert asked_of(state, NODE) == {}
    state.release(B)
    assert asked_of(state, NODE) == {B: 25}


def test_a_gap_halts_until_somebody_says_where_it_goes_on() -> None:
    state = reading()
    gap = Gap(*A, 20, 50, 90, "it is cut", 17)
    state.report(gap)
    assert state.take_gaps({A}) == []
    assert state.take_gaps(set()) == [gap]
    state.release(A)
    assert (asked_of(state, NODE), state.parted_at(A), state.awaited({A: 50, B: 60})) == ({B: 30}, 17, {A: 50})
    state.resume({A: 50})
    assert (asked_of(state, NODE), state.parted_at(A)) == ({A: 50, B: 30}, -1)
