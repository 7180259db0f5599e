"""Which groups read topics, as brokers list them; and how their offsets are committed."""

from __future__ import annotations

import itertools
import struct
import threading
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.protocol.admin import DescribeGroupsResponse, ListGroupsResponse

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.cluster.coordinator import Coordinator
from legacy_mm.clients.group import groups
from legacy_mm.clients.group.group_protocol import DescribedGroup
from legacy_mm.clients.group.groups import GroupAdmin, allowed_session, reads_topics
from legacy_mm.clients.net.login import BrokerVersions
from legacy_mm.protocol.error_codes import ErrorCode
from tests.fakes.cluster import GroupCluster
from tests.fakes.coordinator import FakeCoordinator
from tests.unit.clients.broker import Peer, response

SECONDS = 20.0
OFFSET_COMMIT = 8
DONE = struct.pack(">ii", 0, 0)  # no throttling, no topic with an error


@pytest.mark.parametrize(
    ("protocol", "kind", "reads"),
    [
        ("consumer", "classic", True),
        ("consumer", "Classic", True),
        ("consumer", "consumer", True),
        ("consumer", "", True),  # brokers of before 3.7 tell no kinds
        ("consumer", None, True),
        ("", "classic", True),  # commits, and has never had members
        ("connect", "classic", False),
        ("share", "share", False),
        ("consumer", "share", False),
        ("streams", "streams", False),
    ],
)
def test_what_is_a_consumer_group(protocol: str, kind: str | None, reads: bool) -> None:
    row = ListGroupsResponse.ListedGroup(group_id="g", protocol_type=protocol, group_type=kind)
    assert reads_topics(row) is reads


def test_commits_do_not_wait_for_one_another(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the distance to the coordinator decides how many groups get theirs; this one answers when it knows all."""
    peer.connection.knows(BrokerVersions({OFFSET_COMMIT: (7, 7)}))
    cluster = SimpleNamespace(connect=lambda node: peer.connection, close=lambda: None)
    monkeypatch.setattr(groups, "Cluster", lambda properties, timeout: cluster)
    monkeypatch.setattr(groups, "coordinators", lambda cluster, names: [(name, 0, 1) for name in names])
    offsets = {f"group-{number}": {TopicPartition("t", 0): CommittedOffset(number)} for number in range(3)}

    def answer() -> None:
        asked = b""
        while asked.count(b"group-") < len(offsets) and (more := peer.end.recv(1 << 16)):
            asked += more
        peer.answers(*(response(number, DONE) for number in (1, 2, 3)))

    broker = threading.Thread(target=answer)
    broker.start()
    with peer.connection.with_timeout(SECONDS):
        assert GroupAdmin("target", ConnectionSettings()).commit(offsets, Deadline.after(SECONDS)) == {}
    broker.join(SECONDS)


def describing(monkeypatch: pytest.MonkeyPatch, protocols: Iterator[str]) -> GroupAdmin:
    """Groups of a cluster whose one group has these protocols at the next questions; none while its member joins."""
    group = DescribeGroupsResponse.DescribedGroup
    member = group.DescribedGroupMember(member_id="m", client_id="mm", client_host="/10.0.0.1")

    def call(node: int, request: object) -> SimpleNamespace:
        return SimpleNamespace(groups=[group(group_id="g", protocol_data=next(protocols), members=[member])])

    metadata = SimpleNamespace(stale=lambda: None)
    cluster = SimpleNamespace(call=call, metadata=metadata, close=lambda: None)
    monkeypatch.setattr(groups, "Cluster", lambda properties, timeout: cluster)
    monkeypatch.setattr(groups, "coordinators", lambda cluster, names: [(name, 0, 1) for name in names])
    return GroupAdmin("target", ConnectionSettings())


def test_members_that_join_are_asked_when_they_have_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a node of another kind goes on, and makes topics of its own, while those that are there rebalance."""
    admin = describing(monkeypatch, iter(["", "", "sessioned"]))
    assert admin.doubt("g", lambda name, found: f"{name} has {found.protocol}", Deadline.after(SECONDS)) == (
        "g has sessioned"
    )


def test_members_that_never_finish_joining_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    admin = describing(monkeypatch, itertools.repeat(""))
    assert admin.doubt("g", lambda name, found: found.protocol, Deadline.after(0.5)) == ""


@pytest.mark.parametrize(("code", "state"), [(ErrorCode.NONE, "Stable"), (ErrorCode.GROUP_ID_NOT_FOUND, groups.DEAD)])
def test_a_group_with_the_shares_of_its_members(monkeypatch: pytest.MonkeyPatch, code: int, state: str) -> None:
    row = DescribeGroupsResponse.DescribedGroup(group_id="g", error_code=code, group_state="Stable", members=[])
    monkeypatch.setattr(groups, "_from_coordinators", partial(_answering, [row]))
    monkeypatch.setattr(groups, "Cluster", lambda properties, timeout: SimpleNamespace(close=lambda: None))
    admin = GroupAdmin("source", ConnectionSettings())
    assert admin.described("g", Deadline.after(SECONDS)) == DescribedGroup("g", state)


def test_a_group_that_may_not_be_described_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    code = ErrorCode.GROUP_AUTHORIZATION_FAILED
    row = DescribeGroupsResponse.DescribedGroup(group_id="g", error_code=code, group_state="", members=[])
    monkeypatch.setattr(groups, "_from_coordinators", partial(_answering, [row]))
    monkeypatch.setattr(groups, "Cluster", lambda properties, timeout: SimpleNamespace(close=lambda: None))
    with pytest.raises(HostError, match="^group g: "):
        GroupAdmin("source", ConnectionSettings()).described("g", Deadline.after(SECONDS))


def _answering(rows: list[Any], cluster: Any, names: Any, ask: Any, *_: object) -> Any:
    """Ask one coordinator, which answers with these rows."""
    return ask(SimpleNamespace(call=lambda node, request: SimpleNamespace(groups=rows)), 1, names)


LIMITS = {"group.min.session.timeout.ms": "6000", "group.max.session.timeout.ms": "1800000"}


def told(cluster: Any, code: int = ErrorCode.INVALID_SESSION_TIMEOUT) -> str:
    return allowed_session(Coordinator(cluster, "g"), code, 3600.0, 1.0)


def test_what_the_coordinator_allows_is_told() -> None:
    cluster = FakeCoordinator()
    cluster.properties = LIMITS
    assert told(cluster) == (
        "; session.timeout.ms=3600000 of the consumer is above group.max.session.timeout.ms=1800000 of the source's "
        "brokers: set session.timeout.ms to 1800000 at most"
    )


def test_other_refusals_ask_nothing() -> None:
    cluster = FakeCoordinator()
    assert (told(cluster, ErrorCode.GROUP_AUTHORIZATION_FAILED), cluster.asked) == ("", [])


def test_without_the_right_to_ask_nothing_is_told() -> None:
    cluster = FakeCoordinator()
    cluster.properties = int(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    assert told(cluster) == ""


@pytest.mark.parametrize("fails", ["reached", "asked"])
def test_a_coordinator_that_is_lost_tells_nothing(fails: str) -> None:
    """The refusal stands without it."""
    assert told(GroupCluster(fails)) == ""
