"""`preserve.partitions` between real brokers: every record stays in its partition, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from legacy_mm.audit.cluster_access import create_topic, end_offsets, grow_topic, list_topics, read_all, wait_for_count
from legacy_mm.audit.load import NEVER_EXPIRE, Loaded, load, load_kinds
from legacy_mm.audit.record_comparison import ExpectedPartition, ObservedRecord, same_records
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import StreamFailure
from legacy_mm.base.reports import Progress
from legacy_mm.dataplane import target_topics
from tests.fixtures.copying import PATIENCE, Copying, Start

pytestmark = pytest.mark.brokers
SOURCE_PARTITIONS = 4
MORE_PARTITIONS = 7  # other than the source's: keys alone would place records elsewhere


@pytest.fixture
def name(topic: Callable[[], str]) -> str:
    return topic()


@pytest.fixture(scope="module")
def kinds(source: Any) -> list[Loaded]:
    """All codecs, null keys, headers, a transactional, a compacted and a log-append topic, and more."""
    return [loaded for loaded in load_kinds(source.bootstrap, "preserve") if loaded.visible]


def named(records: Iterable[ObservedRecord], topic: str) -> list[ObservedRecord]:
    return [replace(record, topic=topic) for record in records]


@pytest.mark.parametrize("codec", [None, pytest.param("zstd", marks=pytest.mark.slow)])
def test_every_record_stays_in_its_partition_in_order(
    source: Any, target: Any, kinds: list[Loaded], start_copying: Start, codec: str | None
) -> None:
    """Invariants A and C."""
    names = {loaded.topic: f"{loaded.topic}-{codec}" for loaded in kinds}
    for loaded in kinds:
        create_topic(target.bootstrap, names[loaded.topic], MORE_PARTITIONS, config=NEVER_EXPIRE)
    runs = [
        start_copying(
            source.bootstrap,
            target.bootstrap,
            "",
            partitions,
            names={loaded.topic: names[loaded.topic] for loaded in kinds if loaded.partitions == partitions},
            consumer={"isolation.level": "read_committed"},
            producer={} if codec is None else {"compression.type": codec},
            keeps_partition=list(names),
        )
        for partitions in {loaded.partitions for loaded in kinds}
    ]
    for loaded in kinds:
        wait_for_count(target.bootstrap, names[loaded.topic], loaded.visible, PATIENCE)
    for run in runs:
        assert run.stop() == {}
        assert run.error is None
    for loaded in kinds:
        there = read_all(source.bootstrap, loaded.topic, isolation="read_committed")
        here = read_all(target.bootstrap, names[loaded.topic])
        assert len({record.partition for record in here}) == loaded.partitions
        assert same_records(named(there, "t"), named(here, "t"), placement="same") == [], loaded.kind


def test_a_copy_begins_in_the_middle_of_a_batch(source: Any, target: Any, name: str, start_copying: Start) -> None:
    create_topic(source.bootstrap, name, 1)
    create_topic(target.bootstrap, name, 2)
    load(source.bootstrap, name, 500, 100, codec="lz4")
    copying = start_copying(source.bootstrap, target.bootstrap, name, 1, begin=17, keeps_partition=[name])
    copying.wait_safe(500)
    assert copying.stop() == {}
    there, here = (read_all(cluster.bootstrap, name) for cluster in (source, target))
    assert same_records(there[17:], here, placement="same") == []


def start_with_too_few(source: Any, target: Any, name: str, start: Start) -> Copying:
    create_topic(source.bootstrap, name, SOURCE_PARTITIONS)
    create_topic(target.bootstrap, name, 2)
    load(source.bootstrap, name, 1_000, 100)
    return start(source.bootstrap, target.bootstrap, name, SOURCE_PARTITIONS, keeps_partition=[name])


def test_too_few_partitions_at_the_target_end_the_mirror_before_a_record_is_sent(
    source: Any, target: Any, name: str, start_copying: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target_topics, "GROWTH_TIMEOUT", 0.5)
    copying = start_with_too_few(source, target, name, start_copying)
    wait_until(copying.over, PATIENCE, "the end")
    assert type(copying.error) is StreamFailure
    assert f"{name} has 2 partitions at the target and 4 at the source" in str(copying.error)
    assert not any(end_offsets(target.bootstrap, name).values())
    assert not copying.safe


def test_a_target_topic_that_grows_in_time_is_noticed(
    source: Any, target: Any, name: str, start_copying: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target_topics, "GROWTH_TIMEOUT", PATIENCE)
    copying = start_with_too_few(source, target, name, start_copying)
    wait_until(lambda: any(frame.blocked for frame in copying.of(Progress)), PATIENCE, "it to wait")
    assert not any(end_offsets(target.bootstrap, name).values())
    grow_topic(target.bootstrap, name, SOURCE_PARTITIONS)
    copying.wait_safe(1_000)
    assert copying.stop() == {}
    there, here = (read_all(cluster.bootstrap, name) for cluster in (source, target))
    assert same_records(there, here, placement="same") == []


def test_a_topic_that_the_target_s_brokers_create_is_waited_for(
    source: Any, target: Any, name: str, start_copying: Start
) -> None:
    """Those of the testbed give a new topic four partitions."""
    create_topic(source.bootstrap, name, SOURCE_PARTITIONS)
    load(source.bootstrap, name, 1_000, 100)
    copying = start_copying(source.bootstrap, target.bootstrap, name, SOURCE_PARTITIONS, keeps_partition=[name])
    copying.wait_safe(1_000)
    assert copying.stop() == {}
    there, here = (read_all(cluster.bootstrap, name) for cluster in (source, target))
    assert same_records(there, here, placement="same") == []


def test_a_topic_that_a_duty_makes_is_not_made_by_the_brokers(
    source: Any, target: Any, name: str, start_copying: Start
) -> None:
    """Where the target was away when the duty looked."""
    create_topic(source.bootstrap, name, SOURCE_PARTITIONS)
    load(source.bootstrap, name, 1_000, 100)
    copying = start_copying(
        source.bootstrap,
        target.bootstrap,
        name,
        SOURCE_PARTITIONS,
        keeps_partition=[name],
        topics_made=True,
    )
    wait_until(lambda: any(frame.blocked for frame in copying.of(Progress)), PATIENCE, "it to wait")
    assert name not in list_topics(target.bootstrap)
    create_topic(target.bootstrap, name, MORE_PARTITIONS)
    copying.wait_safe(1_000)
    assert copying.stop() == {}
    there, here = (read_all(cluster.bootstrap, name) for cluster in (source, target))
    assert same_records(there, here, placement="same") == []


def test_a_topic_that_the_duty_cannot_make_is_left_to_the_brokers(
    source: Any,
    target: Any,
    name: str,
    start_copying: Start,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It may be refused that for ever; the copying goes on."""
    monkeypatch.setattr(target_topics, "_MADE_TIMEOUT", 0.5)
    create_topic(source.bootstrap, name, SOURCE_PARTITIONS)
    load(source.bootstrap, name, 1_000, 100)
    copying = start_copying(
        source.bootstrap,
        target.bootstrap,
        name,
        SOURCE_PARTITIONS,
        keeps_partition=[name],
        topics_made=True,
    )
    copying.wait_safe(1_000)
    assert copying.stop() == {}
    assert f"topic {name} is still missing at the target" in caplog.text


def test_topics_beside_it_go_by_their_keys(
    source: Any, target: Any, topic: Callable[[], str], start_copying: Start
) -> None:
    """As where `feature.topics` names only some."""
    kept, keyed = topic(), topic()
    for name in (kept, keyed):
        create_topic(source.bootstrap, name, SOURCE_PARTITIONS)
        create_topic(target.bootstrap, name, MORE_PARTITIONS)
        load(source.bootstrap, name, 1_000, 100)
    copying = start_copying(
        source.bootstrap,
        target.bootstrap,
        "",
        SOURCE_PARTITIONS,
        names={kept: kept, keyed: keyed},
        keeps_partition=[kept],
    )
    copying.wait_safe(2_000)
    assert copying.stop() == {}
    placements: dict[str, ExpectedPartition] = {kept: "same", keyed: "hash"}
    for name, placement in placements.items():
        there, here = (read_all(cluster.bootstrap, name) for cluster in (source, target))
        assert same_records(there, here, target_partitions=MORE_PARTITIONS, placement=placement) == []
