"""What members say to each other to share whole bundles out."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import pytest

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import GroupMember, TopicPartition
from legacy_mm.clients.group.group_protocol import GroupDescription, MemberShare, Subscription
from legacy_mm.clients.group.sharing import BUNDLES_PROTOCOL as PROTOCOL
from legacy_mm.policies.assignors import Subscriber
from legacy_mm.transactions.bundle import BUNDLES, by_bundle
from legacy_mm.transactions.bundle_sharing import ByBundles

COUNTS = {"orders": 60, "clicks": 7}


def partitions_of(*topics: str) -> set[TopicPartition]:
    return {TopicPartition(topic, number) for topic in topics for number in range(COUNTS[topic])}


def said(member: str, sharing: ByBundles, *topics: str) -> Subscription:
    return Subscription(Subscriber(member, None, frozenset(topics)), sharing.user_data({}))


def rebalance(generation: int, members: dict[str, ByBundles], *topics: str) -> dict[str, MemberShare]:
    """One generation: all say what they want, the first makes the shares, each takes its own."""
    wanted = [said(name, sharing, *topics) for name, sharing in members.items()]
    shares = next(iter(members.values())).shares(PROTOCOL, wanted, COUNTS)
    for name, sharing in members.items():
        sharing.take(generation, shares[name])
    return shares


def held(share: MemberShare) -> set[int]:
    return set(by_bundle(share.partitions, BUNDLES))


def all_of(shares: Iterable[MemberShare]) -> list[TopicPartition]:
    return sorted(partition for share in shares for partition in share.partitions)


def test_each_member_gets_whole_bundles_and_keeps_them() -> None:
    a, b, c = (ByBundles(BUNDLES, name) for name in "abc")
    first = rebalance(1, {"a": a}, "orders", "clicks")
    assert all_of(first.values()) == sorted(partitions_of("orders", "clicks"))
    second = rebalance(2, {"b": b, "a": a, "c": c}, "orders", "clicks")
    assert all_of(second.values()) == all_of(first.values())
    bundles = {name: held(share) for name, share in second.items()}
    assert sum(map(len, bundles.values())) == len(set().union(*bundles.values())) == BUNDLES
    assert all(len(share.partitions) > 15 for share in second.values())
    third = rebalance(3, {"c": c, "a": a}, "orders", "clicks")
    assert bundles["a"] < held(third["a"]) and bundles["c"] < held(third["c"]), "what they had, and what b had"


def test_a_member_that_was_away_does_not_take_back_what_another_has_by_now() -> None:
    a, b = ByBundles(BUNDLES, "a"), ByBundles(BUNDLES, "b")
    rebalance(1, {"a": a}, "orders")
    rebalance(2, {"b": b}, "orders")
    of_b = rebalance(3, {"a": a, "b": b}, "orders")["b"]
    assert len(of_b.partitions) >= COUNTS["orders"] / 2 - 3
    assert ByBundles(BUNDLES, "new").user_data({}) == b'{"v":1,"bundles":24,"generation":-1,"held":[]}'


def test_a_share_without_our_user_data_is_refused() -> None:
    """As of a coordinator that shares out by itself. What was held before is still what is said."""
    member = ByBundles(BUNDLES, "a")
    rebalance(1, {"a": member}, "orders")
    before = member.user_data({})
    with pytest.raises(StreamFailure, match="the group does not share out whole bundles"):
        member.take(2, MemberShare(partitions_of("orders")))
    assert member.user_data({}) == before


def test_the_leader_refuses_a_member_of_another_kind() -> None:
    leader = ByBundles(BUNDLES, "a")
    stranger = said("mm-2", ByBundles(BUNDLES - 1, "b"), "orders")
    with pytest.raises(StreamFailure, match="member mm-2 of the group cannot copy exactly once with this one"):
        leader.shares(PROTOCOL, [said("mm-1", leader, "orders"), stranger], COUNTS)


def test_topics_that_are_left_out_are_told_when_they_change(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    a, b = ByBundles(BUNDLES, "a"), ByBundles(BUNDLES, "b")

    def join(generation: int, *more: str) -> list[str]:
        caplog.clear()
        members = {"a": (a, ("orders", *more)), "b": (b, ("orders",))}
        shares = a.shares(PROTOCOL, [said(name, each, *topics) for name, (each, topics) in members.items()], COUNTS)
        a.take(generation, shares["a"])
        return caplog.messages

    assert join(1) == []
    left_out = "[a] Not all members of the group want these topics, so nobody copies them until all do: "
    assert join(2, "clicks") == [f"{left_out}clicks"]
    assert join(3, "clicks") == []
    assert join(4, "clicks", "audit") == [f"{left_out}audit, clicks"]
    assert join(5) == ["[a] All members of the group want the same topics again, and copy them"]
    assert join(6) == []


@pytest.mark.parametrize(
    ("protocol", "why"),
    [
        ("range", "group g has members that do not copy exactly once (protocol range): mm on 10.0.0.1; stop them"),
        (PROTOCOL, ""),
        ("", ""),
    ],
)
def test_bundles_doubt_members_of_another_protocol(protocol: str, why: str) -> None:
    found = GroupDescription(protocol, (GroupMember("mm", "/10.0.0.1"),))
    assert ByBundles(BUNDLES, "a").doubt("g", found)[: len(why) or None] == why
