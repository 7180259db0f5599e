"""The offsets at which reading begins, where they are the ends of logs."""

from __future__ import annotations

from legacy_mm.base.model import EARLIEST, LATEST, Offsets, TopicPartition
from legacy_mm.base.reports import Started
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.position_validator import TopicIds


def start_offsets(cluster: Cluster, logical: Offsets, *, patient: bool) -> tuple[Started, TopicIds]:
    """Return what EARLIEST and LATEST stand for, and the ids that the topics had between the two questions."""
    lows = cluster.offsets.of_led(logical, EARLIEST, patient=patient)
    ids = cluster.metadata.topic_ids() if lows else {}
    latest = [partition for partition in lows if logical[partition] == LATEST]
    highs = cluster.offsets.of_led(latest, LATEST, patient=patient)
    lows = {partition: low for partition, low in lows.items() if logical[partition] == EARLIEST or partition in highs}
    return Started(lows | highs, lows), ids


def log_ends(cluster: Cluster, partition: TopicPartition) -> tuple[int, int]:
    """Return where the log of a partition begins and ends."""
    low, high = (cluster.offsets.of([partition], which)[partition] for which in (EARLIEST, LATEST))
    return low, high
