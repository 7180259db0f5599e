"""A member's requests against another implementation's classes, and subscriptions of any client; hostile bytes."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.admin import DescribeGroupsRequest, DescribeGroupsResponse
from kafka.protocol.consumer import HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from legacy_mm.base.model import GroupMember, TopicPartition
from legacy_mm.clients.group import group_protocol
from legacy_mm.clients.group.group_protocol import (
    DescribedGroup,
    DescribedMember,
    GroupDescription,
    GroupTerms,
    Identity,
    MemberShare,
    Subscription,
)
from legacy_mm.policies.assignors import Subscriber

TERMS = GroupTerms("g", "host-a", 45.0, 3.0, 300.5, 0.1)
WHO = Identity("g", 7, "member-1", "host-a")


def read(kind: Any, request: Any, version: int) -> Any:
    """What another implementation reads of the bytes."""
    return kind.decode(request.encode(version=version), version=version)


def test_who_joins_says_what_it_wants_in_each_protocol() -> None:
    request = group_protocol.join(TERMS, "", frozenset({"b", "a"}), ("range", "roundrobin"), b"beside")
    found = read(JoinGroupRequest, request, 5)
    assert (found.group_id, found.member_id, found.group_instance_id, found.protocol_type) == (
        "g",
        "",
        "host-a",
        "consumer",
    )
    assert (found.session_timeout_ms, found.rebalance_timeout_ms) == (45_000, 300_500)
    assert [each.name for each in found.protocols] == ["range", "roundrobin"], "in the order of preference"
    for each in found.protocols:
        wanted = ConsumerProtocolSubscription.decode(bytes(each.metadata))
        assert (wanted.topics, bytes(wanted.user_data)) == (["a", "b"], b"beside")


def test_a_generation_is_named_in_each_later_request() -> None:
    heartbeat = read(HeartbeatRequest, group_protocol.heartbeat(WHO), 3)
    assert (heartbeat.group_id, heartbeat.generation_id, heartbeat.member_id, heartbeat.group_instance_id) == WHO
    leave = read(LeaveGroupRequest, group_protocol.leave("g", "member-1"), 3)
    assert (leave.group_id, [(each.member_id, each.group_instance_id) for each in leave.members]) == (
        "g",
        [("member-1", None)],
    )


partitions = st.frozensets(
    st.builds(TopicPartition, st.text("ab.", min_size=1, max_size=3), st.integers(0, 9)), max_size=9
)


shares_of_members = st.builds(MemberShare, partitions, st.none() | st.binary(max_size=9))


@given(shares=st.dictionaries(st.text(min_size=1, max_size=4), shares_of_members, max_size=4))
def test_every_member_reads_the_share_that_the_leader_gave_it(shares: dict[str, MemberShare]) -> None:
    found = read(SyncGroupRequest, group_protocol.sync(WHO, "range", shares), 5)
    assert (found.generation_id, found.protocol_name) == (7, "range")
    assert {each.member_id: group_protocol.share(each.assignment) for each in found.assignments} == shares


def test_who_follows_sends_no_shares() -> None:
    assert read(SyncGroupRequest, group_protocol.sync(WHO, None, {}), 5).assignments == []


@pytest.mark.parametrize("nothing", [b"", None])
def test_a_member_without_a_share_has_no_partitions(nothing: bytes | None) -> None:
    """A group with more members than partitions."""
    assert group_protocol.share(nothing) == MemberShare(frozenset(), None)


def member(version: int, user_data: bytes | None = b"sticky", **fields: Any) -> Any:
    subscription = ConsumerProtocolSubscription(version=version, topics=["b", "a"], user_data=user_data, **fields)
    return SimpleNamespace(member_id="m", group_instance_id=None, metadata=subscription.encode())


@pytest.mark.parametrize(
    ("version", "fields"), [(0, {}), (1, {"owned_partitions": []}), (3, {"generation_id": 4, "rack_id": "r"})]
)
def test_members_of_other_clients_may_say_more(version: int, fields: dict[str, Any]) -> None:
    who = Subscriber("m", None, frozenset({"a", "b"}))
    assert group_protocol.subscription(member(version, **fields)) == Subscription(who, b"sticky")


@pytest.mark.parametrize("user_data", [None, b""])
def test_no_user_data_and_empty_ones_are_two_things(user_data: bytes | None) -> None:
    assert group_protocol.subscription(member(0, user_data)).user_data == user_data


def test_a_share_that_is_cut_is_no_smaller_share() -> None:
    """Reading less than was given would leave partitions to nobody."""
    shares = {"m": MemberShare({TopicPartition("orders", number) for number in range(3)}, b"beside")}
    (row,) = group_protocol.sync(WHO, "range", shares).assignments
    whole = bytes(row.assignment)
    for end in range(1, len(whole)):
        with pytest.raises((struct.error, ValueError)):
            group_protocol.share(whole[:end])


@pytest.mark.parametrize("cut", [0, 1])
def test_a_group_is_described_with_the_shares_of_its_members(cut: int) -> None:
    """A share in another form is no reason not to tell the rest."""
    owned = frozenset(TopicPartition("orders", number) for number in range(3))
    (row,) = group_protocol.sync(WHO, "range", {"m": MemberShare(owned)}).assignments
    whole = bytes(row.assignment)
    group = DescribeGroupsResponse.DescribedGroup
    members = [
        group.DescribedGroupMember(client_id=name, client_host="/10.0.0.1", member_assignment=share)
        for name, share in (("b", whole[: len(whole) - cut]), ("a", b""))
    ]
    assert group_protocol.described(group(group_id="g", group_state="Stable", members=members)) == DescribedGroup(
        "g",
        "Stable",
        (
            DescribedMember("a", "10.0.0.1", frozenset()),
            DescribedMember("b", "10.0.0.1", None if cut else owned),
        ),
    )


def test_a_group_as_its_coordinator_describes_it() -> None:
    group = DescribeGroupsResponse.DescribedGroup
    members = [group.DescribedGroupMember(member_id="m", client_id="mm", client_host="/10.0.0.1")]
    row = group(group_id="g", group_state="Stable", protocol_data="range", members=members)
    assert group_protocol.description(row) == GroupDescription("range", (GroupMember("mm", "/10.0.0.1"),))
    assert read(DescribeGroupsRequest, group_protocol.describe(["g"]), 0).groups == ["g"]
