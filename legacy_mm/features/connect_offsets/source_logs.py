"""The source as a stored offset is held against it: whether the log is the one that the offset is of."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import closing
from typing import NamedTuple

from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.base.model import EARLIEST, LATEST, TopicPartition
from legacy_mm.clients.admin.inspector import asking
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.features.connect_offsets.stored_positions import SourceLog, StoredPosition

_CLIENT = "legacy_mm-source-logs"


class Examined(NamedTuple):
    """The logs of the source, and the positions that are of others."""

    logs: Mapping[str, SourceLog]
    """By topic."""
    foreign: Mapping[TopicPartition, str]
    """Why a position is of another log."""


class SourceLogs:
    """Questions to the source; each connects anew."""

    def __init__(self, settings: ConnectionSettings, timeout: float) -> None:
        """Take any client's settings, and the seconds for one question."""
        self._settings = settings.named(_CLIENT)
        self._timeout = timeout

    def logs(self, topics: Collection[str]) -> Mapping[str, SourceLog]:
        """Return the present log of each of these topics; raise HostError."""
        with asking("looking at the source's topics"), closing(Cluster(self._settings, self._timeout)) as cluster:
            return _logs(cluster, topics)

    def examine(self, positions: Mapping[TopicPartition, StoredPosition], topics: Collection[str]) -> Examined:
        """Hold positions against the source: (1) those with a mark against the ids of cluster and topic; (2) those
        of MirrorMaker 2, which knows no ids, against the log's end and the age of its first record. Raise HostError.
        """
        with asking("looking at the source's logs"), closing(Cluster(self._settings, self._timeout)) as cluster:
            logs = _logs(cluster, topics)
            foreign: dict[TopicPartition, str] = {}
            unmarked: dict[TopicPartition, StoredPosition] = {}
            for partition, found in positions.items():
                if found.log is None:  # (2)
                    unmarked[partition] = found
                elif why := _difference(found.log, logs[partition.topic]):  # (1)
                    foreign[partition] = why
            if unmarked and cluster.metadata.cluster_id():  # older brokers do not know when a record was written
                foreign |= _of_other_logs(cluster, unmarked)
        return Examined(logs, foreign)


def _logs(cluster: Cluster, topics: Collection[str]) -> Mapping[str, SourceLog]:
    cluster.metadata.watch(topics)
    cluster.metadata.refresh()
    ids = cluster.metadata.topic_ids()
    return {topic: SourceLog(cluster.metadata.cluster_id(), str(ids.get(topic) or "")) for topic in topics}


def _difference(stored: SourceLog, present: SourceLog) -> str:
    if stored.cluster and present.cluster and stored.cluster != present.cluster:
        return f"it is of source cluster {stored.cluster}, and this is {present.cluster}"
    if stored.topic_id and present.topic_id and stored.topic_id != present.topic_id:
        return f"it is of a topic with id {stored.topic_id}, and now it has id {present.topic_id}"
    return ""


def _of_other_logs(cluster: Cluster, positions: Mapping[TopicPartition, StoredPosition]) -> dict[TopicPartition, str]:
    """Return the positions that are behind the log's end, or older than the first record though that is before them.

    Whoever stored a position had read all records before it, so none of them is younger.
    """
    lows, ends = (cluster.offsets.of_led(list(positions), which, patient=False) for which in (EARLIEST, LATEST))
    younger = cluster.offsets.for_times({each: found.written_ms + 1 for each, found in positions.items()})
    foreign: dict[TopicPartition, str] = {}
    for partition, found in positions.items():
        low, end = lows.get(partition), ends.get(partition)
        if end is not None and found.next > end:
            foreign[partition] = f"the log ends at offset {end}"
        elif low is not None and low < found.next and younger.get(partition) == low:
            foreign[partition] = f"the log's first record, at offset {low}, is younger than the stored offset"
    return foreign
