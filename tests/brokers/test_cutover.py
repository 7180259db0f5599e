"""A group is taken to the target and back: by our commands, and by the sample. The mirror was killed meanwhile."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from compat.laboratory.checkout import CHECKOUT
from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import committed, create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.java_files import write_properties
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.protocol.mirror_records import Checkpoint
from legacy_mm.protocol.offset_map_records import OffsetMapRecord
from tests.fixtures.driver_files import driver_file
from tests.fixtures.offsets import PARTITIONS, Place, commit, open_transaction, rest, write
from tests.fixtures.tools import Run
from tests.fixtures.warm_mirrors import WarmMirror

pytestmark = [pytest.mark.brokers, pytest.mark.spark]
SECONDS = 60.0
SAMPLE = CHECKOUT / "samples" / "failover" / "failover.py"
STANDS = 47
"""An offset among the records that were copied before the mirror was killed."""


@pytest.fixture
def mirror(source: Cluster, target: Cluster, our_mirror: Callable[..., ToolProcess], group: str) -> Callable[..., Any]:
    """Start a mirror of one topic, which it renames, and writes offsets down every half second."""

    def start(name: str, *, offsets: bool = True) -> ToolProcess:
        names = {
            "rename.topics": "true",
            "source.cluster.alias": alias(name),
            "target.cluster.alias": f"east{name[-8:]}",
        }
        flags = {
            "topic.creation": "true",
            "emit.offset-syncs.enabled": "true",
            "emit.checkpoints.enabled": "true",
            "emit.checkpoints.interval.seconds": "1",
            "groups": f"app-{name}",
        }
        reading = {
            "bootstrap.servers": source.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "group.instance.id": "one",  # so that nobody waits for the session of a mirror that was killed
        }
        written = {"bootstrap.servers": target.bootstrap, **names, **(flags if offsets else {})}
        return our_mirror(reading, written, "--whitelist", name, "--offset.commit.interval.ms", "500")

    return start


def alias(name: str) -> str:
    return f"west{name[-8:]}"


def mapped(source: Cluster, name: str) -> int:
    """Until where the mirror has written down the exact offsets of the first partition."""
    if (topic := f"mm2-offset-map.east{name[-8:]}.internal") not in list_topics(source.bootstrap):
        return 0
    found = [OffsetMapRecord.decode(each.key, each.value) for each in read_all(source.bootstrap, topic)]
    return max((run.end.upstream for each in found if each.partition == 0 for run in each.chunk.runs), default=0)


def checkpoints(target: Cluster, name: str) -> dict[int, int]:
    """Partition -> the source offset of the group's last checkpoint that stands at the end of the copy."""
    copy, internal = f"{alias(name)}.{name}", f"{alias(name)}.checkpoints.internal"
    if internal not in list_topics(target.bootstrap):
        return {}
    ends = end_offsets(target.bootstrap, copy)
    found = [Checkpoint.decode(each.key, each.value) for each in read_all(target.bootstrap, internal)]
    return {each.partition: each.upstream for each in found if each.downstream == ends[each.partition]}


def of_partitions(rows: list[dict[str, Any]], side: str) -> dict[int, int]:
    return {row[side]["partition"]: row[side]["offset"] for row in rows}


def check_rest(
    source: Cluster, target: Cluster, name: str, here: Mapping[Place, int], there: Mapping[int, int]
) -> None:
    """No record is missed, and none is read that was read at the source."""
    old, new = read_all(source.bootstrap, name), read_all(target.bootstrap, f"{alias(name)}.{name}")
    assert there.keys() == {partition for _, partition in here}
    for (_, partition), offset in here.items():
        left, found = rest(old, partition, offset), rest(new, partition, there[partition])
        assert set(found) == set(left), f"partition {partition}"
        assert found[:1] == left[:1]


def check_receipt(file: Path, before: list[int | None]) -> None:
    """It is complete, for its owner alone, and knows what the target had before."""
    written = json.loads(file.read_text())
    assert written["state"] == "committed" and stat.S_IMODE(file.stat().st_mode) == 0o600
    found = [row["target"]["before"] for row in written["partitions"]]
    assert [each and each["offset"] for each in found] == before


def check_plan(run: Run, source: Cluster, name: str, line: tuple[str, ...]) -> None:
    """It tells which group the mirror is about to commit, and which it leaves out."""
    left_out = "a-group-that-is-first"  # of the groups of other tests only some are named
    commit(source, left_out, {(name, 0): 1})
    code, said, failed = run("plan", "--sync.group.offsets.enabled", "true", *line)
    assert code == 2, said + failed
    assert f"commit group app-{name} at {alias(name)}.{name}-0: from 3 to " in said
    assert left_out in next(line for line in said.splitlines() if "left out by groups" in line)


def test_cutover_and_back(
    run: Run,
    mirror: Callable[..., ToolProcess],
    source: Cluster,
    target: Cluster,
    topic: Callable[..., str],
    tmp_path: Path,
) -> None:
    name = topic("moved")
    copy, reader = f"{alias(name)}.{name}", f"app-{name}"
    create_topic(source.bootstrap, name, PARTITIONS + 1)  # one stays empty
    write(source, name, "first", 20)
    with mirror(name) as tool:
        line = ("--", *tool.command)
        wait_until(lambda: mapped(source, name) >= STANDS, SECONDS, "the map of the first records")
        write(source, name, "second", 40)
        tool.kill_tree()
    write(source, name, "third", 2)
    ends = end_offsets(source.bootstrap, name)
    here = {(name, 0): STANDS, (name, 1): ends[1], (name, 2): 365, (name, 3): 0}
    commit(source, reader, here)
    early = {(copy, 0): 3}
    commit(target, reader, early)

    check_plan(run, source, name, line)
    assert committed(target.bootstrap, reader, [copy]) == early

    code, said, _ = run("cutover", "--group", reader, "--timeout", "0", *line)
    assert code == 2 and "is the mirror running?" in said
    assert committed(target.bootstrap, reader, [copy]) == early

    with mirror(name) as tool:
        member = {"bootstrap.servers": source.bootstrap, "group.id": reader, "client.id": "still-here", "log_level": 0}
        with closing(Consumer({**member, "enable.auto.commit": False})) as consumer:
            consumer.subscribe([name])
            wait_until(lambda: consumer.poll(0.1) or consumer.assignment(), SECONDS, "an assignment")
            code, said, _ = run("cutover", "--group", reader, *line)
        assert code == 2 and "in use at the source; stop still-here at " in said
        assert committed(target.bootstrap, reader, [copy]) == early

        receipt = tmp_path / "receipt.json"
        code, said, failed = run("cutover", "--group", reader, "--receipt", str(receipt), *line)
        assert code == 0, said + failed
        moved = committed(target.bootstrap, reader, [copy])
        check_rest(source, target, name, here, {partition: offset for (_, partition), offset in moved.items()})
        check_receipt(receipt, [3, None, None, None])
        assert committed(source.bootstrap, reader, [name]) == here

        code, said, _ = run("translate", "--group", reader, "--json", *line)
        rows = json.loads(said)["partitions"]
        assert (code, [row["how"] for row in rows]) == (0, ["exact", "exact", "exact", "nothing-to-read"])
        assert of_partitions(rows, "source") == {partition: offset for (_, partition), offset in here.items()}
        assert of_partitions(rows, "target") == {partition: offset for (_, partition), offset in moved.items()}

        code, said, failed = run("cutover", "--undo", str(receipt), *line)
        assert code == 0, said + failed
        assert committed(target.bootstrap, reader, [copy]) == early

        check_sample(target, name, moved)
        assert tool.stop(SECONDS) == 143


def check_sample(target: Cluster, name: str, moved: Mapping[Place, int]) -> None:
    """A consumer of the user's reads on by checkpoints, from the same offsets, and has committed what it read."""
    reader, copy, checkpoints = f"app-{name}", f"{alias(name)}.{name}", f"{alias(name)}.checkpoints.internal"

    def emitted() -> bool:
        found = (Checkpoint.decode(each.key, each.value) for each in read_all(target.bootstrap, checkpoints))
        return {(each.topic, each.partition): each.downstream for each in found if each.group == reader} == moved

    wait_until(emitted, SECONDS, "the checkpoints of the group")
    log = [each for each in read_all(target.bootstrap, copy) if each.offset >= moved[copy, each.partition]]
    words = ["--target", target.bootstrap, "--source-alias", alias(name), "--group", reader, "--records", str(len(log))]
    done = subprocess.run(
        [sys.executable, str(SAMPLE), *words], stdout=subprocess.PIPE, timeout=2 * SECONDS, check=True, text=True
    )
    lines = sorted((row["partition"], row["offset"]) for row in map(json.loads, done.stdout.splitlines()))
    assert lines == [(each.partition, each.offset) for each in log]
    ends = end_offsets(target.bootstrap, copy)
    assert committed(target.bootstrap, reader, [copy]) == {place: ends[place[1]] for place in moved}


def test_a_group_and_a_mirror_at_the_end_of_what_was_copied_before(
    run: Run,
    mirror: Callable[..., ToolProcess],
    source: Cluster,
    target: Cluster,
    topic: Callable[..., str],
    group: str,
    tmp_path: Path,
) -> None:
    """Offset syncs were switched on later, and the topic has been idle since: the ends answer, at once.

    A group that stands before that gets a line of the mirror's, and goes to the copy's first record where asked to.
    """
    name = topic("idle")
    copy, reader = f"{alias(name)}.{name}", f"app-{name}"
    create_topic(source.bootstrap, name, PARTITIONS)
    write(source, name, "before", 20)
    ends = end_offsets(source.bootstrap, name)
    with mirror(name, offsets=False) as tool:
        read = {(name, partition): end - 1 for partition, end in ends.items()}  # a marker stands last
        wait_until(lambda: committed(source.bootstrap, group, [name]) == read, SECONDS, "all to be committed")
        assert tool.stop(SECONDS) == 143
    commit(source, reader, {(name, partition): end for partition, end in ends.items()})
    with mirror(name) as tool:
        line = ("--", *tool.command)
        code, said, failed = run("cutover", "--group", reader, "--dry-run", *line)
        assert code == 0, said + failed
        assert said.count("at the end of every partition of the topic") == PARTITIONS
        wait_until(lambda: checkpoints(target, name) == {**ends}, SECONDS, "checkpoints at the ends of the copy")
        there = end_offsets(target.bootstrap, copy)
        writer = Producer({"bootstrap.servers": source.bootstrap, "log_level": 0})
        writer.produce(name, "unread", partition=0)
        assert writer.flush(30) == 0
        wait_until(lambda: mapped(source, name) > ends[0], SECONDS, "the pair of the unread record")
        code, said, failed = run("cutover", "--group", reader, "--dry-run", *line)
        assert code == 0, said + failed
        assert said.count("at the end of every partition of the topic") == PARTITIONS - 1, "it undoes none of them"
        for cluster, where in ((source, name), (target, copy)):
            with open_transaction(cluster, f"{where}-offsets", reader, {(where, 2): 1}):
                code, said, failed = run("cutover", "--group", reader, "--timeout", "3", *line)
            assert code == 2, said + failed
            assert f"is still open, for {where}-2: until its transaction ends" in said
            assert committed(target.bootstrap, reader, [copy]) == {}
        commit(source, reader, {(name, 1): 0})
        code, said, _ = run("translate", "--group", reader, "--explain", *line)
        assert code == 2 and "nothing is known of this partition; with --from-first" in said
        tool.wait_for_output(f"group {reader} has no checkpoint for ", SECONDS)
        options = ("--from-first", "--timeout", "3", "--receipt", str(tmp_path / "receipt.json"))
        code, said, failed = run("cutover", "--group", reader, *options, *line)
        assert code == 0, said + failed
        assert "waiting up to 3 s until the mirror has written the offset pairs of " in said
    moved = committed(target.bootstrap, reader, [copy])
    assert moved == {(copy, 0): there[0], (copy, 1): 0, (copy, 2): 0}, "of the first one a pair is known"


def test_a_flow_of_mirror_maker_2_s_file_is_asked_for_its_own_positions(
    run: Run,
    warm_driver: Callable[..., WarmMirror],
    source: Cluster,
    target: Cluster,
    topic: Callable[..., str],
    tmp_path: Path,
) -> None:
    """It has no group at the source: without its positions nobody knows that all of an idle topic was copied."""
    name = topic("idle")
    clusters = {alias(name): source, f"east{name[-8:]}": target}
    flow, copy, reader = "->".join(clusters), f"{alias(name)}.{name}", f"app-{name}"
    file = driver_file(clusters, **{f"{flow}.enabled": "true", f"{flow}.topics": name, f"{flow}.groups": reader})
    create_topic(source.bootstrap, name, PARTITIONS)
    write(source, name, "before", 20)
    ends = end_offsets(source.bootstrap, name)
    with warm_driver({**file, "emit.offset-syncs.enabled": "false", "emit.checkpoints.enabled": "false"}) as node:
        copied = lambda: copy in list_topics(target.bootstrap) and len(read_all(target.bootstrap, copy))  # noqa: E731
        wait_until(lambda: copied() == 20 * 5 * PARTITIONS, SECONDS, "the copy")
        assert node.stop(SECONDS) == 143
    commit(source, reader, {(name, partition): end for partition, end in ends.items()})
    line = ("--", "connect-mirror-maker.sh", str(write_properties(tmp_path / "mm2.properties", file)))
    with warm_driver(file):
        code, said, failed = run("cutover", "--group", reader, "--dry-run", *line)
        assert code == 0, said + failed
        assert said.count("at the end of every partition of the topic") == PARTITIONS
        wait_until(lambda: checkpoints(target, name) == {**ends}, SECONDS, "checkpoints at the ends of the copy")
