"""The membership over our own sockets on real coordinators, alone and beside librdkafka's members of the same group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import pytest
from kafka.protocol.consumer import LeaveGroupRequest

from compat.laboratory.proxy import Proxy
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, grow_topic
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import EARLIEST, CommittedOffset, TopicPartition
from legacy_mm.clients.admin.inspector import NativeInspector, NativeTopicLister, log_ends
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.cluster.coordinator import Coordinator
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.clients.group.member import Member, MembershipListener
from legacy_mm.clients.group.membership import NativeMember
from legacy_mm.clients.librdkafka.membership import LibrdkafkaMember
from legacy_mm.controlplane.group_start import GroupStart
from legacy_mm.controlplane.positions import CommittedPositions, GapGuard, of_group
from legacy_mm.flow.position_book import GroupBook
from tests.fixtures import client_settings
from tests.fixtures.memberships import Membership

pytestmark = pytest.mark.brokers
SECONDS = 30.0
PARTITIONS = 4


Join = Callable[..., Membership]


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


@pytest.fixture
def join(bootstrap: str, group: str, name: str) -> Iterator[Join]:
    """Makes members of one group that want one topic: `join()`, `join(native=True, group_instance_id="a")`."""
    common = {"bootstrap.servers": bootstrap, "group.id": group, "heartbeat.interval.ms": "200"}

    def made(*, native: bool = False, topics: set[str] | None = None, **more: str) -> Membership:
        properties = {**common, "enable.auto.commit": "false", "session.timeout.ms": "20000"}
        properties |= {each.replace("_", "."): text for each, text in more.items()}
        if native:
            make: Callable[[MembershipListener], Member] = lambda listener: LibrdkafkaMember(  # noqa: E731
                client_settings.read_consumer(properties), "native", listener, lambda _: None
            )
        else:
            make = lambda listener: NativeMember(  # noqa: E731
                client_settings.read_consumer(properties), "wire", listener, lambda _: None, print, SECONDS
            )
        return stack.enter_context(closing(Membership(make, topics or {name})))

    with ExitStack() as stack:
        yield made


def shares(*members: Membership) -> list[int]:
    """How many partitions each has, once they have all of them."""
    for member in members:
        assert member.failure is None, member.failure
    owned = [len(member.owned) for member in members]
    together: frozenset[TopicPartition] = frozenset().union(*(member.owned for member in members))
    return owned if sum(owned) == len(together) == PARTITIONS else []


@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
@pytest.mark.parametrize("leader", ["wire", "native"])
def test_partitions_are_shared_with_librdkafka_whoever_leads(join: Join, strategy: str, leader: str) -> None:
    words = {"partition_assignment_strategy": strategy}
    first = join(native=leader == "native", **words)
    wait_until(lambda: shares(first) == [4], SECONDS, "the first to have all")
    second = join(native=leader != "native", **words)
    wait_until(lambda: shares(first, second) == [2, 2], SECONDS, "both to have half")
    assert [what for what, _ in first.heard] == ["assigned", "revoked", "assigned"]
    second.close()
    wait_until(lambda: shares(first) == [4], SECONDS, "the first to have all again")


def test_what_is_committed_while_partitions_go_is_seen_by_their_next_owner(
    join: Join, bootstrap: str, group: str, name: str
) -> None:
    first = join()
    wait_until(lambda: shares(first) == [4], SECONDS, "the first to have all")
    first.at_revoke = {TopicPartition(name, number): 7 for number in range(PARTITIONS)}
    second = join()
    wait_until(lambda: shares(first, second) == [2, 2], SECONDS, "both to have half")
    found = second.ask(lambda member: member.committed(second.owned, SECONDS))
    assert found == dict.fromkeys(second.owned, CommittedOffset(7))
    wait_until(lambda: first.settled, SECONDS, "the outcome")
    assert first.settled == [(first.at_revoke, {})]
    assert committed(bootstrap, group, [name]) == {(name, number): 7 for number in range(PARTITIONS)}


@pytest.mark.slow
def test_heartbeats_go_on_while_the_member_stops_its_work(join: Join, name: str) -> None:
    """For longer than the session may be silent."""
    first = join(session_timeout_ms="6000")
    wait_until(lambda: shares(first) == [4], SECONDS, "the first to have all")
    first.during_revoke.clear()
    second = join()
    wait_until(lambda: first.heard[-1][0] == "revoked", SECONDS, "the revocation")
    session_over = Deadline.after(7.0)
    wait_until(session_over.expired, SECONDS, "the session to be over, were it silent")
    assert not second.owned
    first.during_revoke.set()
    wait_until(lambda: shares(first, second) == [2, 2], SECONDS, "both to have half")
    assert "lost" not in [what for what, _ in first.heard]


def test_a_static_member_that_comes_back_moves_nothing(join: Join) -> None:
    first, second = join(group_instance_id="a"), join(group_instance_id="b")
    wait_until(lambda: shares(first, second) == [2, 2], SECONDS, "both to have half")
    before, calm = first.owned, list(second.heard)
    first.close()
    again = join(group_instance_id="a")
    wait_until(lambda: again.owned == before, SECONDS, "its partitions")
    assert second.heard == calm


@pytest.mark.parametrize("native", [False, True], ids=["own sockets", "librdkafka"])
def test_a_member_whose_session_the_group_does_not_allow_ends(join: Join, *, native: bool) -> None:
    """As Java's. Brokers allow 6 s to 30 minutes, unless they are told otherwise."""
    member = join(native=native, session_timeout_ms="1000")
    wait_until(lambda: member.failure, SECONDS, "the refusal")
    assert isinstance(member.failure, StreamFailure)
    assert "session timeout" in str(member.failure).lower()


def test_a_static_member_that_somebody_else_pretends_to_be_ends(join: Join) -> None:
    first = join(group_instance_id="a")
    wait_until(lambda: shares(first) == [4], SECONDS, "all partitions")
    second = join(group_instance_id="a")
    wait_until(lambda: first.failure, SECONDS, "the first to end")
    assert isinstance(first.failure, StreamFailure)
    assert "FENCED_INSTANCE_ID" in str(first.failure)
    wait_until(lambda: shares(second) == [4], SECONDS, "the second to have all")


def test_a_member_that_the_group_has_dropped_joins_again(join: Join, bootstrap: str, group: str) -> None:
    first = join()
    wait_until(lambda: shares(first) == [4], SECONDS, "all partitions")
    with closing(Cluster(client_settings.read_connection({"bootstrap.servers": bootstrap}), SECONDS)) as cluster:
        drop = LeaveGroupRequest.MemberIdentity(member_id=member_id(bootstrap, group), group_instance_id=None)
        coordinator = Coordinator(cluster, group)
        coordinator.call(LeaveGroupRequest(group_id=group, members=[drop], min_version=3), SECONDS)
        coordinator.forget()
    wait_until(lambda: len(first.heard) == 3 and shares(first) == [4], SECONDS, "all partitions again")
    assert [what for what, _ in first.heard] == ["assigned", "lost", "assigned"]


def member_id(bootstrap: str, group: str) -> str:
    """Of the only member."""
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": bootstrap})
    (member,) = admin.describe_consumer_groups([group])[group].result(SECONDS).members
    found: str = member.member_id
    return found


def test_partitions_and_topics_that_come_later(join: Join, bootstrap: str, name: str) -> None:
    """The leader shares out what has grown; a subscription that has grown is joined with."""
    first = join(topic_metadata_refresh_interval_ms="500")
    wait_until(lambda: len(first.owned) == PARTITIONS, SECONDS, "all partitions")
    grow_topic(bootstrap, name, PARTITIONS + 2)
    wait_until(lambda: len(first.owned) == PARTITIONS + 2, SECONDS, "the new partitions")
    create_topic(bootstrap, f"{name}-more", partitions=1)
    first.order(lambda member: member.subscribe({name, f"{name}-more"}))
    wait_until(lambda: len(first.owned) == PARTITIONS + 3, SECONDS, "the new topic")
    first.order(lambda member: member.subscribe(()))
    wait_until(lambda: not first.owned, SECONDS, "nothing")
    assert [what for what, _ in first.heard] == ["assigned", "revoked"] * 3


@pytest.mark.slow
def test_a_network_that_breaks(module_clusters: Callable[..., Any], topic: Callable[..., str], group: str) -> None:
    """Cut connections cost nothing. Of a coordinator that is silent for a session's time the partitions are lost."""
    proxies: list[Proxy] = []

    def advertise(port: int) -> tuple[str, int]:
        proxies.append(Proxy(port))
        return proxies[-1].address

    cluster = module_clusters(advertise=advertise)
    name = topic()
    create_topic(cluster.bootstrap, name, partitions=PARTITIONS)
    properties = {"bootstrap.servers": cluster.bootstrap_of("PROXIED"), "group.id": group}
    properties |= {"heartbeat.interval.ms": "100", "session.timeout.ms": "6000"}
    client = client_settings.read_consumer(properties)
    make = lambda listener: NativeMember(client, "wire", listener, lambda _: None, print, SECONDS)  # noqa: E731
    with closing(proxies[0]) as proxy, closing(Membership(make, {name})) as first:
        wait_until(lambda: shares(first) == [4], SECONDS, "all partitions")
        for number in range(1, 6):
            proxy.cut()
            first.order(lambda member, number=number: member.commit({TopicPartition(name, 0): number}))  # type: ignore[misc]
            wait_until(lambda count=number: len(first.settled) == count, SECONDS, "the outcome")  # type: ignore[misc]
        assert committed(cluster.bootstrap, group, [name]) == {(name, 0): 5}
        proxy.stall()
        wait_until(lambda: first.heard[-1][0] == "lost", SECONDS, "the loss")
        proxy.resume()
        wait_until(lambda: shares(first) == [4], SECONDS, "all partitions again")
        assert [what for what, _ in first.heard] == ["assigned", "lost", "assigned"]


@pytest.mark.parametrize("native", [False, True], ids=["wire", "native"])
def test_a_first_start_that_is_kept_is_where_members_begin(
    bootstrap: str, group: str, name: str, join: Join, native: bool
) -> None:
    """What is written between the start and the assignment is read, and a partition that comes later is, whole."""
    load(bootstrap, name, 100, 20, partitions=PARTITIONS)
    ends = {TopicPartition(name, number): end for number, end in end_offsets(bootstrap, name).items()}
    guard = GapGuard("latest", lambda _: None, lambda _: None, fail=False, set_position=of_group("mirror"))
    client = client_settings.read_consumer({"bootstrap.servers": bootstrap, "isolation.level": "read_uncommitted"})
    admin, log_ends_now = GroupAdmin("source", client.connection), partial(log_ends, client)
    GroupStart(GroupBook(group, admin), log_ends_now, guard, SECONDS).keep([name])
    load(bootstrap, name, 100, 20, partitions=PARTITIONS)
    member = join(native=native)
    wait_until(lambda: shares(member) == [4], SECONDS, "all partitions")
    positions, later = CommittedPositions(of_group("mirror"), "earliest", SECONDS), TopicPartition(name, PARTITIONS)
    assert member.ask(lambda client: positions.propose(client, [*ends, later])) == {**ends, later: EARLIEST}


@pytest.mark.parametrize("native", [False, True], ids=["wire", "native"])
def test_offsets_are_read_with_their_metadata(bootstrap: str, group: str, name: str, join: Join, native: bool) -> None:
    admin = GroupAdmin("source", client_settings.read_connection({"bootstrap.servers": bootstrap}))
    load(bootstrap, name, 100, 20, partitions=PARTITIONS)
    marked, plain, missing = (TopicPartition(name, number) for number in range(3))
    offsets = {marked: CommittedOffset(7, "exactly-once:positions"), plain: CommittedOffset(5)}
    assert admin.commit({group: offsets}, Deadline.after(SECONDS)) == {}
    member = join(native=native)
    found = member.ask(lambda client: client.committed([marked, plain, missing], SECONDS))
    if native:  # librdkafka copies the text without its end, so what lies behind it in memory may follow
        assert found[marked].metadata.startswith(offsets[marked].metadata)
        found[marked] = offsets[marked]
    assert found == offsets


def test_a_look_without_joining(bootstrap: str, group: str, name: str, join: Join) -> None:
    load(bootstrap, name, 100, 20, partitions=PARTITIONS)
    partitions = [TopicPartition(name, number) for number in range(PARTITIONS)]
    first = join()
    wait_until(lambda: shares(first) == [4], SECONDS, "all partitions")
    first.order(lambda member: member.commit({partitions[0]: 5}))
    wait_until(lambda: first.settled, SECONDS, "the outcome")
    inspector = NativeInspector(client_settings.read_connection({"bootstrap.servers": bootstrap}))
    assert inspector.partitions(Deadline.after(SECONDS))[name] == PARTITIONS
    views = inspector.views(group, partitions, Deadline.after(SECONDS))
    assert sum(view.high for view in views.values()) == 100
    assert [views[each].committed for each in partitions] == [5, None, None, None]
    lister = NativeTopicLister(client_settings.read_connection({"bootstrap.servers": bootstrap}), SECONDS)
    assert lister.topics()[name]
