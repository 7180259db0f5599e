"""The real MirrorMaker 2 and ours translate the offsets of the same groups, each towards a target of its own.

Their MBeans count the same records and bytes. Whoever goes on at our offsets misses nothing and reads nothing again.
With MirrorMaker 2 some of it is read again; and a group that goes back behind its oldest offset sync keeps a checkpoint
that is too far on (it has at most ten syncs under way, and drops what is replaced meanwhile).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import mirror_maker_2
from legacy_mm.audit.cluster_access import committed, create_topic, read_all
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.protocol.mirror_records import Checkpoint
from tests.fixtures.java_mirror_client import JAVA_CLIENTS, JavaMirrorClient, names, offsets
from tests.fixtures.jmx import java_pid, read_mbeans
from tests.fixtures.offsets import PARTITIONS, commit, rest, write

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark, pytest.mark.slow]
SECONDS = 180.0
TRANSACTIONS = 80
END = 6 * TRANSACTIONS
FAST = {
    "emit.checkpoints.enabled": "true",
    "emit.checkpoints.interval.seconds": "1",
    "refresh.groups.interval.seconds": "1",
    "sync.group.offsets.enabled": "true",
    "sync.group.offsets.interval.seconds": "1",
}
MM2 = {
    **FAST,
    "replication.policy.class": "org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
    "dst.offset.flush.interval.ms": "1000",
}
OURS = {
    **FAST,
    "rename.topics": "true",
    "source.cluster.alias": "src",
    "target.cluster.alias": "other",
    "topic.creation": "true",
    "emit.offset-syncs.enabled": "true",
    "emit.heartbeats.enabled": "true",
}
Repeats = dict[tuple[str, int], int]


def last_checkpoints(target: Cluster) -> dict[tuple[str, int], Checkpoint]:
    """By group and partition."""
    found = (Checkpoint.decode(each.key, each.value) for each in read_all(target.bootstrap, "src.checkpoints.internal"))
    return {(each.group, each.partition): each for each in found}


def repeats(source: Cluster, target: Cluster, topic: str, group: str) -> Repeats:
    """How many records the group would read again, by partition; negative where it would miss some."""
    old, new = read_all(source.bootstrap, topic), read_all(target.bootstrap, f"src.{topic}")
    wanted = committed(source.bootstrap, group, [topic])
    found: Repeats = {}
    for (name, partition), checkpoint in last_checkpoints(target).items():
        if name == group:
            unread = rest(old, partition, wanted[topic, partition])
            again = rest(new, partition, checkpoint.downstream)
            common = min(len(again), len(unread))
            assert again[len(again) - common :] == unread[len(unread) - common :]
            found[group, partition] = len(again) - len(unread)
    return found


def all_counted(tool: ToolProcess, flow: str, source: Cluster, topic: str) -> bool:
    """The beans of this flow have counted every record, and the bytes of the values alone."""
    records = read_all(source.bootstrap, topic)
    beans = read_mbeans(java_pid(tool), "kafka.connect.mirror:*")  # values of others are classes of its own
    for number in range(PARTITIONS):
        values = rest(records, number, 0)
        bean = beans.get(
            f"kafka.connect.mirror:type=MirrorSourceConnector,{flow},topic=src.{topic},partition={number}", {}
        )
        known = {"record-count": len(values), "byte-count": sum(len(value or b"") for value in values)}
        if {attribute: bean[attribute].number for attribute in known if attribute in bean} != known:
            return False
    return True


def test_nothing_is_missed_and_less_is_read_again(
    own_clusters: Callable[..., Cluster], our_tool: Callable[..., ToolProcess], tmp_path: Path, topic: str, group: str
) -> None:
    """Groups at the end, far behind, idle and gone back."""
    source, theirs, ours = (own_clusters() for _ in range(3))
    create_topic(source.bootstrap, topic, PARTITIONS)
    write(source, topic, "first", TRANSACTIONS)
    places = [(topic, number) for number in range(PARTITIONS)]
    stands = {"ends": END, "lags": 37, "idles": END // 2, "returns": END}
    for reader, offset in stands.items():
        commit(source, reader, dict.fromkeys(places, offset))
    reading = {"bootstrap.servers": source.bootstrap, "group.id": group, "auto.offset.reset": "earliest"}

    def known(target: Cluster, readers: set[str]) -> bool:
        return {reader for reader, _ in last_checkpoints(target)} >= readers

    def complete(target: Cluster, records: int) -> bool:
        return len(read_all(target.bootstrap, f"src.{topic}")) == records

    with (
        mirror_maker_2(tmp_path / "mm2", source.bootstrap, theirs.bootstrap, topic, properties=MM2) as mm2,
        our_tool(reading, {"bootstrap.servers": ours.bootstrap, **OURS}, "--whitelist", topic) as tool,
    ):
        for target in (theirs, ours):
            wait_until(partial(known, target, {"ends", "returns"}), SECONDS, "checkpoints")
        write(source, topic, "second", TRANSACTIONS)
        commit(source, "ends", dict.fromkeys(places, 2 * END))
        commit(source, "returns", dict.fromkeys(places, END // 3))
        expected = len(read_all(source.bootstrap, topic))
        for target in (theirs, ours):
            wait_until(partial(complete, target, expected), SECONDS, "all records")
        for process, flow in ((mm2, "source=src,target=dst"), (tool, "source=src,target=other")):
            wait_until(partial(all_counted, process, flow, source, topic), SECONDS, f"the beans of {flow}")
        commit(source, "marker", dict.fromkeys(places, 2 * END))
        for target in (theirs, ours):
            wait_until(partial(known, target, {"marker"}), SECONDS, "a round after that")
        again = {
            name: {key: count for reader in stands for key, count in repeats(source, target, topic, reader).items()}
            for name, target in (("theirs", theirs), ("ours", ours))
        }
        assert tool.stop(SECONDS) == 143
    assert again["ours"] == {(reader, number): 0 for reader in stands for number in range(PARTITIONS)}
    assert set(again["theirs"]) <= set(again["ours"])
    assert any(again["theirs"].values())
    for release in JAVA_CLIENTS:
        assert_java_reads(JavaMirrorClient(tmp_path, release, {"bootstrap.servers": ours.bootstrap}), ours, stands)


def assert_java_reads(java: JavaMirrorClient, target: Cluster, readers: Iterable[str]) -> None:
    """Kafka's RemoteClusterUtils has from our topics what we have written there."""
    last = last_checkpoints(target)
    questions = (("offsets", "src", reader) for reader in readers)
    topics, beats, *answers = java.ask(("heartbeat topics",), ("heartbeats", "heartbeats"), *questions)
    assert names(topics) == {"heartbeats"}
    assert {line.partition(", timestamp=")[0] for line in names(beats)} == {
        "Heartbeat{sourceClusterAlias=src, targetClusterAlias=other"
    }
    for reader, answer in zip(readers, answers, strict=True):
        told = {(place.partition, committed.offset) for place, committed in offsets(answer).items()}
        assert told == {(each.partition, each.downstream) for each in last.values() if each.group == reader}
