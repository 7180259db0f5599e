"""The source cannot give what is wanted: deleted, trimmed, made again, cut, changed. Scenarios 21 to 26, 28, 32.

What the legacy tool loses here is lost without a flag, too; ours says it, and `--on.gap fail` makes it the end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import (
    change_topic,
    create_topic,
    delete_records,
    delete_topic,
    end_offsets,
    grow_topic,
    log_starts,
    partition_of,
    read_all,
)
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.faults.conftest import BY_HANDLER, BY_TOOL, PATIENCE, PYTHON, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
LOOK_OFTEN = {"metadata.max.age.ms": "1000"}
TRIMMED = 100


def with_a_gap(scene: Scene) -> None:
    """4,000 records copied, 4,000 more written, of which the first 100 of each partition are gone again."""
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(4_000)
    stop(tool)
    ends = end_offsets(scene.source.bootstrap, scene.topic)
    scene.load(4_000, seed=9)
    delete_records(scene.source.bootstrap, scene.topic, {number: end + TRIMMED for number, end in ends.items()})


@BY_TOOL
@pytest.mark.scenario(24)
def test_records_are_deleted_before_they_were_read(
    source: Any, target: Any, make_scene: Callable[..., Scene], which: str, tmp_path: Path
) -> None:
    """Only what was deleted is lost, and ours tells just that: in a line, in the receipts nothing of it."""
    scene = make_scene(source, target, 4_000)
    with_a_gap(scene)
    receipts = tmp_path / "receipts"
    options = () if which == "old" else ("--receipts", str(receipts))
    tool = scene.mirror(*COMMIT_OFTEN, *options)
    scene.wait_for(8_000 - 4 * TRIMMED)
    scene.wait_committed(8_000)
    stop(tool)
    verdict = scene.verdict()
    assert verdict.count("lost") == 4 * TRIMMED
    assert verdict.count("duplicated") == verdict.count("reordered") == 0
    if which != "old":
        assert tool.output().count(f", {TRIMMED} offsets were not copied, reason: {TRIMMED} were removed by ret") == 4
        rows = [json.loads(line) for line in receipts.read_text().splitlines()]
        assert rows[-1]["receipt"] == "summary"
        assert rows[-1]["records"] == 4_000 - 4 * TRIMMED
        assert {row["partition"] for row in rows[:-1]} == {0, 1, 2, 3}
        assert sum(row["records"] for row in rows[:-1]) == 4_000 - 4 * TRIMMED


@BY_HANDLER
@pytest.mark.scenario(24)
def test_a_gap_can_be_the_end(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    scene = make_scene(source, target, 4_000)
    with_a_gap(scene)
    tool = scene.mirror(*COMMIT_OFTEN, "--on.gap", "fail")
    assert tool.wait(60) == 255
    assert f"Gap in {scene.topic}-" in tool.output()
    assert 4_000 <= scene.committed() == scene.arrived(), "nothing of a partition with a gap, all of the others"


@BY_TOOL
@pytest.mark.scenario(23)
def test_retention_passes_the_mirror(
    own_clusters: Callable[..., Cluster], target: Any, make_scene: Callable[..., Scene], which: str
) -> None:
    settings = {"log.retention.check.interval.ms": "500", "log.segment.delete.delay.ms": "500"}
    source = own_clusters(properties=settings)
    scene = make_scene(source, target, 4_000)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(4_000)
    stop(tool)
    scene.load(2_000, seed=9)
    change_topic(source.bootstrap, scene.topic, {"retention.ms": "1"})
    wait_until(
        lambda: sum(log_starts(source.bootstrap, scene.topic).values()) == 6_000,
        PATIENCE,
        "retention to remove everything",
    )
    change_topic(source.bootstrap, scene.topic, {"retention.ms": "-1"})
    scene.load(1_000, seed=11)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(7_000)
    stop(tool)
    assert scene.verdict().count("lost") == 2_000
    if which != "old":
        assert tool.output().count("Gap in ") == 4


@BY_TOOL
@pytest.mark.scenario(21)
@pytest.mark.scenario(22)
def test_a_topic_is_deleted_and_recreated(
    source: Any, target: Any, make_scene: Callable[..., Scene], which: str
) -> None:
    """The process stays up; with `earliest` the new topic is copied from its beginning."""
    scene = make_scene(source, target, 4_000)
    tool = scene.mirror(*COMMIT_OFTEN, consumer=LOOK_OFTEN)
    scene.wait_committed(4_000)
    delete_topic(source.bootstrap, scene.topic)
    create_topic(source.bootstrap, scene.topic, partitions=4)
    scene.load(1_000, seed=9)
    if which != "old":
        wait_until(lambda: "was deleted and recreated" in tool.output(), PATIENCE, "the line about it")
    scene.wait_for(5_000)
    assert tool.running()
    stop(tool)
    assert scene.verdict().count("altered") == 0


@BY_TOOL
def test_a_target_topic_is_deleted_and_recreated(
    source: Any, own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene], which: str
) -> None:
    """What comes meanwhile waits for it. What it had is gone, and `batches` says so."""
    target = own_clusters(properties={"auto.create.topics.enable": "false"})
    scene = make_scene(source, target, 4_000)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(4_000)
    delete_topic(target.bootstrap, scene.topic)
    scene.load(1_000, seed=9)
    create_topic(target.bootstrap, scene.topic, partitions=4)
    scene.wait_for(1_000)
    scene.wait_committed(5_000)
    stop(tool)
    verdict = scene.verdict()
    assert (verdict.count("lost"), verdict.count("reordered")) == (4_000, 0)
    if which == "ours":
        assert emptied(tool) == 4_000
        delete_topic(target.bootstrap, scene.topic)
        create_topic(target.bootstrap, scene.topic, partitions=4)
        scene.load(1_000, seed=10)
        tool = scene.mirror(*COMMIT_OFTEN)
        scene.wait_committed(6_000)
        stop(tool)
        assert emptied(tool) == 5_000


@pytest.mark.parametrize("which", ["ours"])
def test_a_target_topic_is_recreated_by_the_brokers(
    source: Any, own_clusters: Callable[..., Cluster], make_scene: Callable[..., Scene]
) -> None:
    """With one partition, as brokers make topics by themselves: under the mirror, and while it is stopped."""
    target = own_clusters(properties={"num.partitions": "1"})
    scene = make_scene(source, target, 4_000)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(4_000)
    delete_topic(target.bootstrap, scene.topic)
    scene.load(1_000, seed=9)
    scene.wait_committed(5_000)
    stop(tool)
    assert len(end_offsets(target.bootstrap, scene.topic)) == 1
    assert emptied(tool) == 4_000
    delete_topic(target.bootstrap, scene.topic)
    scene.load(1_000, seed=10)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(6_000)
    stop(tool)
    assert emptied(tool) == 5_000


@pytest.mark.parametrize(("which", "acks"), [("ours", "0"), (PYTHON, "all")])
def test_an_empty_copy_is_told_without_offsets_and_of_a_handler(
    source: Any, target: Any, make_scene: Callable[..., Scene], acks: str
) -> None:
    """Deleted under the mirror, and while it is stopped; `acks=0` has no offsets in its answers."""
    scene = make_scene(source, target, 4_000)
    producer = {"acks": acks, "metadata.max.age.ms": "500"}
    tool = scene.mirror(*COMMIT_OFTEN, producer=producer)
    scene.wait_committed(4_000)
    assert empty_copies(tool) == set()
    loads = iter(range(9, 99))

    def is_told() -> bool:
        scene.load(200, seed=next(loads))  # what is sent to the old topic is lost with acks=0
        return empty_copies(tool) == {f"{scene.topic}-{number}" for number in range(4)}

    for _ in range(2):
        delete_topic(target.bootstrap, scene.topic)
        create_topic(target.bootstrap, scene.topic, partitions=4)
        wait_until(is_told, PATIENCE, "a line for each partition")
        scene.wait_committed(sum(end_offsets(source.bootstrap, scene.topic).values()))
        stop(tool)
        tool = scene.mirror(*COMMIT_OFTEN, producer=producer)
    stop(tool)


def empty_copies(tool: ToolProcess) -> set[str]:
    """Partitions of the source of which it says that their copy was empty, or may have been."""
    words = r"(?:The copy of|What the message handler made of) (\S+) (?:in topic \S+ .* was empty|is the first) "
    return set(re.findall(words, tool.output()))


def emptied(tool: ToolProcess) -> int:
    """Offsets of which it says that an empty copy lacks them."""
    told = re.findall(r"was empty when copying went on at offset \d+: the (\d+) offsets", tool.output())
    return sum(map(int, told))


@BY_TOOL
@pytest.mark.scenario(25)
def test_a_partition_is_added(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    scene = make_scene(source, target, 4_000)
    tool = scene.mirror(*COMMIT_OFTEN, consumer=LOOK_OFTEN)
    scene.wait_committed(4_000)
    grow_topic(target.bootstrap, scene.topic, 6)
    grow_topic(source.bootstrap, scene.topic, 6)
    scene.load(4_000, seed=9)
    scene.wait_committed(8_000)
    stop(tool)
    verdict = scene.verdict()
    assert verdict.differences(allow_duplicates=False) == []


@BY_TOOL
@pytest.mark.scenario(26)
def test_the_target_has_fewer_partitions(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    """Each key in the partition of its hash, as Java's producer places it."""
    scene = make_scene(source, target, 20_000, partitions=6, target_partitions=4)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(20_000)
    stop(tool)
    assert scene.verdict().differences(allow_duplicates=False) == []
    keyed = [record for record in read_all(target.bootstrap, scene.topic) if record.key is not None]
    assert {record.partition for record in keyed} == {0, 1, 2, 3}
    assert all(record.partition == partition_of(record.key or b"", 4) for record in keyed)


@BY_TOOL
@pytest.mark.parametrize("abort", ["true", "false"])
@pytest.mark.scenario(32)
def test_the_target_refuses_timestamps(source: Any, target: Any, make_scene: Callable[..., Scene], abort: str) -> None:
    scene = make_scene(source, target, 1_000)
    change_topic(target.bootstrap, scene.topic, {"message.timestamp.before.max.ms": "3600000"})
    scene.load(10, seed=9, age_ms=7_200_000)
    tool = scene.mirror("--abort.on.send.failure", abort, *COMMIT_OFTEN)
    if abort == "true":
        assert tool.wait(60) == 255
        assert scene.committed() < 1_010
        return
    scene.wait_committed(1_010)
    stop(tool)
    assert scene.verdict().count("lost") >= 10, "the old ones, and what shared a batch with them"


@BY_TOOL
@pytest.mark.scenario(28)
def test_a_batch_is_corrupt_on_disk(
    own_clusters: Callable[..., Cluster], target: Any, make_scene: Callable[..., Scene], which: str
) -> None:
    """The mirror ends at that offset and commits nothing beyond; what came before is copied."""
    source = own_clusters()
    scene = make_scene(source, target, 1_000, partitions=1)
    scene.load(1_000, seed=9)
    source.brokers[0].terminate()
    (segment,) = source.folder.glob(f"broker-*/logs/{scene.topic}-0/*.log")
    content = bytearray(segment.read_bytes())
    content[-50] ^= 0xFF
    segment.write_bytes(content)
    source.brokers[0].start()
    source.wait_ready()
    tool = scene.mirror(*COMMIT_OFTEN)
    assert tool.wait(60) == 255, tool.output()
    assert scene.committed() < 2_000
    verdict = scene.verdict()
    assert verdict.count("altered") == verdict.count("unexpected") == 0
    assert 0 < verdict.count("lost") <= 1_000
