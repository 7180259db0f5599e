"""The requests of a group member to its coordinator, and the answers, as bytes of Kafka's consumer protocol."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.consumer import HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from legacy_mm.base.model import GroupMember, TopicPartition
from legacy_mm.policies.assignors import Subscriber

CONSUMERS, CONNECT = "consumer", "connect"
"""Protocol types: of Java's and librdkafka's consumers, and of the workers of Kafka Connect."""
_PLAIN = 0
"""Version of subscription and assignment: topics and partitions, which every consumer since 0.9 reads and writes."""


@dataclass(frozen=True, slots=True)
class GroupTerms:
    """The settings a member sends to the group. Times are seconds."""

    group: str
    instance: str | None
    session_timeout: float
    heartbeat_interval: float
    rebalance_timeout: float
    retry_pause: float
    protocol_type: str = CONSUMERS
    commit_metadata: str = ""
    """Goes with every offset that is committed."""


class Identity(NamedTuple):
    """The identity of a member at the coordinator."""

    group: str
    generation: int
    member: str
    instance: str | None


class Subscription(NamedTuple):
    """A member of the group, of any client, as its leader sees it."""

    subscriber: Subscriber
    user_data: bytes | None


class MemberShare(NamedTuple):
    """A member's share of the partitions, as the leader gives it."""

    partitions: Collection[TopicPartition]
    user_data: bytes | None = None


class GroupDescription(NamedTuple):
    """A group as its coordinator describes it."""

    protocol: str
    """The one by which the members share out; empty while they join, and if there are none."""
    members: tuple[GroupMember, ...]
    metadata: tuple[bytes, ...] = ()
    """The words of each member, in the form of its protocol; none while they join."""


class DescribedMember(NamedTuple):
    """A member of a group with its share, as its coordinator describes it."""

    client_id: str
    host: str
    partitions: frozenset[TopicPartition] | None
    """None: the share is in a form that is not known here."""


class DescribedGroup(NamedTuple):
    """A group with the shares of its members."""

    group: str
    state: str
    """In Kafka's words."""
    members: tuple[DescribedMember, ...] = ()


def join(
    terms: GroupTerms, member: str, topics: frozenset[str], protocols: Collection[str], user_data: bytes | None
) -> Any:
    """Ask to be a member that wants these topics, by one of these protocols."""
    wanted = ConsumerProtocolSubscription(version=_PLAIN, topics=sorted(topics), user_data=user_data).encode()
    protocol = JoinGroupRequest.JoinGroupRequestProtocol
    return JoinGroupRequest(
        group_id=terms.group,
        session_timeout_ms=int(terms.session_timeout * 1000),
        rebalance_timeout_ms=int(terms.rebalance_timeout * 1000),
        member_id=member,
        group_instance_id=terms.instance,
        protocol_type=terms.protocol_type,
        protocols=[protocol(name=name, metadata=wanted) for name in protocols],
    )


def leave(group: str, member: str) -> Any:
    """Leave the group."""
    leaving = LeaveGroupRequest.MemberIdentity(member_id=member, group_instance_id=None, reason=None)
    return LeaveGroupRequest(group_id=group, member_id=member, members=[leaving])


def heartbeat(who: Identity) -> Any:
    """Build a heartbeat request."""
    return HeartbeatRequest(
        group_id=who.group, generation_id=who.generation, member_id=who.member, group_instance_id=who.instance
    )


def sync(who: Identity, protocol: str | None, shares: Mapping[str, MemberShare], protocol_type: str = CONSUMERS) -> Any:
    """Ask for the member's share; the leader says what everybody gets."""
    return SyncGroupRequest(
        group_id=who.group,
        generation_id=who.generation,
        member_id=who.member,
        group_instance_id=who.instance,
        protocol_type=protocol_type,
        protocol_name=protocol,
        assignments=[
            SyncGroupRequest.SyncGroupRequestAssignment(member_id=member, assignment=_encoded(share))
            for member, share in shares.items()
        ],
    )


def _encoded(share: MemberShare) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in share.partitions:
        by_topic.setdefault(topic, []).append(partition)
    rows = [
        ConsumerProtocolAssignment.TopicPartition(topic=topic, partitions=numbers)
        for topic, numbers in by_topic.items()
    ]
    assignment = ConsumerProtocolAssignment(version=_PLAIN, assigned_partitions=rows, user_data=share.user_data)
    encoded: bytes = assignment.encode()
    return encoded


def share(assignment: Any) -> MemberShare:
    """Decode the share that the leader has encoded for a member."""
    if not assignment:
        return MemberShare(frozenset())
    decoded = ConsumerProtocolAssignment.decode(bytes(assignment))
    rows = decoded.assigned_partitions
    partitions = frozenset(TopicPartition(row.topic, number) for row in rows for number in row.partitions)
    return MemberShare(partitions, _or_none(decoded.user_data))


def subscription(member: Any) -> Subscription:
    """Decode the subscription of a member, of any client, as the leader receives it."""
    wanted = ConsumerProtocolSubscription.decode(bytes(member.metadata))
    subscriber = Subscriber(member.member_id, member.group_instance_id, frozenset(wanted.topics))
    return Subscription(subscriber, _or_none(wanted.user_data))


def user_data_of(metadata: bytes) -> bytes | None:
    """Return what a member has said beside its topics."""
    return _or_none(ConsumerProtocolSubscription.decode(metadata).user_data)


def _or_none(user_data: Any) -> bytes | None:
    return None if user_data is None else bytes(user_data)


def describe(groups: Collection[str]) -> Any:
    """Ask for the state and the members of each group."""
    return DescribeGroupsRequest(groups=list(groups))


def described(row: Any) -> DescribedGroup:
    """Return what the answer to `describe` says of a group, with the shares of its members."""
    members = [
        DescribedMember(each.client_id, each.client_host.lstrip("/"), _known_share(each.member_assignment))
        for each in row.members
    ]
    return DescribedGroup(row.group_id, row.group_state, tuple(sorted(members, key=lambda each: each[:2])))


def _known_share(assignment: Any) -> frozenset[TopicPartition] | None:
    try:
        return frozenset(share(assignment).partitions)
    except (struct.error, ValueError):
        return None


def description(row: Any) -> GroupDescription:
    """Return what the answer to `describe` says of a group."""
    members = tuple(GroupMember(each.client_id, each.client_host) for each in row.members)
    metadata = tuple(bytes(each.member_metadata) for each in row.members if each.member_metadata)
    return GroupDescription(row.protocol_data, members, metadata)
