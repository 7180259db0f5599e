"""What is asked of groups, and committed for them, on a real broker; also as a broker of before 2.6 would be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base import model
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import CommittedOffset
from legacy_mm.clients.admin.inspector import log_ends
from legacy_mm.clients.group.groups import DEAD, EMPTY, GroupAdmin
from legacy_mm.clients.net import login
from legacy_mm.controlplane.group_start import GroupStart
from legacy_mm.controlplane.positions import GapGuard, of_group
from legacy_mm.flow.position_book import GroupBook
from tests.fixtures import client_settings

pytestmark = pytest.mark.brokers
SECONDS = 30.0
FETCH_OFFSETS, FIND_COORDINATOR, DESCRIBE, LIST = 9, 10, 15, 16
OLD = {FETCH_OFFSETS: 5, FIND_COORDINATOR: 2, DESCRIBE: 4, LIST: 2}
"""What brokers of 2.5 and below know at most."""


@pytest.fixture(params=["as it is", "as an old one"])
def admin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, source: Cluster) -> GroupAdmin:
    if request.param != "as it is":
        asked = login.ask_versions

        def versions(call: Any) -> login.BrokerVersions:
            known = asked(call).apis
            return login.BrokerVersions(
                {api: (low, min(high, OLD.get(api, high))) for api, (low, high) in known.items()}
            )

        monkeypatch.setattr(login, "ask_versions", versions)
    return GroupAdmin("source", client_settings.read_connection({"bootstrap.servers": source.bootstrap}))


@pytest.fixture
def name(topic: Callable[..., str], source: Cluster) -> str:
    made = topic("t")
    create_topic(source.bootstrap, made, 3)
    return made


@pytest.fixture
def member(source: Cluster, name: str, group: str) -> Iterator[str]:
    """A group that has a member."""
    properties = {"bootstrap.servers": source.bootstrap, "group.id": f"{group}-member", "log_level": 0}
    with closing(Consumer({**properties, "group.protocol": "consumer"})) as consumer:
        consumer.subscribe([name])
        wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), SECONDS, "an assignment")
        yield f"{group}-member"


def deadline() -> Deadline:
    return Deadline.after(SECONDS)


def test_what_is_committed_is_read_back(admin: GroupAdmin, source: Cluster, name: str, group: str) -> None:
    properties = {"bootstrap.servers": source.bootstrap, "group.id": f"{group}-of-librdkafka", "log_level": 0}
    with closing(Consumer(properties)) as consumer:
        consumer.commit(offsets=[TopicPartition(name, 1, 5, "theirs")], asynchronous=False)  # it appends a zero
    ours = {
        model.TopicPartition(name, 0): CommittedOffset(7),
        model.TopicPartition(name, 2): CommittedOffset(2**40, "é" * 100),
    }
    assert admin.commit({f"{group}-{number}": ours for number in range(3)}, deadline()) == {}
    wanted = [f"{group}-0", f"{group}-2", f"{group}-of-librdkafka", f"{group}-absent"]
    assert admin.offsets(wanted, deadline()) == (
        {
            f"{group}-0": ours,
            f"{group}-2": ours,
            f"{group}-of-librdkafka": {model.TopicPartition(name, 1): CommittedOffset(5, "theirs\0")},
            f"{group}-absent": {},
        },
        {},
    )
    assert {*wanted[:3], f"{group}-1"} == {each for each in admin.groups(deadline()) if each.startswith(group)}
    assert admin.states(wanted, deadline()) == (
        {f"{group}-0": EMPTY, f"{group}-2": EMPTY, f"{group}-of-librdkafka": EMPTY, f"{group}-absent": DEAD},
        {},
    )


def test_what_fails_is_told_of_its_group(admin: GroupAdmin, name: str, group: str, member: str) -> None:
    offset = {model.TopicPartition(name, 0): CommittedOffset(1)}
    nowhere = {model.TopicPartition(f"{name}-not-there", 0): CommittedOffset(1)}
    failed = admin.commit({member: offset, f"{group}-other": offset, f"{group}-nowhere": nowhere}, deadline())
    assert {each: why.partition(":")[0] for each, why in failed.items()} == {
        member: "UNKNOWN_MEMBER_ID",
        f"{group}-nowhere": "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert admin.offsets([member, f"{group}-other"], deadline()) == ({member: {}, f"{group}-other": offset}, {})
    assert admin.states([f"{group}-other"], deadline())[0] == {f"{group}-other": EMPTY}


def test_a_first_start_is_kept_once(
    admin: GroupAdmin, source: Cluster, name: str, group: str, member: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Where all logs end, and what is skipped is said. No later look changes it, and a group with members has begun."""
    load(source.bootstrap, name, 90, 20, partitions=3)
    counted: list[int] = []
    guard = GapGuard("latest", counted.append, counted.append, fail=False, set_position=of_group("mirror"))
    client = client_settings.read_consumer(
        {"bootstrap.servers": source.bootstrap, "isolation.level": "read_uncommitted"}
    )
    books = (GroupBook(each, admin) for each in (group, member))
    first, other = (GroupStart(each, partial(log_ends, client), guard, SECONDS) for each in books)
    first.keep([name])
    ends = {model.TopicPartition(name, number): end for number, end in end_offsets(source.bootstrap, name).items()}
    kept = {place: CommittedOffset(end) for place, end in ends.items()}
    assert admin.offsets([group], deadline()) == ({group: kept}, {})
    assert (sum(counted), len(counted), caplog.text.count("Skipped in ")) == (90, 3, 3)
    load(source.bootstrap, name, 90, 20, partitions=3)
    first.keep([name])
    other.keep([name])
    assert admin.offsets([group, member], deadline()) == ({group: kept, member: {}}, {})
    assert len(counted) == 3


def test_a_group_with_a_member_is_seen(source: Cluster, member: str) -> None:
    admin = GroupAdmin("source", client_settings.read_connection({"bootstrap.servers": source.bootstrap}))
    assert member in admin.groups(deadline())
    assert admin.states([member], deadline()) == ({member: "Stable"}, {})


def test_many_groups_are_asked_in_chunks(source: Cluster, name: str, group: str) -> None:
    admin = GroupAdmin("source", client_settings.read_connection({"bootstrap.servers": source.bootstrap}))
    offsets = {f"{group}-{number}": {model.TopicPartition(name, 0): CommittedOffset(number)} for number in range(1100)}
    assert admin.commit(offsets, deadline()) == {}
    assert admin.offsets(list(offsets), deadline()) == (offsets, {})


def test_nobody_answers() -> None:
    nobody = GroupAdmin("target", client_settings.read_connection({"bootstrap.servers": "127.0.0.1:1"}))
    with pytest.raises(HostError, match=r"no broker answered in 0\.[0-9]+ s"):
        nobody.groups(Deadline.after(0.5))
    with pytest.raises(HostError):
        nobody.offsets(["g"], Deadline.after(0.5))
