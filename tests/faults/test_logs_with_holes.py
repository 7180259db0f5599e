"""Logs whose offsets are not all records: aborted transactions, their markers, compaction. Scenarios 29 to 31.

What becomes of every kind of such a record is compared in tests/side_by_side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, end_offsets, read_all
from legacy_mm.audit.ledger_check import Verdict
from legacy_mm.audit.load import load_compacted
from legacy_mm.audit.record_comparison import same_records
from tests.faults.conftest import BY_TOOL, SEEN, Scene
from tests.faults.test_recovery import COMMIT_OFTEN, stop

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.slow]
RECORDS, PARTITIONS = 2_000, 4


def transactions(scene: Scene) -> None:
    """Two aborted between three committed: the last offset of each partition is a marker."""
    for ending in ("commit", "abort", "commit", "abort", "commit"):
        scene.load(RECORDS, transaction=ending)


@BY_TOOL
@pytest.mark.scenario(29)
@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_transactions_are_aborted(source: Any, target: Any, make_scene: Callable[..., Scene], isolation: str) -> None:
    """The default copies what was aborted, as plain records; `read_committed` leaves out just that."""
    scene = make_scene(source, target, 0)
    transactions(scene)
    copied = read_all(source.bootstrap, scene.topic, isolation=isolation)
    tool = scene.mirror(*COMMIT_OFTEN, consumer={"isolation.level": isolation})
    scene.wait_for(len(copied))
    stop(tool)
    verdict = scene.verdict()
    assert verdict.count("lost") == (2 * RECORDS if isolation == "read_committed" else 0)
    assert {scene.ledger.sequence_of(record.value) for record in copied} == {
        scene.ledger.sequence_of(record.value) for record in read_all(target.bootstrap, scene.topic)
    }
    assert verdict.count("duplicated") == verdict.count("reordered") == verdict.count("altered") == 0


@BY_TOOL
@pytest.mark.scenario(30)
def test_the_log_ends_with_markers(source: Any, target: Any, make_scene: Callable[..., Scene]) -> None:
    """Committed is the offset behind the last record; the marker stays as a lag of one, and is no reason to copy
    anything again.
    """
    scene = make_scene(source, target, 0)
    transactions(scene)
    last = {record.partition: record.offset for record in read_all(source.bootstrap, scene.topic)}
    expected = sum(offset + 1 for offset in last.values())
    assert sum(end_offsets(source.bootstrap, scene.topic).values()) == expected + PARTITIONS
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_committed(expected)
    stop(tool)
    assert scene.committed() == expected
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.load(RECORDS, seed=9)
    scene.wait_for(scene.ledger.acknowledged)
    scene.wait_committed(expected + PARTITIONS + RECORDS)
    stop(tool)
    assert scene.differences(allow_duplicates=False) == []


@BY_TOOL
@pytest.mark.scenario(31)
def test_a_compacted_topic(source: Any, target: Any, make_scene: Callable[..., Scene], which: str) -> None:
    """What compaction left is copied, with its nulls; the offsets that it took away are no gaps."""
    scene = make_scene(source, target, 0)
    scene = replace(scene, topic=f"{scene.topic}-compacted")
    written = load_compacted(source.bootstrap, scene.topic)
    create_topic(target.bootstrap, scene.topic, written.partitions, config=written.config)
    left = read_all(source.bootstrap, scene.topic)
    assert 0 < len(left) < written.written
    assert any(record.value is None for record in left)
    tool = scene.mirror(*COMMIT_OFTEN)
    scene.wait_for(len(left))
    scene.wait_committed(written.written)
    stop(tool)
    copied = read_all(target.bootstrap, scene.topic)
    assert same_records(left, copied, target_partitions=written.partitions) == []
    scene.stash[SEEN] = Verdict(len(left), len(copied))
    if which != "old":
        assert "Gap in " not in tool.output()
        assert "Skipped in " not in tool.output()
