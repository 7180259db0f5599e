"""The bytes by which members share bundles out, and who is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import TopicPartition
from legacy_mm.transactions.bundle_assignor import BundleSubscriber, SharedOut, share_out
from legacy_mm.transactions.member_data import (
    GivenBundles,
    assignment_data,
    given_bundles,
    subscriber_of,
    subscription_data,
)

TOPICS = frozenset({"orders"})
WANTED = b'{"v":1,"bundles":24,"generation":7,"held":[3,14]}'
GIVEN = b'{"v":1,"bundles":24,"held":[14,15],"left_out":["audit","clicks"]}'
ORDERS = [TopicPartition("orders", number) for number in (0, 1, 24)]
"""Of the bundles 14, 15 and 14."""


def test_the_bytes_of_a_subscription() -> None:
    assert subscription_data(24, 7, {14, 3}) == WANTED
    assert subscriber_of("m", TOPICS, WANTED, 24) == BundleSubscriber("m", TOPICS, 7, frozenset({3, 14}))


def test_the_bytes_of_an_assignment() -> None:
    shared = SharedOut({"m": (14, 15)}, {"m": ORDERS}, frozenset({"clicks", "audit"}))
    assert assignment_data(shared, "m", 24) == GIVEN
    assert given_bundles(GIVEN, ORDERS, 24) == GivenBundles(frozenset({14, 15}), frozenset({"audit", "clicks"}))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "is empty"),
        (b"", "is no JSON object with a version"),
        (b"\x00\x00\x00\x01", "is no JSON object with a version"),
        (WANTED.replace(b'"v":1', b'"v":2'), "has another version than 1"),
        (WANTED.replace(b"24", b"12"), "has 12 bundles, not 24"),
        (WANTED.replace(b"14", b"24"), "has a bundle that does not exist"),
        (WANTED.replace(b"3,14", b"14,3"), "has an impossible held"),
        (WANTED.replace(b"3,14", b"14,14"), "has an impossible held"),
        (WANTED.replace(b',"generation":7', b""), "lacks the field 'generation'"),
    ],
)
def test_a_member_that_counts_on_something_else_is_refused(data: bytes | None, why: str) -> None:
    with pytest.raises(StreamFailure) as refusal:
        subscriber_of("mm-1-uuid", TOPICS, data, 24)
    assert str(refusal.value) == (
        f"member mm-1-uuid of the group cannot copy exactly once with this one: its user data {why}; "
        "run the same release of legacy_mm everywhere"
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "is empty"),
        (GIVEN.replace(b"24", b"23"), "has 23 bundles, not 24"),
        (GIVEN.replace(b"15", b"24"), "has a bundle that does not exist"),
        (GIVEN.replace(b"14,", b""), "does not have the bundles of [orders-0, orders-24]"),
        (GIVEN.replace(b"audit", b"a/b"), "has an impossible left_out"),
        (WANTED, "has the field 'generation'"),
    ],
)
def test_an_assignment_of_another_kind_is_refused(data: bytes | None, why: str) -> None:
    """As of a coordinator that shares out by itself, because a consumer of KIP-848 has joined."""
    with pytest.raises(StreamFailure) as refusal:
        given_bundles(data, ORDERS, 24)
    assert str(refusal.value) == (
        f"the group does not share out whole bundles: the assignment's user data {why}; "
        "look at group.protocol and at the other members of the group"
    )


@given(
    st.lists(st.tuples(st.integers(-1, 9), st.frozensets(st.integers(0, 23))), min_size=1, max_size=6),
    st.integers(0, 100),
)
def test_a_generation_from_bytes_to_bytes(members: list[tuple[int, frozenset[int]]], count: int) -> None:
    found = [
        subscriber_of(str(number), TOPICS, subscription_data(24, generation, held), 24)
        for number, (generation, held) in enumerate(members)
    ]
    shared = share_out(found, {"orders": count}, 24)
    for each in found:
        got = given_bundles(assignment_data(shared, each.member, 24), shared.partitions[each.member], 24)
        assert got == GivenBundles(frozenset(shared.bundles[each.member]), frozenset())
