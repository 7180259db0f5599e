"""Consumers go on at the target: checkpoints, group offsets and translation of a mirror that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from legacy_mm.protocol.mirror_records import Checkpoint, OffsetSync
from legacy_mm.testbed.cluster import Cluster
from legacy_mm.testbed.records import committed, create_topic, read_all
from legacy_mm.testbed.tools import ToolProcess
from legacy_mm.testbed.topic_state import overrides
from legacy_mm.testbed.waiting import wait_until
from tests.fixtures.offsets import PARTITIONS, commit, rest, write

pytestmark = pytest.mark.brokers
SECONDS = 60.0


@dataclass(frozen=True)
class Mirror:
    """How to start our command with all flags about offsets on, and short intervals."""

    topic: str
    aliases: Mapping[str, str]
    start: Callable[..., ToolProcess]


@pytest.fixture
def mirror(source: Cluster, target: Cluster, our_tool: Callable[..., ToolProcess], group: str, topic: Any) -> Mirror:
    """Aliases of its own, so that no other test's topics are read."""
    name = topic("offsets")
    aliases = {"source.cluster.alias": f"west{name[-8:]}", "target.cluster.alias": f"east{name[-8:]}"}
    flags = {
        "topic.creation": "true",
        "emit.offset-syncs.enabled": "true",
        "offset.lag.max": "10",
        "emit.checkpoints.enabled": "true",
        "emit.checkpoints.interval.seconds": "1",
        "sync.group.offsets.enabled": "true",
        "sync.group.offsets.interval.seconds": "1",
        "groups": f"reader-{name}.*,{group}",
    }

    def start(*options: str) -> ToolProcess:
        reading = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
        written = {"bootstrap.servers": target.bootstrap, **aliases, **flags}
        return our_tool(reading, written, "--whitelist", name, *options)

    return Mirror(name, aliases, start)


@pytest.mark.parametrize("engine", ["batches", "records"])
def test_a_group_goes_on_at_the_target_without_a_gap_and_without_a_repeat(
    mirror: Mirror, source: Cluster, target: Cluster, engine: str
) -> None:
    """Also after a restart, also where the group stands at a marker, and at the very end."""
    name = mirror.topic
    reader = f"reader-{name}"
    create_topic(source.bootstrap, name, PARTITIONS)
    write(source, name, "first", 20)
    commit(source, reader, {(name, 0): 0, (name, 1): 47, (name, 2): 120})

    def follows() -> bool:
        """The group's offset at the target leaves to be read what its offset at the source does."""
        here, there = committed(source.bootstrap, reader, [name]), committed(target.bootstrap, reader, [name])
        old, new = read_all(source.bootstrap, name), read_all(target.bootstrap, name)
        return there.keys() == here.keys() and all(
            rest(old, place[1], here[place]) == rest(new, place[1], there[place]) for place in here
        )

    with mirror.start("--engine", engine) as tool:
        wait_until(follows, SECONDS, "the group at the target")
        write(source, name, "second", 3)
        commit(source, reader, {(name, 0): 9, (name, 1): 137, (name, 2): 124})
        wait_until(follows, SECONDS, "the group at the target once more")
        assert tool.stop(SECONDS) == 143
    commit(source, reader, {(name, 0): 23})
    with mirror.start("--engine", engine) as tool:
        wait_until(follows, SECONDS, "the group after a restart")
        assert tool.stop(SECONDS) == 143
    assert "WARN [group-offsets]" not in tool.output()

    checkpoints_topic = f"{mirror.aliases['source.cluster.alias']}.checkpoints.internal"
    checkpoints = [Checkpoint.decode(each.key, each.value) for each in read_all(target.bootstrap, checkpoints_topic)]
    assert {(each.group, each.topic) for each in checkpoints} == {(reader, name)}, "not the mirror's own group"
    syncs_topic = f"mm2-offset-syncs.{mirror.aliases['target.cluster.alias']}.internal"
    for cluster, internal in ((target, checkpoints_topic), (source, syncs_topic)):
        assert overrides(cluster.bootstrap, internal) == {"cleanup.policy": "compact"}
        assert {each.partition for each in read_all(cluster.bootstrap, internal)} == {0}
    old, new = (
        {(each.partition, each.offset): each.value for each in read_all(cluster.bootstrap, name)}
        for cluster in (source, target)
    )
    for each in read_all(source.bootstrap, syncs_topic):
        sync = OffsetSync.decode(each.key, each.value)
        assert old[sync.partition, sync.upstream] == new[sync.partition, sync.downstream]
