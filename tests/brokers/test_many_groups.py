"""What ten thousand groups of ten partitions cost the duties. Figures go to compat/reports/groups.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import psutil
import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic
from legacy_mm.base.clock import Deadline, monotonic
from legacy_mm.base.model import CommittedOffset, TopicPartition
from legacy_mm.clients.group.groups import GroupAdmin
from legacy_mm.clients.topics.internal_log import InternalLog
from legacy_mm.clients.topics.internal_topic import InternalTopicWriter
from legacy_mm.features.checkpoints.rounds import Emitter, SourceGroups
from legacy_mm.features.checkpoints.target_groups import TargetGroups
from legacy_mm.metrics.offset_metrics import OffsetMetrics
from legacy_mm.metrics.registry import MirrorNames, Registry
from legacy_mm.protocol.mirror_records import Checkpoint
from tests.fixtures import client_settings

pytestmark = [pytest.mark.brokers, pytest.mark.slow]
REPORT = Path(__file__).resolve().parents[2] / "compat" / "reports" / "groups.json"
GROUPS, PARTITIONS = 10_000, 10
SECONDS = 600.0


@pytest.fixture
def timed() -> Iterator[Callable[[str], AbstractContextManager[None]]]:
    """Parts of a round, with their seconds and the memory that the process has after them; written down at the end."""
    figures: dict[str, dict[str, float]] = {}
    process = psutil.Process()
    before = process.memory_info().rss

    @contextmanager
    def part(name: str) -> Iterator[None]:
        begin = monotonic()
        yield
        grown = (process.memory_info().rss - before) >> 20
        figures[name] = {"seconds": round(monotonic() - begin, 1), "memory_grown_mb": grown}

    yield part
    REPORT.write_text(json.dumps({f"{GROUPS} groups of {PARTITIONS} partitions": figures}, indent=1) + "\n")


def test_ten_thousand_groups(
    own_clusters: Callable[..., Cluster],
    topic: Callable[[str], str],
    timed: Callable[[str], AbstractContextManager[None]],
) -> None:
    source, target = own_clusters(), own_clusters()
    name, checkpoints = topic("groups"), topic("checkpoints")
    for cluster in (source, target):
        create_topic(cluster.bootstrap, name, PARTITIONS)
    create_topic(target.bootstrap, checkpoints, 1)
    here, there = (
        client_settings.read_connection({"bootstrap.servers": cluster.bootstrap}) for cluster in (source, target)
    )
    places = [TopicPartition(name, number) for number in range(PARTITIONS)]
    at_source, at_target = (
        GroupAdmin("source", here),
        GroupAdmin("target", there),
    )
    committed = {f"g-{number}": dict.fromkeys(places, CommittedOffset(number)) for number in range(GROUPS)}
    assert at_source.commit(committed, Deadline.after(SECONDS)) == {}

    with timed("groups and their offsets are read"):
        groups = SourceGroups(at_source, lambda group: group.startswith("g-"), None)
        offsets, untold = groups.offsets(Deadline.after(SECONDS))
    assert (len(offsets), untold) == (GROUPS, {})

    found = (
        Checkpoint(group, place.topic, place.partition, *(offset.offset,) * 2, "")
        for group, committed in offsets.items()
        for place, offset in committed.items()
    )
    log = InternalLog(there, checkpoints, "test")
    metrics = OffsetMetrics(Registry("f", "producer-1", {}, mirror_names=MirrorNames("west", "east", str)))
    emitter = Emitter(log, partial(InternalTopicWriter, there, checkpoints), metrics)
    with timed("checkpoints are written for the first time"):
        assert emitter.emit(found, monotonic(), Deadline.after(SECONDS)) == GROUPS * PARTITIONS
    again = [each for known in emitter.known().values() for each in known.values()]
    with timed("checkpoints of groups that stand still"):
        assert emitter.emit(iter(again), monotonic(), Deadline.after(SECONDS)) == 0
    follower = TargetGroups(at_target, metrics)
    with timed("groups at the target are made"):
        follower.follow(emitter.known(), emitter.rewound(), Deadline.after(SECONDS))
    with timed("groups at the target are compared, none has changed"):
        follower.follow(emitter.known(), emitter.rewound(), Deadline.after(SECONDS))
    reader = Emitter(log, partial(InternalTopicWriter, there, checkpoints), metrics)
    with timed("checkpoints are read after a restart"):
        reader.read(Deadline.after(SECONDS))
    assert reader.known() == emitter.known()
    assert len(at_target.offsets(list(committed), Deadline.after(SECONDS))[0]) == GROUPS
    log.close()
