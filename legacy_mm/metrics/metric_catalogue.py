"""Every metric there is: one row each, from which the old MBeans and Prometheus are made.

A row says at which level it stands, its name, its unit, and how it is read out of the snapshot. Names are those of
Kafka's Java clients with underscores; those of level `mirror` are ours. In Prometheus a metric is called
`legacy_mm_` + level + name, without the level for `mirror`; rates are left to Prometheus, which has the totals.

A metric without an honest source has no row. What librdkafka counts a little differently:
`connection_creation_*` are attempts, also failed ones; `*_latency_*` are round trips of connections that carry Fetch
or Produce; bytes of records are those of batches as they travel; `waiting_threads` is
the number of streams that wait for the target.

`lag_seconds` is an estimate (`lag.py`); `lag_is_longer` and `caught_up_seconds` are absent where they do not apply.
Levels `mirror_partition` and `mirror_group` are MirrorMaker 2's.
`byte_count` is the size of the values; the part of it that was estimated, because opening every compressed batch would
have cost too much, is `estimated_byte_count` (`dataplane/batch_contents.py`). Their `lag_seconds`, ours, is the age of
the first record that was read and is not copied yet, 0 where nothing is left to copy, and absent where records wait
that nobody has read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from legacy_mm.metrics.window import NOTHING_YET, WindowReading

MetricKind = Literal["counter", "gauge", "rate"]

LABELS = {
    "partition": ("topic", "partition"),
    "duty": ("duty",),
    "connector": ("connector",),
    "consumer": ("client_id",),
    "consumer_node": ("client_id", "node_id"),
    "consumer_topic": ("client_id", "topic"),
    "consumer_partition": ("client_id", "topic", "partition"),
    "producer": ("client_id",),
    "producer_node": ("client_id", "node_id"),
    "producer_topic": ("client_id", "topic"),
    "member": ("client_id",),
    "member_node": ("client_id", "node_id"),
    "admin": ("client_id",),
    "admin_node": ("client_id", "node_id"),
    "transactions": ("client_id",),
    "mirror_partition": ("source", "target", "topic", "partition"),
    "mirror_offsets": ("source", "target"),
    "mirror_group": ("source", "target", "group", "topic", "partition"),
}
"""The labels of each level beside `flow`, in the order of a `Scope`; a level without a row has none."""

ONLY_WITH = {
    "transactions": "`exactly.once`",
    "flow": "`connect-mirror-maker.sh` and `legacy-mm connect`",
    "connector": "`connect-mirror-maker.sh` and `legacy-mm connect`",
    "worker": "`connect-mirror-maker.sh` and `legacy-mm connect`",
    "member": "a group of Kafka Connect's workers, whose member each stream is",
    "member_node": "a group of Kafka Connect's workers",
    "admin": "`connect-mirror-maker.sh` and `legacy-mm connect`",
    "admin_node": "`connect-mirror-maker.sh` and `legacy-mm connect`",
    "duty": "a feature that looks after the target",
    "mirror_partition": "`emit.offset-syncs.enabled`",
    "mirror_offsets": "`emit.offset-syncs.enabled`",
    "mirror_group": "`emit.checkpoints.enabled`",
}
"""Levels that are not always there, and the feature or the command that they come with."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One row."""

    level: str
    name: str
    source: str
    """The measure in the snapshot."""
    read: Callable[[WindowReading], float]
    unit: str
    kind: MetricKind = "gauge"
    per: str = ""
    """The measure to divide by."""

    @property
    def prometheus(self) -> str:
        """The name for Prometheus."""
        return "legacy_mm_" + (self.name if self.level == "mirror" else f"{self.level}_{self.name}")

    def value(self, readings: Mapping[str, WindowReading]) -> float:
        """Return the value in these readings of one scope; NaN if there is none, as in Kafka's clients."""
        value = self.read(readings.get(self.source, NOTHING_YET))
        if not self.per:
            return value
        divisor = self.read(readings.get(self.per, NOTHING_YET))
        return value / divisor if divisor else math.nan


def _now(reading: WindowReading) -> float:
    return reading.value


def _number(reading: WindowReading) -> float:
    """Return a number of things that are there now: 0 while no client reports any."""
    return 0.0 if math.isnan(reading.value) else reading.value


def _ago(reading: WindowReading) -> float:
    """Return -1 for what has not happened yet, as Kafka's consumer does."""
    return -1.0 if math.isnan(reading.value) else reading.value


def _total(reading: WindowReading) -> float:
    return 0.0 if reading is NOTHING_YET else reading.value


def _maximum(reading: WindowReading) -> float:
    return reading.maximum


def _minimum(reading: WindowReading) -> float:
    return reading.minimum


def _amount(reading: WindowReading) -> float:
    return reading.amount


def _per_hour(reading: WindowReading) -> float:
    return reading.rate() * 3600


def _counted(level: str, name: str, source: str, unit: str) -> Iterator[Metric]:
    """Yield `name-total` and `name-rate`."""
    yield Metric(level, f"{name}_total", source, _total, unit, "counter")
    yield Metric(level, f"{name}_rate", source, WindowReading.rate, f"{unit}/s", "rate")


def _spread(level: str, name: str, source: str, unit: str) -> Iterator[Metric]:
    """Yield `name-avg` and `name-max`."""
    yield Metric(level, f"{name}_avg", source, WindowReading.average, unit)
    yield Metric(level, f"{name}_max", source, _maximum, unit)


def _traffic(level: str) -> Iterator[Metric]:
    """Yield what Kafka counts for a client and for each of its nodes."""
    yield from _counted(level, "request", "requests", "requests")
    yield from _counted(level, "response", "responses", "responses")
    yield from _counted(level, "outgoing_byte", "request_bytes", "bytes")
    yield from _counted(level, "incoming_byte", "response_bytes", "bytes")
    yield Metric(level, "request_size_avg", "request_bytes", _amount, "bytes", per="requests")


def _latencies(level: str) -> Iterator[Metric]:
    yield from _spread(level, "request_latency", "latency_ms", "ms")


def _connections(level: str) -> Iterator[Metric]:
    yield Metric(level, "connection_count", "connections", _number, "connections")
    yield from _counted(level, "connection_creation", "connects", "connections")
    yield from _counted(level, "connection_close", "disconnects", "connections")
    yield from _counted(level, "network_io", "exchanges", "requests and responses")


def _membership(level: str) -> Iterator[Metric]:
    """Yield what Kafka counts for a member of a group."""
    yield from _counted(level, "heartbeat", "heartbeats", "requests")
    yield from _counted(level, "join", "joins", "requests")
    yield from _counted(level, "sync", "syncs", "requests")
    yield Metric(level, "rebalance_total", "rebalances", _total, "rebalances", "counter")
    yield Metric(level, "rebalance_rate_per_hour", "rebalances", _per_hour, "rebalances/h", "rate")
    yield Metric(level, "last_rebalance_seconds_ago", "rebalance", _ago, "s")


def _consumed(level: str) -> Iterator[Metric]:
    yield from _counted(level, "records_consumed", "received_records", "records")
    yield from _counted(level, "bytes_consumed", "received_bytes", "bytes")


def _ages(level: str, name: str, measure: str) -> Iterator[Metric]:
    """Yield an age in ms as MirrorMaker 2 shows it: the last one, and those recorded lately."""
    yield Metric(level, name, f"last_{measure}", _now, "ms")
    for ending, read in (("min", _minimum), ("max", _maximum), ("avg", WindowReading.average)):
        yield Metric(level, f"{name}_{ending}", measure, read, "ms")


def _behind(level: str) -> Iterator[Metric]:
    """Yield how long something is behind its source; a flow is behind as its last partition."""
    yield Metric(level, "lag_seconds", "lag_seconds", _now, "seconds since the log ended where copying stands")
    yield Metric(level, "lag_is_longer", "lag_is_longer", _now, "1 where nobody saw the log end there, so it is longer")


METRICS = (
    Metric("mirror", "records_copied_total", "records", _total, "records sent to the target", "counter"),
    Metric("mirror", "records_copied_rate", "records", WindowReading.rate, "records/s", "rate"),
    Metric("mirror", "records_dropped_total", "dropped", _total, "records that could not be sent", "counter"),
    Metric("mirror", "unwritable_topics", "unwritable", _number, "target topics that records of a stream wait for"),
    *_behind("mirror"),
    Metric("mirror", "caught_up_seconds", "caught_up_seconds", _now, "seconds until the lag is gone, as it goes now"),
    *_behind("partition"),
    Metric("mirror", "gaps_total", "gaps", _total, "gaps in source offsets", "counter"),
    Metric("mirror", "gap_offsets_total", "gap_offsets", _total, "offsets not copied because of gaps", "counter"),
    Metric("mirror", "skipped_offsets_total", "skipped_offsets", _total, "offsets that latest skipped", "counter"),
    Metric("mirror", "records_filtered_total", "filtered", _total, "records a handler dropped on purpose", "counter"),
    Metric("mirror", "records_quarantined_total", "quarantined", _total, "records set aside", "counter"),
    Metric("transactions", "committed_total", "committed", _total, "transactions of exactly once", "counter"),
    Metric("transactions", "given_up_total", "given_up", _total, "transactions whose records came again", "counter"),
    Metric("transactions", "doubtful_total", "doubtful", _total, "commits after a request without answer", "counter"),
    Metric("transactions", "claims_total", "claims", _total, "bundles that were claimed", "counter"),
    Metric("transactions", "claim_seconds_total", "claim_seconds", _total, "seconds of all claims", "counter"),
    Metric("transactions", "open_seconds", "open_seconds", _now, "age of the oldest open transaction"),
    Metric("flow", "up", "up", _now, "1 while the flow runs, 0 while it waits for its next start"),
    Metric("flow", "failures_total", "failures", _total, "failures after which the flow starts again", "counter"),
    Metric("connector", "tasks", "tasks", _now, "tasks"),
    Metric("connector", "running", "running", _now, "tasks that run"),
    Metric("connector", "failed", "failed", _now, "tasks that wait for the next start of their flow"),
    Metric("worker", "connectors", "connectors", _now, "connectors"),
    Metric("worker", "starts_total", "starts", _total, "starts of a connector that were tried", "counter"),
    Metric("worker", "started_total", "started", _total, "starts that succeeded", "counter"),
    Metric("worker", "start_failures_total", "start_failures", _total, "starts that failed", "counter"),
    Metric("worker", "started_share", "started", _total, "share of the starts that succeeded", per="starts"),
    Metric("worker", "start_failures_share", "start_failures", _total, "share of the starts that failed", per="starts"),
    Metric("duty", "changes_total", "changes", _total, "changes made at the target", "counter"),
    Metric("duty", "failures_total", "failures", _total, "things that failed or were refused", "counter"),
    *_traffic("consumer"),
    *_traffic("consumer_node"),
    *_traffic("producer"),
    *_traffic("producer_node"),
    *_latencies("consumer_node"),
    *_latencies("producer_node"),
    *_connections("consumer"),
    *_connections("producer"),
    *_consumed("consumer"),
    *_consumed("consumer_topic"),
    *_counted("consumer", "fetch", "fetches", "requests"),
    *_spread("consumer", "fetch_latency", "latency_ms", "ms"),
    *_spread("consumer", "fetch_throttle_time", "throttle_ms", "ms"),
    Metric("consumer", "fetch_size_avg", "received_bytes", _amount, "bytes", per="fetches"),
    Metric("consumer", "records_per_request_avg", "received_records", _amount, "records", per="fetches"),
    Metric("consumer", "records_lag_max", "lag", _maximum, "records"),
    Metric("consumer", "records_lead_min", "lead", _minimum, "records"),
    Metric("consumer_partition", "records_lag", "lag", _now, "records"),
    *_spread("consumer_partition", "records_lag", "lag", "records"),
    Metric("consumer_partition", "records_lead", "lead", _now, "records"),
    Metric("consumer_partition", "records_lead_avg", "lead", WindowReading.average, "records"),
    Metric("consumer_partition", "records_lead_min", "lead", _minimum, "records"),
    Metric("consumer", "assigned_partitions", "assigned", _number, "partitions"),
    *_counted("consumer", "commit", "commits", "commits"),
    *_spread("consumer", "commit_latency", "commit_ms", "ms"),
    *_membership("consumer"),
    *chain.from_iterable(
        [*_traffic(level), *_connections(level), *_traffic(f"{level}_node"), *_latencies(f"{level}_node")]
        for level in ("member", "admin")
    ),
    *_membership("member"),
    Metric("member", "connectors", "connectors", _number, "connectors"),
    *_counted("producer", "record_send", "sent_records", "records"),
    *_counted("producer", "record_error", "errors", "records"),
    *_counted("producer_topic", "record_send", "sent_records", "records"),
    *_counted("producer_topic", "record_error", "errors", "records"),
    *_counted("producer_topic", "byte", "sent_bytes", "bytes"),
    Metric("producer", "record_size_avg", "sent_bytes", _amount, "bytes", per="sent_records"),
    Metric("producer", "records_per_request_avg", "sent_records", _amount, "records", per="produces"),
    *_spread("producer", "batch_size", "batch_bytes", "bytes"),
    *_spread("producer", "record_queue_time", "queue_ms", "ms"),
    *_spread("producer", "request_latency", "latency_ms", "ms"),
    *_spread("producer", "produce_throttle_time", "throttle_ms", "ms"),
    Metric("producer", "requests_in_flight", "requests_in_flight", _number, "requests"),
    Metric("producer", "buffer_total_bytes", "buffer_bytes", _now, "bytes"),
    Metric("producer", "buffer_available_bytes", "buffer_free_bytes", _now, "bytes"),
    Metric("producer", "waiting_threads", "waiting", _number, "streams"),
    Metric("producer", "metadata_age", "metadata", _now, "s"),
    Metric("mirror_partition", "record_count", "records", _total, "records that the target has", "counter"),
    Metric("mirror_partition", "record_rate", "records", WindowReading.rate, "records/s", "rate"),
    Metric("mirror_partition", "byte_count", "value_bytes", _total, "bytes of values", "counter"),
    Metric(
        "mirror_partition", "estimated_byte_count", "estimated_bytes", _total, "bytes that were estimated", "counter"
    ),
    Metric("mirror_partition", "byte_rate", "value_bytes", WindowReading.rate, "bytes/s", "rate"),
    *_ages("mirror_partition", "record_age_ms", "age_ms"),
    *_ages("mirror_partition", "replication_latency_ms", "latency_ms"),
    Metric("mirror_partition", "lag_seconds", "uncopied_seconds", _now, "age of the first uncopied record"),
    *_ages("mirror_group", "checkpoint_latency_ms", "checkpoint_ms"),
    Metric("mirror_offsets", "checkpoints_emitted_total", "checkpoints", _total, "checkpoints", "counter"),
    Metric("mirror_offsets", "groups_synced_total", "groups", _total, "moves of groups", "counter"),
    Metric("mirror_offsets", "offset_syncs_sent_total", "syncs", _total, "offset syncs", "counter"),
    Metric("mirror_offsets", "offset_syncs_failed_total", "failed_syncs", _total, "offset syncs", "counter"),
)
BY_PLACE = {(metric.level, metric.name): metric for metric in METRICS}
