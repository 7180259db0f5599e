"""Topics that are read once, on real brokers: every kind of record, ranges, the end of the time, missing topics."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing

import pytest

from compat.laboratory.cluster import Cluster
from legacy_mm.audit.cluster_access import create_topic, delete_records, end_offsets, read_all
from legacy_mm.audit.load import load, load_kinds
from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import TopicPartition
from legacy_mm.clients.cluster.cluster import Cluster as NativeCluster
from legacy_mm.clients.fetch.partition_log import LogRecord, PartitionLog
from legacy_mm.clients.topics.topic_reader import has_records, read_range, read_to_end, read_topic

pytestmark = pytest.mark.brokers
SECONDS = 30.0
Row = tuple[int, int, bytes | None, bytes | None, int]


def connection(cluster: Cluster) -> ConnectionSettings:
    return ConnectionSettings((cluster.bootstrap,))


def rows(cluster: Cluster, topic: str) -> list[Row]:
    """As our own reader gives them."""
    with closing(read_topic(connection(cluster), topic, Deadline.after(SECONDS))) as found:
        return sorted((number, each.offset, each.key, each.value, each.timestamp) for number, each in found)


def test_every_kind_of_record_is_read_as_librdkafka_reads_it(source: Cluster, topic: Callable[..., str]) -> None:
    """Codecs, nulls, headers, transactions that were aborted, compaction, the broker's time."""
    for kind in load_kinds(source.bootstrap, topic("kinds")):
        wanted = read_all(source.bootstrap, kind.topic, isolation="read_committed")
        found = rows(source, kind.topic)
        assert found == sorted((row.partition, row.offset, row.key, row.value, row.timestamp) for row in wanted), kind
        with closing(read_topic(connection(source), kind.topic, Deadline.after(SECONDS))) as again:
            headers = {(number, each.offset): each.headers for number, each in again}
        assert headers == {
            (row.partition, row.offset): tuple((name.encode(), value) for name, value in row.headers) for row in wanted
        }, kind


def test_a_range_is_read_to_its_end_and_no_further(source: Cluster, topic: Callable[..., str]) -> None:
    name = topic()
    create_topic(source.bootstrap, name, 1)
    load(source.bootstrap, name, 5_000, 100, partitions=1)
    with closing(read_range(connection(source), name, 0, 1_234, 4_321, committed=True)) as parts:
        offsets = [record.offset for part in parts for record in part]
    assert offsets == list(range(1_234, 4_321))
    assert has_records(connection(source), name, 0, 4_999, 5_000, committed=True)
    assert not has_records(connection(source), name, 0, 5_000, 5_000, committed=True)
    delete_records(source.bootstrap, name, {0: 100})
    with pytest.raises(HostError, match="the log begins at offset 100, and 50 is wanted"):
        has_records(connection(source), name, 0, 50, 200, committed=True)


def test_a_topic_that_is_not_there_is_empty(source: Cluster, topic: Callable[..., str]) -> None:
    assert rows(source, topic("nothing")) == []
    assert list(read_to_end(connection(source), topic("nothing"), Deadline.after(SECONDS))) == []


def test_when_the_time_is_over_what_was_read_counts(
    source: Cluster, topic: Callable[..., str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client of users' programs says so; others fail."""
    name = topic()
    create_topic(source.bootstrap, name, 1)
    load(source.bootstrap, name, 3_000, 10_000, partitions=1)  # several answers
    over = Deadline.after(0.0)
    ends = end_offsets(source.bootstrap, name)[0]
    with caplog.at_level(logging.WARNING):
        some = [record.offset for record in read_to_end(connection(source), name, over)]
    assert some == list(range(len(some)))
    assert 0 < len(some) < ends
    assert "The time was over before the end of" in caplog.text
    with pytest.raises(HostError, match=f"reading {name} failed: the time was over"):
        list(read_topic(connection(source), name, over))


def test_the_place_behind_the_end_has_no_records_and_below_the_log_the_first(
    source: Cluster, topic: Callable[..., str]
) -> None:
    name = topic()
    create_topic(source.bootstrap, name, 1)
    load(source.bootstrap, name, 20, 100, partitions=1)
    delete_records(source.bootstrap, name, {0: 5})
    with closing(NativeCluster(connection(source), SECONDS)) as cluster:
        cluster.metadata.watch({name})
        with closing(PartitionLog(cluster, TopicPartition(name, 0))) as log:
            first, last = log.read(0), log.read(20)
    assert [record.offset for record in first.records] == list(range(5, 20))
    assert (first.next_offset, last) == (20, ([], 20))
    assert isinstance(first.records[0], LogRecord)
