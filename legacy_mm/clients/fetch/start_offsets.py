"""The offsets at which reading begins, where they are the ends of logs, or where a log stood at a time."""

from __future__ import annotations

from legacy_mm.base.model import EARLIEST, LATEST, Offsets, TopicPartition, time_of
from legacy_mm.base.reports import Started
from legacy_mm.clients.cluster.cluster import Cluster
from legacy_mm.clients.fetch.position_validator import TopicIds


def start_offsets(cluster: Cluster, logical: Offsets, *, patient: bool) -> tuple[Started, TopicIds]:
    """Return what logical offsets stand for, and the ids that the topics had between the two questions.

    The end of a log is asked for before a time, so that no record of that time comes between.
    """
    lows = cluster.offsets.of_led(logical, EARLIEST, patient=patient)
    ids = cluster.metadata.topic_ids() if lows else {}
    others = [partition for partition in lows if logical[partition] != EARLIEST]
    highs = cluster.offsets.of_led(others, LATEST, patient=patient)
    times = {each: time for each in highs if (time := time_of(logical[each])) is not None}
    first = cluster.offsets.for_times(times, patient=patient) if times else {}
    found = {each: high for each, high in highs.items() if each not in times}
    found |= {each: highs[each] if offset < 0 else max(offset, lows[each]) for each, offset in first.items()}
    lows = {partition: low for partition, low in lows.items() if logical[partition] == EARLIEST or partition in found}
    return Started(lows | found, lows), ids


def log_ends(cluster: Cluster, partition: TopicPartition) -> tuple[int, int]:
    """Return where the log of a partition begins and ends."""
    low, high = (cluster.offsets.of([partition], which)[partition] for which in (EARLIEST, LATEST))
    return low, high
