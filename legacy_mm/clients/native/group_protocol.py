"""The requests of a group member to its coordinator, and the answers, as bytes of Kafka's consumer protocol."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kafka.protocol.consumer import HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest, SyncGroupRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from legacy_mm.model import TopicPartition
from legacy_mm.policies.assignors import Subscriber

_CONSUMERS = "consumer"
"""The protocol type of Java's consumers, and of librdkafka's."""
_PLAIN = 0
"""Version of subscription and assignment: topics and partitions, which every consumer since 0.9 reads and writes."""


@dataclass(frozen=True, slots=True)
class GroupTerms:
    """The settings a member sends to the group. Times are seconds."""

    group: str
    instance: str | None
    assignors: tuple[str, ...]
    session_timeout: float
    heartbeat_interval: float
    rebalance_timeout: float
    retry_pause: float


class Identity(NamedTuple):
    """The identity of a member at the coordinator."""

    group: str
    generation: int
    member: str
    instance: str | None


def join(terms: GroupTerms, member: str, topics: frozenset[str]) -> Any:
    """Ask to be a member that wants these topics."""
    wanted = ConsumerProtocolSubscription(version=_PLAIN, topics=sorted(topics), user_data=None).encode()
    protocol = JoinGroupRequest.JoinGroupRequestProtocol
    return JoinGroupRequest(
        group_id=terms.group,
        session_timeout_ms=int(terms.session_timeout * 1000),
        rebalance_timeout_ms=int(terms.rebalance_timeout * 1000),
        member_id=member,
        group_instance_id=terms.instance,
        protocol_type=_CONSUMERS,
        protocols=[protocol(name=name, metadata=wanted) for name in terms.assignors],
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


def sync(who: Identity, protocol: str | None, shares: Mapping[str, Collection[TopicPartition]]) -> Any:
    """Ask for the member's share; the leader says what everybody gets."""
    return SyncGroupRequest(
        group_id=who.group,
        generation_id=who.generation,
        member_id=who.member,
        group_instance_id=who.instance,
        protocol_type=_CONSUMERS,
        protocol_name=protocol,
        assignments=[
            SyncGroupRequest.SyncGroupRequestAssignment(member_id=member, assignment=_encoded(share))
            for member, share in shares.items()
        ],
    )


def _encoded(share: Collection[TopicPartition]) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, partition in share:
        by_topic.setdefault(topic, []).append(partition)
    rows = [
        ConsumerProtocolAssignment.TopicPartition(topic=topic, partitions=numbers)
        for topic, numbers in by_topic.items()
    ]
    encoded: bytes = ConsumerProtocolAssignment(version=_PLAIN, assigned_partitions=rows, user_data=None).encode()
    return encoded


def partitions(assignment: Any) -> frozenset[TopicPartition]:
    """Decode the share that the leader has encoded for a member."""
    if not assignment:
        return frozenset()
    rows = ConsumerProtocolAssignment.decode(bytes(assignment)).assigned_partitions
    return frozenset(TopicPartition(row.topic, number) for row in rows for number in row.partitions)


def subscriber(member: Any) -> Subscriber:
    """Decode the subscription of a member, of any client, as the leader receives it."""
    wanted = ConsumerProtocolSubscription.decode(bytes(member.metadata))
    return Subscriber(member.member_id, member.group_instance_id, frozenset(wanted.topics))
