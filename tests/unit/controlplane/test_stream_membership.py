"""What a stream says of its place in the group, to the log, to the metrics and to the user's listener."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest

from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.group.member import Member
from legacy_mm.controlplane.stream_membership import StreamMembership
from legacy_mm.metrics.registry import Registry, Scope

P, Q = (TopicPartition("orders", number) for number in range(2))
NOBODY: Any = None
OF_STREAM = Scope("consumer", (("client_id", "g-0"),))


@pytest.fixture
def registry() -> Registry:
    return Registry("a->b", "p", {})


@pytest.fixture
def member() -> Mock:
    return Mock(Member)


@pytest.fixture
def membership(registry: Registry, member: Mock) -> StreamMembership:
    member.name = "g-0"
    joined = StreamMembership(3, lambda listener: member, "orders|payments", registry.stream(0, "g-0"))
    joined.join(NOBODY)
    return joined


def test_the_pattern_is_told_with_the_first_topics(
    membership: StreamMembership, member: Mock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "legacy_mm")
    for topics in (frozenset({"orders"}), frozenset({"orders", "payments"})):
        membership.subscribe(topics)
    assert [call.args[0] for call in member.subscribe.mock_calls] == [{"orders"}, {"orders", "payments"}]
    (line,) = caplog.messages
    assert "orders|payments" in line


def test_without_a_topic_it_is_outside_the_group_until_it_is_assigned_something(
    membership: StreamMembership, registry: Registry
) -> None:
    membership.assigned(frozenset({P}))
    assert registry.without_assignment() == frozenset()
    membership.subscribe(frozenset())
    assert registry.without_assignment() == {"g-0"}


def test_it_owns_what_was_assigned_and_not_released(membership: StreamMembership, registry: Registry) -> None:
    generations = [membership.generation]
    membership.assigned(frozenset({P}))
    membership.assigned(frozenset({Q}))
    generations.append(membership.generation)
    membership.released(frozenset({P}))
    generations.append(membership.generation)
    assert (membership.owned, generations) == (frozenset({Q}), [0, 2, 3])
    assert registry.snapshot().readings[OF_STREAM]["assigned"].value == 1


def test_all_is_lost_where_the_group_names_nothing(
    membership: StreamMembership, caplog: pytest.LogCaptureFixture
) -> None:
    membership.assigned(frozenset({P, Q}))
    assert membership.lost(frozenset({P})) == {P}
    assert membership.lost(frozenset()) == {P, Q}
    membership.released(frozenset({P, Q}))
    caplog.clear()
    assert membership.lost(frozenset()) == frozenset()
    assert caplog.messages == []


def test_a_commit_is_counted_when_its_outcome_comes(
    membership: StreamMembership, member: Mock, registry: Registry
) -> None:
    membership.commit({P: 5})
    assert member.commit.mock_calls[0].args == ({P: 5},)
    assert "commits" not in registry.snapshot().readings[OF_STREAM]
    membership.commit_settled()
    assert registry.snapshot().readings[OF_STREAM]["commits"].value == 1


def test_it_leaves_once(membership: StreamMembership, member: Mock) -> None:
    membership.leave()
    membership.leave()
    assert member.close.call_count == 1


def test_the_listener_hears_of_an_assignment_before_it_is_revoked(registry: Registry) -> None:
    """Also where no copy job was started in between."""
    listener = Mock()
    membership = StreamMembership(3, lambda _: NOBODY, "orders", registry.stream(0, "g-0"), listener)
    membership.assigned(frozenset({P}))
    membership.tell_assigned()
    membership.assigned(frozenset({Q}))
    membership.revoked(frozenset({P, Q}))
    assert [(each[0], each[1][0]) for each in listener.mock_calls] == [
        ("assigned", {P}),
        ("assigned", {Q}),
        ("revoked", {P, Q}),
    ]
