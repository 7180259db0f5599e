"""Members that share whole bundles on real coordinators, and consumers of other kinds in their group."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from typing import Any

import pytest
from typing_extensions import override

from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.audit.spawn import die_with_parent
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.kafka_clients import ConsumerSettings
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.group.group_protocol import GroupDescription
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.clients.group.member import MembershipListener
from legacy_mm.clients.group.membership import NativeMember
from legacy_mm.clients.librdkafka.membership import LibrdkafkaMember
from legacy_mm.transactions.bundle import BUNDLES, bundle_of
from legacy_mm.transactions.bundle_sharing import ByBundles
from legacy_mm.transactions.evidence import mark
from tests.fixtures import client_settings
from tests.fixtures.memberships import SECONDS, Membership

pytestmark = pytest.mark.brokers
PARTITIONS = 3 * BUNDLES
MARK = mark("positions")
ON_CURRENT = pytest.mark.parametrize("bootstrap", ["source"], indirect=True)
"""3.9 has coordinators that share out by themselves only if it is told to."""


@pytest.fixture(params=["source", pytest.param("source_39", marks=pytest.mark.slow)])
def bootstrap(request: pytest.FixtureRequest) -> str:
    """Coordinators of today, and those of the last release that had the legacy tool."""
    found: str = request.getfixturevalue(request.param).bootstrap
    return found


@pytest.fixture
def name(bootstrap: str, topic: Callable[..., str]) -> str:
    found = topic()
    create_topic(bootstrap, found, partitions=PARTITIONS)
    return found


def properties_of(bootstrap: str, group: str) -> dict[str, str]:
    brief = {"heartbeat.interval.ms": "200", "session.timeout.ms": "6000"}
    return {"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": "false", **brief}


def by_bundles(settings: ConsumerSettings, client: str, listener: MembershipListener, statistics: Any) -> NativeMember:
    sharing = ByBundles(BUNDLES, client)
    return NativeMember(settings, client, listener, statistics, print, SECONDS, sharing, MARK)


Join = Callable[..., Membership]


@pytest.fixture
def join(bootstrap: str, group: str, name: str) -> Iterator[Join]:
    """Makes members of one group: `join()` by bundles, `join(sharing="range")` and `join(sharing="consumer")` not."""
    numbers = count(1)

    def made(*, sharing: str = "bundles", topics: set[str] | None = None, **more: str) -> Membership:
        properties = properties_of(bootstrap, group) | {each.replace("_", "."): text for each, text in more.items()}
        if sharing == "range":
            properties |= {"partition.assignment.strategy": "range"}
        elif sharing == "consumer":
            properties |= {"group.protocol": "consumer"}
            del properties["heartbeat.interval.ms"], properties["session.timeout.ms"]
        client = f"{sharing}-{next(numbers)}"
        make = by_bundles if sharing == "bundles" else LibrdkafkaMember
        member = Membership(
            lambda listener: make(client_settings.read_consumer(properties), client, listener, print), topics or {name}
        )
        return stack.enter_context(closing(member))

    with ExitStack() as stack:
        yield made


def bundles_of(*members: Membership) -> list[set[int]]:
    """The bundles of each, once all partitions have an owner and none has two; empty before."""
    for member in members:
        assert member.failure is None, member.failure
    owned = [partition for member in members for partition in member.owned]
    if len(owned) != PARTITIONS or len(set(owned)) != PARTITIONS:
        return []
    return [{bundle_of(each, BUNDLES) for each in member.owned} for member in members]


def shared(*members: Membership) -> list[set[int]]:
    """The bundles of each, whole and of equal numbers, once they are shared out."""

    def equal() -> bool:
        found = bundles_of(*members)
        return {len(each) for each in found} == {BUNDLES // len(members)}

    wait_until(equal, SECONDS, f"{len(members)} to have an equal share")
    found = bundles_of(*members)
    assert len(set().union(*found)) == sum(map(len, found)), "a bundle has one owner"
    return found


def refusal(member: Membership) -> str:
    wait_until(lambda: member.failure, SECONDS, "the refusal")
    assert isinstance(member.failure, StreamFailure)
    return str(member.failure)


def test_bundles_stay_where_they_are_as_far_as_members_come_and_go(join: Join) -> None:
    """So each leader has read what each member said that it has."""
    first = join()
    shared(first)
    second = join()
    of_first, of_second = shared(first, second)
    third = join()
    smaller_first, smaller_second, of_third = shared(first, second, third)
    assert smaller_first < of_first and smaller_second < of_second
    first.close()
    larger_second, larger_third = shared(second, third)
    assert smaller_second < larger_second and of_third < larger_third


def be_a_member(bootstrap: str, group: str, name: str) -> None:
    """Be one in a process of its own, until it is killed."""
    die_with_parent()
    settings = client_settings.read_consumer(properties_of(bootstrap, group))
    Membership(lambda listener: by_bundles(settings, "killed", listener, print), {name}).join()


def test_the_bundles_of_a_killed_member_find_another_owner(join: Join, bootstrap: str, group: str, name: str) -> None:
    first = join()
    shared(first)
    other = multiprocessing.get_context("spawn").Process(target=be_a_member, args=(bootstrap, group, name))
    other.start()
    wait_until(lambda: len(first.owned) == PARTITIONS / 2, SECONDS, "a half to go")
    kept = first.owned
    other.kill()
    other.join(SECONDS)
    shared(first)
    assert kept < first.owned


def test_a_static_member_that_comes_back_finds_its_bundles_and_says_them_later(join: Join) -> None:
    """Its coordinator kept what the leader wrote to it."""
    first, second = join(group_instance_id="a", session_timeout_ms="20000"), join(group_instance_id="b")
    of_first, of_second = shared(first, second)
    calm = list(second.heard)
    first.close()
    again = join(group_instance_id="a", session_timeout_ms="20000")
    assert shared(again, second) == [of_first, of_second]
    assert second.heard == calm
    smaller_first, smaller_second, _ = shared(again, second, join())
    assert smaller_first < of_first and smaller_second < of_second


def test_a_topic_that_not_all_want_waits(join: Join, bootstrap: str, name: str) -> None:
    more = f"{name}-more"
    create_topic(bootstrap, more, partitions=BUNDLES)
    first, second = join(topics={name, more}), join()
    shared(first, second)
    second.order(lambda member: member.subscribe({name, more}))
    wait_until(lambda: len(first.owned | second.owned) == PARTITIONS + BUNDLES, SECONDS, "the other topic")
    assert first.failure is None and second.failure is None


def test_a_consumer_that_comes_second_is_refused(join: Join) -> None:
    first = join()
    shared(first)
    calm = list(first.heard)
    assert "inconsistent group protocol" in refusal(join(sharing="range")).lower()
    assert first.heard == calm and bundles_of(first)


def test_a_group_of_consumers_is_not_joined_and_its_hosts_are_named(join: Join, group: str) -> None:
    other = join(sharing="range")
    wait_until(lambda: len(other.owned) == PARTITIONS, SECONDS, "all partitions")
    assert refusal(join()) == (
        f"group {group} has members that do not copy exactly once (protocol range): range-1 on 127.0.0.1; "
        "stop them, each with TERM so that it commits what it has copied, then start again"
    )
    assert len(other.owned) == PARTITIONS and other.failure is None


class Hasty(ByBundles):
    """Looks at the group a moment before its members come."""

    inspections = 0

    @override
    def doubt(self, group: str, found: GroupDescription) -> str:
        self.inspections += 1
        return super().doubt(group, found) if self.inspections > 1 else ""


def test_a_member_that_looks_too_early_is_refused_and_looks_again(
    join: Join, bootstrap: str, group: str, name: str
) -> None:
    other = join(sharing="range")
    wait_until(lambda: len(other.owned) == PARTITIONS, SECONDS, "all partitions")
    settings, sharing = client_settings.read_consumer(properties_of(bootstrap, group)), Hasty(BUNDLES, "hasty")
    make = lambda listener: NativeMember(settings, "hasty", listener, print, print, SECONDS, sharing)  # noqa: E731
    with closing(Membership(make, {name})) as hasty:
        assert "range-1 on 127.0.0.1" in refusal(hasty)
    assert sharing.inspections == 2


@ON_CURRENT
def test_a_consumer_of_kip_848_that_comes_second_is_refused(join: Join) -> None:
    """A coordinator since 4.0 takes no group over whose members have user data."""
    first = join()
    shared(first)
    calm = list(first.heard)
    assert "group id does not exist" in refusal(join(sharing="consumer"))
    assert first.heard == calm and bundles_of(first)


@ON_CURRENT
def test_a_group_of_kip_848_is_not_joined(join: Join) -> None:
    """Its coordinator lets the member in, and shares out by itself."""
    other = join(sharing="consumer")
    wait_until(lambda: len(other.owned) == PARTITIONS, SECONDS, "all partitions")
    assert "the group does not share out whole bundles" in refusal(join())


def test_commits_are_marked_and_read_with_their_mark(join: Join, name: str) -> None:
    first, place = join(), TopicPartition(name, 0)
    shared(first)
    first.order(lambda member: member.commit({place: 7}))
    wait_until(lambda: first.settled, SECONDS, "the outcome")
    others = join()
    shared(first, others)
    wanted = [place, TopicPartition(name, 1)]
    assert others.ask(lambda member: member.committed(wanted, SECONDS)) == {place: CommittedOffset(7, MARK)}


def test_a_heartbeat_comes_when_it_is_asked_for(join: Join, bootstrap: str, group: str) -> None:
    admin = GroupAdmin("source", client_settings.read_connection({"bootstrap.servers": bootstrap}))
    first = join(heartbeat_interval_ms="600000", session_timeout_ms="1800000")
    shared(first)
    before = monotonic()
    assert not first.ask(lambda member: member.confirmed_after(before))
    first.ask(lambda member: member.ask_heartbeat())
    wait_until(lambda: first.ask(lambda member: member.confirmed_after(before)), SECONDS, "the heartbeat")
    join()
    rebalances = {group: "PreparingRebalance"}
    wait_until(lambda: admin.states([group], Deadline.after(SECONDS))[0] == rebalances, SECONDS, "another to join")
    first.ask(lambda member: member.ask_heartbeat())
    wait_until(lambda: first.heard[-1][0] == "assigned" and len(first.heard) == 3, SECONDS, "the next generation")
    assert not first.ask(lambda member: member.confirmed_after(before))
