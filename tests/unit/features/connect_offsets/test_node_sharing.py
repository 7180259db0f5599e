"""Nodes of one flow tell each other whether their files agree."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

import pytest
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.model import GroupMember
from legacy_mm.clients.group.group_protocol import GroupDescription, MemberShare, Subscription
from legacy_mm.clients.group.sharing import BUNDLES_PROTOCOL
from legacy_mm.features.connect_offsets.node_sharing import PROTOCOL, ByNodes
from legacy_mm.policies.assignors import Subscriber
from legacy_mm.transactions.bundle import BUNDLES
from legacy_mm.transactions.bundle_sharing import ByBundles

COUNTS = {"orders": 4, "audit": 1}
MEMBERS = (GroupMember("mm", "/10.0.0.1"),)
OTHERWISE = "another node of group A-mm2 names copies in another way"


def node(names: str = "names", topics: str = "topics") -> ByNodes:
    return ByNodes("A-mm2", names, topics, "mm")


def exact_node(names: str = "names", topics: str = "topics") -> ByNodes:
    return ByNodes("A-mm2", names, topics, "mm", ByBundles(BUNDLES, "mm"))


def node_of(flow: str, names: str = "names", topics: str = "topics") -> ByNodes:
    return ByNodes("connect", names, topics, "mm", flow=flow)


def shares(nodes: Mapping[str, ByNodes], wanted: Mapping[str, frozenset[str]] = {}) -> dict[str, MemberShare]:
    """What the first one shares out."""
    every = frozenset(COUNTS)
    members = [
        Subscription(Subscriber(name, None, wanted.get(name, every)), it.user_data({})) for name, it in nodes.items()
    ]
    return next(iter(nodes.values())).shares(PROTOCOL, members, COUNTS)


def metadata(it: ByNodes) -> bytes:
    encoded: bytes = ConsumerProtocolSubscription(version=0, topics=["orders"], user_data=it.user_data({})).encode()
    return encoded


def test_nodes_of_one_file_share_all(caplog: pytest.LogCaptureFixture) -> None:
    nodes = {"a": node(), "b": node()}
    found = shares(nodes)
    for name, it in nodes.items():
        it.take(1, found[name])
    assert sorted(len(share.partitions) for share in found.values()) == [2, 3]
    assert caplog.messages == []


def test_a_node_gets_no_partition_of_a_topic_that_it_does_not_want(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    nodes = {"a": node(), "b": node(topics="others")}
    found = shares(nodes, {"b": frozenset({"orders"})})
    assert {place.topic for place in found["b"].partitions} == {"orders"}
    assert sum(len(share.partitions) for share in found.values()) == 5
    for _ in range(2):
        nodes["b"].take(1, found["b"])
    assert caplog.messages == [
        "[mm] the nodes of group A-mm2 have files that choose different topics: each copies those of its own file"
    ]


def test_a_node_that_names_copies_otherwise_gets_nothing() -> None:
    nodes = {"a": node(), "b": node(names="others")}
    found = shares(nodes)
    nodes["a"].take(1, found["a"])
    assert (len(found["a"].partitions), len(found["b"].partitions)) == (5, 0)
    with pytest.raises(StreamFailure, match=OTHERWISE):
        nodes["b"].take(1, found["b"])


def test_nodes_that_copy_exactly_once_share_whole_bundles_and_keep_them() -> None:
    nodes = {"a": exact_node(), "b": exact_node()}
    before = shares(nodes)
    for name, it in nodes.items():
        it.take(1, before[name])
    assert sum(len(share.partitions) for share in before.values()) == 5
    assert {name: sorted(share.partitions) for name, share in shares(nodes).items()} == {
        name: sorted(share.partitions) for name, share in before.items()
    }


def test_a_node_that_copies_exactly_once_under_other_names_gets_nothing() -> None:
    nodes = {"a": exact_node(), "b": exact_node(names="others")}
    found = shares(nodes)
    nodes["a"].take(1, found["a"])
    assert (len(found["a"].partitions), len(found["b"].partitions)) == (5, 0)
    with pytest.raises(StreamFailure, match=OTHERWISE):
        nodes["b"].take(1, found["b"])


def test_exactly_once_copies_what_all_nodes_choose(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    nodes = {"a": exact_node(), "b": exact_node(topics="others")}
    found = shares(nodes, {"b": frozenset({"orders"})})
    nodes["b"].take(1, found["b"])
    assert {place.topic for share in found.values() for place in share.partitions} == {"orders"}
    assert caplog.messages == [
        "[mm] Not all members of the group want these topics, so nobody copies them until all do: audit",
        "[mm] the nodes of group A-mm2 have files that choose different topics: those that not all of them choose are "
        "not copied",
    ]


def said(member: str, it: ByNodes, counts: Mapping[str, int]) -> Subscription:
    return Subscription(Subscriber(member, None, frozenset(counts)), it.user_data(counts))


def test_flows_of_one_worker_share_out_what_each_has_at_its_source() -> None:
    """`orders` has 4 partitions at the first source and 6 at the second; the leader is of the first flow."""
    leader, neighbour = node_of("west"), node_of("west")
    other, grown = node_of("north", names="others"), node_of("north", names="others")
    members = [
        said("b", leader, {"orders": 4}),
        said("c", other, {"orders": 3, "audit": 1}),
        said("a", neighbour, {"orders": 4}),
        said("d", grown, {"orders": 6, "audit": 1}),
    ]
    found = leader.shares(PROTOCOL, members, {"orders": 4})
    west = [*found["a"].partitions, *found["b"].partitions]
    north = [*found["c"].partitions, *found["d"].partitions]
    assert sorted(west) == [("orders", number) for number in range(4)]
    assert sorted(north) == [("audit", 0), *(("orders", number) for number in range(6))]
    for name, it in {"a": neighbour, "b": leader, "c": other, "d": grown}.items():
        assert found[name].partitions
        it.take(1, found[name])


def test_a_node_of_another_flow_that_names_copies_otherwise_gets_nothing_whoever_leads() -> None:
    leader, first, second = node_of("west"), node_of("north"), node_of("north", names="others")
    members = [said("l", leader, {}), said("b", second, {"orders": 4}), said("a", first, {"orders": 4})]
    found = leader.shares(PROTOCOL, members, {})
    first.take(1, found["a"])
    assert (len(found["a"].partitions), len(found["b"].partitions)) == (4, 0)
    with pytest.raises(StreamFailure, match="another node of group connect names copies in another way"):
        second.take(1, found["b"])


def test_nodes_that_want_other_topics_are_those_of_one_flow(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "legacy_mm")
    leader, other = node_of("west"), node_of("north", topics="others")
    found = leader.shares(PROTOCOL, [said("a", leader, {"orders": 1}), said("b", other, {"audit": 1})], {"orders": 1})
    other.take(1, found["b"])
    assert caplog.messages == []


def test_a_group_of_several_flows_may_be_joined_and_has_nodes_of_those_that_are_there() -> None:
    there = node_of("west", names="others")
    wanted = ConsumerProtocolSubscription(version=0, topics=["orders"], user_data=there.user_data({"orders": 1}))
    found = GroupDescription(PROTOCOL, MEMBERS, (wanted.encode(),))
    assert [node_of(flow).doubt("g", found) == "" for flow in ("west", "north")] == [False, True]
    assert [node_of(flow).has_nodes(found) for flow in ("west", "north")] == [True, False]
    joining, strange = GroupDescription("", MEMBERS), GroupDescription("sessioned", MEMBERS, (b"",))
    assert node_of("north").has_nodes(joining) and node_of("north").has_nodes(strange)
    assert not node_of("north").has_nodes(GroupDescription("", ()))


@pytest.mark.parametrize("protocol", [PROTOCOL, BUNDLES_PROTOCOL])
def test_nodes_of_another_flow_are_known_whichever_way_they_copy(protocol: str) -> None:
    """Whoever resets a flow asks without bundles."""
    there = node_of("west")
    wanted = ConsumerProtocolSubscription(version=0, topics=["orders"], user_data=there.user_data({"orders": 1}))
    found = GroupDescription(protocol, MEMBERS, (wanted.encode(),))
    assert [node_of(flow).has_nodes(found) for flow in ("west", "north")] == [True, False]


KIND = "group g at the target has members of another kind"


@pytest.mark.parametrize(
    ("own", "protocol", "why"),
    [
        (node, BUNDLES_PROTOCOL, f"{KIND} (protocol legacy-mm-bundles), nodes of this flow that copy exactly once: mm"),
        (exact_node, PROTOCOL, f"{KIND} (protocol legacy_mm), nodes of this flow that do not copy exactly once: mm on"),
        (exact_node, "sessioned", f"{KIND} (protocol sessioned), such as workers of MirrorMaker 2: mm on 10.0.0.1; st"),
        (exact_node, BUNDLES_PROTOCOL, ""),
    ],
)
def test_exactly_once_and_other_modes_keep_apart(own: Callable[[], ByNodes], protocol: str, why: str) -> None:
    told = (metadata(own()),) if not why else ()
    assert own().doubt("g", GroupDescription(protocol, MEMBERS, told))[: len(why) or None] == why


@pytest.mark.parametrize(
    ("protocol", "metadata_of", "why"),
    [
        ("", (), ""),
        (PROTOCOL, (node(),), ""),
        (PROTOCOL, (node(topics="others"),), ""),
        (PROTOCOL, (node(), node(names="others")), OTHERWISE),
        ("sessioned", (), "group g at the target has members of another kind (protocol sessioned), such as workers"),
    ],
    ids=["they join", "the same file", "other topics", "other names", "MirrorMaker 2"],
)
def test_who_may_join(protocol: str, metadata_of: tuple[ByNodes, ...], why: str) -> None:
    found = GroupDescription(protocol, MEMBERS, tuple(map(metadata, metadata_of)))
    assert node().doubt("g", found)[: len(why) or None] == why


def test_the_metadata_of_workers_are_not_read() -> None:
    found = GroupDescription("sessioned", MEMBERS, (b"\x00\x02 something of Connect",))
    assert "mm on 10.0.0.1" in node().doubt("g", found)
