"""A member whose coordinator is a stand-in: which heartbeats confirm it, marks of commits, groups that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from kafka.protocol.admin import DescribeGroupsRequest, DescribeGroupsResponse
from kafka.protocol.consumer import HeartbeatRequest, JoinGroupRequest, LeaveGroupRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import monotonic
from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import CommittedOffset, Offsets, TopicPartition
from legacy_mm.clients.group import membership
from legacy_mm.clients.group.membership import NativeMember
from legacy_mm.clients.group.sharing import BUNDLES_PROTOCOL as PROTOCOL
from legacy_mm.transactions.bundle import BUNDLES, bundle_of
from legacy_mm.transactions.bundle_sharing import ByBundles
from legacy_mm.transactions.member_data import subscription_data
from tests.fakes.coordinator import MEMBER, PARTITIONS, TOPIC, FakeCoordinator
from tests.fixtures import client_settings

SECONDS = 20.0
INCONSISTENT, REBALANCE_IN_PROGRESS, COORDINATOR_LOADS, FORBIDDEN = 23, 27, 14, 30
ALL = {TopicPartition(TOPIC, number) for number in range(PARTITIONS)}
PROPERTIES = {"group.id": "g", "heartbeat.interval.ms": "1000000", "session.timeout.ms": "2000000"}
"""So no heartbeat is sent that is not asked for."""


class Listener:
    """What the member's listener heard."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.settled: list[Offsets] = []

    def assigned(self, partitions: frozenset[TopicPartition]) -> None:
        assert partitions == ALL
        self.heard.append("assigned")

    def revoked(self, partitions: frozenset[TopicPartition]) -> None:
        self.heard.append("revoked")

    def lost(self, partitions: frozenset[TopicPartition]) -> None:
        self.heard.append("lost")

    def committed(self, offsets: Offsets, failed: Mapping[TopicPartition, Any]) -> None:
        self.settled.append(offsets)


Make = Callable[..., NativeMember]


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> FakeCoordinator:
    made = FakeCoordinator()
    monkeypatch.setattr(membership, "Cluster", lambda settings, timeout: made)
    return made


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def trouble() -> list[str]:
    return []


@pytest.fixture
def make(coordinator: FakeCoordinator, listener: Listener, trouble: list[str]) -> Iterator[Make]:
    """Makes a member that wants the topic; it has joined, unless `joins` is false."""

    def made(*, joins: bool = True, properties: Mapping[str, str] = PROPERTIES, **more: Any) -> NativeMember:
        settings = client_settings.read_consumer(dict(properties))
        member = NativeMember(settings, "mm", listener, lambda _: None, trouble.append, SECONDS, **more)
        stack.callback(member.close)
        member.subscribe({TOPIC})
        if joins:
            wait_until(lambda: polled(member) and listener.heard, SECONDS, "an assignment")
        return member

    with ExitStack() as stack:
        yield made


def polled(member: NativeMember) -> bool:
    member.poll(0.01)
    return True


def bundles() -> ByBundles:
    return ByBundles(BUNDLES, "mm")


def heartbeats(coordinator: FakeCoordinator) -> int:
    return len(coordinator.asked_for(HeartbeatRequest))


def test_a_heartbeat_that_is_asked_for_confirms_what_was_before_it(make: Make, coordinator: FakeCoordinator) -> None:
    member, before = make(), monotonic()
    assert not member.confirmed_after(before), "joining is no heartbeat"
    member.ask_heartbeat()
    wait_until(lambda: member.confirmed_after(before), SECONDS, "a heartbeat")
    assert not member.confirmed_after(monotonic())
    assert heartbeats(coordinator) == 1


def test_a_member_without_a_generation_is_not_confirmed(make: Make, coordinator: FakeCoordinator) -> None:
    member, before = make(joins=False), monotonic()
    member.ask_heartbeat()
    member.committed(ALL, SECONDS)
    assert not member.confirmed_after(before)
    assert heartbeats(coordinator) == 0


def test_a_heartbeat_on_its_way_does_not_confirm_and_one_more_does_for_all(
    make: Make, coordinator: FakeCoordinator
) -> None:
    """A coordinator may have looked at it before the question."""
    member, before = make(), monotonic()
    coordinator.answers_heartbeats.clear()
    member.ask_heartbeat()
    wait_until(lambda: heartbeats(coordinator) == 1, SECONDS, "a heartbeat")
    later = monotonic()
    for _ in range(BUNDLES):
        member.ask_heartbeat()
    last = monotonic()
    coordinator.answers_heartbeats.set()
    wait_until(lambda: member.confirmed_after(later), SECONDS, "the next heartbeat")
    assert member.confirmed_after(before) and member.confirmed_after(last)
    member.committed(ALL, SECONDS)  # behind all of these orders
    assert heartbeats(coordinator) == 2


@pytest.mark.parametrize("code", [COORDINATOR_LOADS, None], ids=["its coordinator moves", "the connection breaks"])
def test_a_heartbeat_that_fails_confirms_nothing(make: Make, coordinator: FakeCoordinator, code: int | None) -> None:
    member, before = make(), monotonic()
    coordinator.heartbeat_errors += [code]
    coordinator.answers_heartbeats.clear()
    member.ask_heartbeat()
    wait_until(lambda: heartbeats(coordinator) == 1, SECONDS, "a heartbeat")
    assert not member.confirmed_after(before)
    coordinator.answers_heartbeats.set()
    wait_until(lambda: member.confirmed_after(before), SECONDS, "the next one")
    assert heartbeats(coordinator) == 2


def test_a_group_that_rebalances_confirms_nothing_and_its_next_generation_begins_without(
    make: Make, coordinator: FakeCoordinator, listener: Listener
) -> None:
    member, before = make(), monotonic()
    member.ask_heartbeat()
    wait_until(lambda: member.confirmed_after(before), SECONDS, "a heartbeat")
    coordinator.heartbeat_errors += [REBALANCE_IN_PROGRESS]
    during = monotonic()
    member.ask_heartbeat()
    member.committed(ALL, SECONDS)  # behind the heartbeat
    assert heartbeats(coordinator) == 2
    assert not member.confirmed_after(during)
    wait_until(lambda: polled(member) and len(listener.heard) == 3, SECONDS, "the next generation")
    assert listener.heard == ["assigned", "revoked", "assigned"]
    assert not member.confirmed_after(before), "that was the first generation"
    member.ask_heartbeat()
    wait_until(lambda: member.confirmed_after(during), SECONDS, "a heartbeat of the second")
    assert heartbeats(coordinator) == 3


def test_commits_carry_the_metadata_and_are_read_with_it(make: Make, listener: Listener) -> None:
    member = make(commit_metadata="exactly-once:positions")
    first = TopicPartition(TOPIC, 0)
    member.commit({first: 7})
    wait_until(lambda: polled(member) and listener.settled, SECONDS, "the outcome")
    assert listener.settled == [{first: 7}]
    assert member.committed(ALL, SECONDS) == {first: CommittedOffset(7, "exactly-once:positions")}


def test_other_members_commit_without_metadata(make: Make) -> None:
    member = make()
    member.commit({TopicPartition(TOPIC, 0): 7})
    assert member.committed(ALL, SECONDS) == {TopicPartition(TOPIC, 0): CommittedOffset(7, "")}


def test_a_member_says_what_it_has_when_it_joins_again(
    make: Make, coordinator: FakeCoordinator, listener: Listener
) -> None:
    member = make(sharing=bundles())
    coordinator.heartbeat_errors += [REBALANCE_IN_PROGRESS]
    member.ask_heartbeat()
    wait_until(lambda: polled(member) and len(listener.heard) == 3, SECONDS, "the next generation")
    held = sorted(bundle_of(partition, BUNDLES) for partition in ALL)
    (first, second) = (request.protocols for request in coordinator.asked_for(JoinGroupRequest))
    assert [(each.name, user_data(each)) for each in (*first, *second)] == [
        (PROTOCOL, subscription_data(BUNDLES, -1, ())),
        (PROTOCOL, subscription_data(BUNDLES, 1, held)),
    ]


def user_data(protocol: Any) -> bytes:
    return bytes(ConsumerProtocolSubscription.decode(bytes(protocol.metadata)).user_data)


def group(state: str, protocol: str, error: int = 0) -> Any:
    row = DescribeGroupsResponse.DescribedGroup
    members = [row.DescribedGroupMember(member_id="m", client_id="legacy", client_host="/10.0.0.1")]
    return row(group_id="g", group_state=state, protocol_data=protocol, members=members, error_code=error)


THEIRS, JOINING = group("Stable", "range"), group("PreparingRebalance", "")


def refusal(member: NativeMember) -> str:
    with pytest.raises(StreamFailure) as found:
        wait_until(lambda: not polled(member), SECONDS, "the refusal")
    return str(found.value)


def test_a_group_in_another_mode_is_seen_before_joining(make: Make, coordinator: FakeCoordinator) -> None:
    coordinator.described += [group("", "", COORDINATOR_LOADS), THEIRS]
    assert "that do not copy exactly once (protocol range): legacy on 10.0.0.1;" in refusal(
        make(joins=False, sharing=bundles())
    )
    assert coordinator.asked_for(JoinGroupRequest) == []


def test_a_group_that_refuses_this_protocol_is_asked_until_it_names_its_own(
    make: Make, coordinator: FakeCoordinator, trouble: list[str]
) -> None:
    """While members join nobody can say by which protocol."""
    coordinator.join_errors += [INCONSISTENT] * 2
    coordinator.described += [JOINING, JOINING, JOINING, THEIRS]
    assert "legacy on 10.0.0.1" in refusal(make(joins=False, sharing=bundles()))
    assert len(trouble) == 1 and trouble[0].startswith("INCONSISTENT_GROUP_PROTOCOL")


def test_a_group_whose_other_members_have_gone_is_joined(make: Make, coordinator: FakeCoordinator) -> None:
    coordinator.join_errors += [INCONSISTENT]
    make(sharing=bundles())
    assert coordinator.generation == 1


def test_a_member_that_shares_by_assignors_does_not_look(make: Make, coordinator: FakeCoordinator) -> None:
    coordinator.join_errors += [INCONSISTENT]
    assert refusal(make(joins=False)).startswith("the group refuses this member: INCONSISTENT_GROUP_PROTOCOL")
    assert coordinator.asked_for(DescribeGroupsRequest) == []


def left(coordinator: FakeCoordinator) -> list[str]:
    return [request.member_id for request in coordinator.asked_for(LeaveGroupRequest)]


def refuse(member: NativeMember, coordinator: FakeCoordinator) -> None:
    """Let the coordinator refuse a member that has joined."""
    coordinator.heartbeat_errors += [FORBIDDEN]
    member.ask_heartbeat()
    wait_until(lambda: bool(heartbeats(coordinator)), SECONDS, "a heartbeat")
    told = refusal(member)
    assert "GROUP_AUTHORIZATION_FAILED" in told
    assert "needs the right Read on group " in told and "kafka-acls.sh --add" in told


def test_a_member_that_is_refused_leaves_when_its_stream_is_over(
    make: Make, coordinator: FakeCoordinator, listener: Listener
) -> None:
    """Others need not wait until its session is over; before, it may still copy."""
    member = make(sharing=bundles())
    refuse(member, coordinator)
    assert left(coordinator) == []
    member.close()
    assert (left(coordinator), listener.heard) == ([MEMBER], ["assigned", "revoked"])


def test_a_static_member_that_is_refused_does_not_leave(make: Make, coordinator: FakeCoordinator) -> None:
    """As in Java: it may come back before its session is over."""
    member = make(properties=PROPERTIES | {"group.instance.id": "one"})
    refuse(member, coordinator)
    member.close()
    assert left(coordinator) == []


def test_a_member_that_never_joined_has_nothing_to_leave(make: Make, coordinator: FakeCoordinator) -> None:
    coordinator.described += [THEIRS]
    member = make(joins=False, sharing=bundles())
    assert "legacy on 10.0.0.1" in refusal(member)
    member.close()
    assert left(coordinator) == []
