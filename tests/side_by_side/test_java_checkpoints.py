"""Java's checkpoint connector, alone, on the offset syncs that ours writes: it translates as our own store does.

No Java has copied a record here. Groups stand everywhere in the topic, and move on and back; the mirror is restarted
meanwhile. Whoever goes on at any checkpoint that Java has ever written misses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import checkpoint_connector
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.model import OffsetPair
from legacy_mm.features.checkpoints.translation import is_due
from legacy_mm.protocol.mirror_records import Checkpoint, OffsetSync
from tests.fixtures.offset_syncs import NOT_TRANSLATABLE, JavaSyncReader
from tests.fixtures.offsets import PARTITIONS, commit, rest, write

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark, pytest.mark.slow]
SECONDS = 240.0
READERS = 16
Key = tuple[str, int]
POLICY = "org.apache.kafka.connect.mirror."


@dataclass(frozen=True)
class Scene:
    """A topic, its copy, and the internal topics between them."""

    source: Cluster
    target: Cluster
    topic: str
    copy: str
    aliases: Mapping[str, str]

    @property
    def syncs_topic(self) -> str:
        return f"mm2-offset-syncs.{self.aliases['target.cluster.alias']}.internal"

    @property
    def checkpoints_topic(self) -> str:
        return f"{self.aliases['source.cluster.alias']}.checkpoints.internal"

    def last_offset(self, partition: int) -> int:
        return max(each.offset for each in read_all(self.source.bootstrap, self.topic) if each.partition == partition)

    def syncs(self) -> list[OffsetSync]:
        found = read_all(self.source.bootstrap, self.syncs_topic)
        return [OffsetSync.decode(each.key, each.value) for each in found]

    def all_synced(self, *tools: ToolProcess) -> bool:
        """The newest record of each partition is copied, and has its sync; none of the tools has ended."""
        for tool in tools:
            assert tool.running(), tool.output()[-4000:]
        if self.syncs_topic not in list_topics(self.source.bootstrap):
            return False
        newest = {each.partition: each.upstream for each in self.syncs()}
        return newest == {number: self.last_offset(number) for number in range(PARTITIONS)}

    def stores(self) -> dict[int, JavaSyncReader]:
        stores = {number: JavaSyncReader() for number in range(PARTITIONS)}
        for store in stores.values():
            store.first_read_ended()
        for sync in self.syncs():
            assert sync.topic == self.topic
            stores[sync.partition].add(sync.upstream, sync.downstream)
        return stores

    def checkpoints(self) -> list[Checkpoint]:
        if self.checkpoints_topic not in list_topics(self.target.bootstrap):
            return []
        found = read_all(self.target.bootstrap, self.checkpoints_topic)
        return [Checkpoint.decode(each.key, each.value) for each in found]

    def written(self) -> dict[Key, Checkpoint]:
        """The last checkpoint of each group and partition."""
        return {(each.group, each.partition): each for each in self.checkpoints()}

    def move(self, groups: Mapping[str, int]) -> None:
        """Groups commit an offset in every partition, and in the end Java has written what our store says of it."""
        stores = self.stores()
        expected = self.written()
        for group, offset in groups.items():
            commit(self.source, group, {(self.topic, number): offset for number in range(PARTITIONS)})
            for number, store in stores.items():
                translated = store.translate(offset)
                assert translated is not None
                last = expected.get((group, number))
                pair = last and OffsetPair(last.upstream, last.downstream)
                if translated != NOT_TRANSLATABLE and is_due(pair, OffsetPair(offset, translated)):
                    expected[group, number] = Checkpoint(group, self.copy, number, offset, translated, "")
        differences: list[object] = []

        def equal() -> bool:
            written = self.written()
            keys = (key for key in expected.keys() | written.keys() if key[0] in groups)
            differences[:] = [
                (written.get(key), expected.get(key)) for key in keys if written.get(key) != expected.get(key)
            ]
            return not differences

        try:
            wait_until(equal, SECONDS, "Java's checkpoints")
        except TimeoutError:
            raise AssertionError(differences) from None

    def missed(self) -> list[Checkpoint]:
        """Checkpoints at which some record would be left out that the group has not read."""
        old, new = (read_all(cluster.bootstrap, name) for cluster, name in self.both())
        return [
            each
            for each in self.checkpoints()
            if not _ends_with(rest(new, each.partition, each.downstream), rest(old, each.partition, each.upstream))
        ]

    def both(self) -> tuple[tuple[Cluster, str], tuple[Cluster, str]]:
        return (self.source, self.topic), (self.target, self.copy)


def _ends_with(records: list[bytes | None], end: list[bytes | None]) -> bool:
    return records[len(records) - len(end) :] == end if end else True


def scene_of(source: Cluster, target: Cluster, topic: str, *, renames: bool) -> Scene:
    """With aliases of its own, so that no other test's topics are read."""
    west, east = f"west{topic[-8:]}", f"east{topic[-8:]}"
    copy = f"{west}.{topic}" if renames else topic
    return Scene(source, target, topic, copy, {"source.cluster.alias": west, "target.cluster.alias": east})


def java_connector(scene: Scene, folder: Path, rest_port: int, *, renames: bool) -> ToolProcess:
    properties = {
        **scene.aliases,
        "replication.policy.class": f"{POLICY}{'Default' if renames else 'Identity'}ReplicationPolicy",
        "topics": scene.topic,
        "groups": f"reader-{scene.topic}-.*",
        "emit.checkpoints.interval.seconds": "1",
        "refresh.groups.interval.seconds": "1",
    }
    source, target = scene.source.bootstrap, scene.target.bootstrap
    return checkpoint_connector(folder, source, target, rest_port=rest_port, properties=properties)


@pytest.mark.parametrize("renames", [True, False])
def test_java_translates_by_our_offset_syncs(
    source: Cluster,
    target: Cluster,
    our_tool: Callable[..., ToolProcess],
    new_port: Callable[[], int],
    tmp_path: Path,
    topic: str,
    group: str,
    renames: bool,
) -> None:
    scene = scene_of(source, target, topic, renames=renames)
    name = topic
    flags = {
        **scene.aliases,
        "topic.creation": "true",
        "rename.topics": "true" if renames else "false",
        "emit.offset-syncs.enabled": "true",
        "offset.lag.max": "10",
    }
    reading = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}
    options = ("--whitelist", name, "--offset.commit.interval.ms", "1000")
    readers = [f"reader-{name}-{number:02}" for number in range(READERS)]

    def mirror() -> ToolProcess:
        return our_tool(reading, {"bootstrap.servers": target.bootstrap, **flags}, *options)

    def fill(part: str) -> None:
        """Gaps after every five records, then none."""
        write(source, name, part, 20)
        load(source.bootstrap, name, 4_000, 50)

    create_topic(source.bootstrap, name, PARTITIONS)
    fill("first")
    for number, reader in enumerate(readers):
        commit(source, reader, {(name, each): 50 * number for each in range(PARTITIONS)})
    worker = java_connector(scene, tmp_path / "connect", new_port(), renames=renames)
    with worker:
        for part in ("second", "third"):
            write(source, name, f"before the {part}", 2)
            with mirror() as tool:
                wait_until(partial(scene.all_synced, tool, worker), SECONDS, "the last offset syncs")
                fill(part)
                wait_until(partial(scene.all_synced, tool, worker), SECONDS, "the last offset syncs once more")
                assert tool.stop(SECONDS) == 143
        end = min(end_offsets(source.bootstrap, name).values())
        scene.move({readers[0]: end})
        scene.move({reader: end - number * end // READERS for number, reader in enumerate(readers)})
        scene.move({reader: number * number * end // READERS**2 for number, reader in enumerate(readers)})
        scene.move({reader: end - number * number for number, reader in enumerate(readers)})
        assert worker.running()
        assert " ERROR " not in worker.output(), worker.output()[-4000:]
    assert set(scene.written()) == {(reader, each) for reader in readers for each in range(PARTITIONS)}
    assert scene.missed() == []
