"""`group.instance.id`: a process that is restarted in time takes up its own partitions, and moves nobody else's."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from confluent_kafka import ConsumerGroupState
from confluent_kafka.admin import AdminClient

from legacy_mm.audit.cluster_access import create_topic, end_offsets
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
PATIENCE = 60.0
PARTITIONS = 8


class Member(NamedTuple):
    """What the group's coordinator says of an instance."""

    member_id: str
    partitions: frozenset[int]


def describe(bootstrap: str, group: str) -> dict[str, Member]:
    """Instance id -> member; nothing while the group rebalances."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    found = admin.describe_consumer_groups([group])[group].result(30)
    if found.state != ConsumerGroupState.STABLE:
        return {}
    return {
        member.group_instance_id: Member(
            member.member_id, frozenset(entry.partition for entry in member.assignment.topic_partitions)
        )
        for member in found.members
    }


def assignments(tool: ToolProcess) -> list[str]:
    """Every assignment that a process was given, as its log has it."""
    return [line for line in tool.output().splitlines() if ": assigned [" in line]


@pytest.mark.parametrize("streams", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_restart_moves_nothing(
    streams: int, source: Any, target: Any, topic: Callable[..., str], group: str, our_tool: Callable[..., ToolProcess]
) -> None:
    """Difference instance-id-per-stream with two streams: each of them is an instance of its own."""
    name = topic()
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, partitions=PARTITIONS)

    def mirror(instance: str) -> ToolProcess:
        consumer = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
        words = ("--whitelist", name, "--num.streams", str(streams), "--log.level", "INFO")
        return our_tool(consumer | {"group.instance.id": instance}, {"bootstrap.servers": target.bootstrap}, *words)

    def everybody() -> dict[str, Member]:
        found = describe(source.bootstrap, group)
        whole = len(found) == 2 * streams and all(member.partitions for member in found.values())
        return found if whole else {}

    def arrive(count: int) -> None:
        load(source.bootstrap, name, 400, 20, partitions=PARTITIONS, seed=count)
        wait_until(lambda: sum(end_offsets(target.bootstrap, name).values()) == count, PATIENCE, f"{count} records")

    restarted, other = mirror("host-a"), mirror("host-b")
    before = wait_until(everybody, PATIENCE, "all members to have partitions")
    numbered = {f"host-{host}-{stream}" for host in "ab" for stream in range(streams)}
    assert set(before) == (numbered if streams > 1 else {"host-a", "host-b"})
    arrive(400)
    calm = assignments(other)
    restarted.signal(signal.SIGTERM)
    assert restarted.wait(40) == 143, restarted.output()
    assert describe(source.bootstrap, group) == before
    again = mirror("host-a")
    wait_until(lambda: len(assignments(again)) == streams, PATIENCE, "the restarted process to be assigned")
    arrive(800)
    after = everybody()
    assert {instance: member.partitions for instance, member in after.items()} == {
        instance: member.partitions for instance, member in before.items()
    }
    moved = {instance for instance in after if after[instance].member_id != before[instance].member_id}
    assert moved == {instance for instance in before if instance.startswith("host-a")}
    assert assignments(other) == calm
    for tool in (again, other):
        assert tool.stop(40) == 143, tool.output()
