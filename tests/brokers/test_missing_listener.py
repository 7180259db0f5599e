"""A broker that lacks the listener over which we come: what it leads is named, instead of having no leader."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from compat.laboratory import cluster as testbed
from legacy_mm.audit.cluster_access import create_topic, leader
from legacy_mm.audit.load import load
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.clients.group.member import MembershipListener
from legacy_mm.clients.group.membership import NativeMember
from legacy_mm.protocol.coordinator_partition import GROUPS, coordinator_partition
from tests.brokers.test_explain import commit
from tests.brokers.test_verify import by_line
from tests.fixtures import client_settings
from tests.fixtures.clusters import Kafka
from tests.fixtures.memberships import Membership
from tests.fixtures.tools import Run
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
EXTERNAL, WITHOUT = "EXTERNAL", 2
SECONDS = 60.0
PARTITIONS = 4
WORDS = "partitions have leader brokers without a matching listener, including"


@pytest.fixture(scope="module")
def half(module_clusters: Callable[..., testbed.Cluster]) -> testbed.Cluster:
    """Two brokers, of which the second has no listener EXTERNAL; its groups' topic is there."""
    made = module_clusters(brokers=2, listeners={EXTERNAL: "PLAINTEXT"}, lacking={WITHOUT: [EXTERNAL]})
    create_topic(made.bootstrap, "any", partitions=1)
    commit(made.bootstrap, "any", "any", {0: 0})
    return made


@pytest.fixture
def outside(half: testbed.Cluster) -> str:
    """The addresses from outside: those of the first broker alone."""
    return half.bootstrap_of(EXTERNAL)


@pytest.fixture
def name(half: testbed.Cluster, topic: Callable[..., str]) -> str:
    found = topic()
    create_topic(half.bootstrap, found, partitions=PARTITIONS)
    load(half.bootstrap, found, 100, 20, partitions=PARTITIONS)
    return found


@pytest.fixture
def unreached(half: testbed.Cluster, name: str) -> str:
    """The partitions that the second broker leads, as Java's line has them, and the words before."""
    led = [number for number in range(PARTITIONS) if leader(half.bootstrap, name, number) == WITHOUT]
    assert led
    return f"{len(led)} {WORDS} [{', '.join(f'{name}-{number}' for number in led)}]"


def group_at(half: testbed.Cluster, node: int) -> str:
    """The id of a group that this broker coordinates."""
    keepers = {number for number in range(PARTITIONS) if leader(half.bootstrap, GROUPS, number) == node}
    return next(f"g{n}" for n in range(100) if coordinator_partition(f"g{n}", PARTITIONS) in keepers)


def test_the_mirror_says_which_partitions_are_not_reached(
    half: testbed.Cluster, outside: str, target: Kafka, name: str, unreached: str, our_mirror: Callable[..., WarmMirror]
) -> None:
    """The others are copied."""
    consumer = {"bootstrap.servers": outside, "group.id": group_at(half, 1), "auto.offset.reset": "earliest"}
    with our_mirror(consumer, {"bootstrap.servers": target.bootstrap}, "--whitelist", name) as mirror:
        mirror.wait_for_output(f"] {unreached}", SECONDS)


def test_what_is_written_waits_for_a_leader_with_the_listener(
    half: testbed.Cluster,
    outside: str,
    source: Kafka,
    name: str,
    unreached: str,
    group: str,
    our_mirror: Callable[..., WarmMirror],
) -> None:
    create_topic(source.bootstrap, name, partitions=PARTITIONS)
    load(source.bootstrap, name, 100, 20, partitions=PARTITIONS)
    consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    with our_mirror(consumer, {"bootstrap.servers": outside}, "--whitelist", name) as mirror:
        mirror.wait_for_output(f"] {unreached}", SECONDS)


def test_explain_and_verify_name_them(
    half: testbed.Cluster, outside: str, target: Kafka, name: str, unreached: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "c.properties").write_text(f"bootstrap.servers={outside}\ngroup.id={group_at(half, 1)}\n")
    (tmp_path / "p.properties").write_text(f"bootstrap.servers={target.bootstrap}\n")
    files = ("--consumer.config", "c.properties", "--producer.config", "p.properties")
    with contextlib.chdir(tmp_path):
        _, document, _ = run("explain", "--json", "--", *files, "--whitelist", name)
        assert unreached in json.loads(document)["topics"]["why_not"]
    words = ("--source-config", "c.properties", "--target-config", "p.properties", "--topics", name)
    verified = by_line(tmp_path, *words)
    assert verified.returncode != 0
    assert unreached in verified.stderr


def test_a_group_whose_coordinator_is_not_reached(half: testbed.Cluster, outside: str, name: str) -> None:
    """Brokers answer COORDINATOR_NOT_AVAILABLE for ever."""
    group = group_at(half, WITHOUT)
    keeper = f"{GROUPS}-{coordinator_partition(group, PARTITIONS)}"
    settings = client_settings.read_consumer({"bootstrap.servers": outside, "group.id": group})
    told: list[str] = []

    def make(listener: MembershipListener) -> NativeMember:
        return NativeMember(settings, "half", listener, lambda _: None, told.append, SECONDS)

    with closing(Membership(make, {name})):
        wait_until(lambda: told, SECONDS, "the trouble")
    assert f"the coordinator of group {group} is not reached: 1 {WORDS} [{keeper}]" in told[0]
    admin = GroupAdmin("source", settings.connection)
    _, untold = admin.offsets([group], Deadline.after(1.0))
    assert f"[{keeper}]" in untold[group]
