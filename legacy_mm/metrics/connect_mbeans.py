"""The MBeans of the Kafka Connect that runs inside MirrorMaker 2, for dashboards that read them; where its files run.

A flow is a connector of each kind with one task. What only Connect's own worker has answers NaN, as in Java before the
first sample, or 0 where nothing of the kind can happen here. Where several flows run in one process their numbers are
added up: in MirrorMaker 2 the beans of all of them have the same names, and one flow is seen.

Its consumers are in no group, so they have no coordinator; its workers are in one (`MEMBER`).
"""

from __future__ import annotations

from legacy_mm.metrics.client_mbeans import (
    ADMIN,
    CONSUMER,
    CONSUMER_SINCE_4,
    MEMBER,
    PRODUCER_SINCE_4,
    WORKER,
)
from legacy_mm.metrics.jmx import Attribute, Bean

_RELEASE = "4.3.0"
"""The release of MirrorMaker 2 whose beans these are."""


def _numbers(names: str, metric: str = "") -> tuple[Attribute, ...]:
    """Return attributes that show this metric; NaN without one."""
    return tuple(Attribute(name, metric) for name in names.split())


def _whole(names: str, metric: str = "") -> tuple[Attribute, ...]:
    """Return attributes that Connect shows as a `long`; 0 without a metric."""
    return tuple(Attribute(name, metric, "Long", constant=0) for name in names.split())


def _zeros(names: str) -> tuple[Attribute, ...]:
    return tuple(Attribute(name, constant=0.0) for name in names.split())


def _texts(**texts: str) -> tuple[Attribute, ...]:
    return tuple(Attribute(name.replace("_", "-"), java_class="String", constant=text) for name, text in texts.items())


_PACKAGE = "org.apache.kafka.connect"
_CONVERTER = f"{_PACKAGE}.converters.ByteArrayConverter"
_CONNECTOR = _texts(
    connector_class=f"{_PACKAGE}.mirror.{{connector}}", connector_type="source", connector_version=_RELEASE
)
_STATUS = Attribute("status", "running", "String", texts=("failed", "running"))
_TASK = "connector={connector},task=0"

CONNECT_BEANS = (
    *CONSUMER,
    *CONSUMER_SINCE_4,
    *PRODUCER_SINCE_4,
    *ADMIN,
    *MEMBER,
    *WORKER,
    Bean(
        "worker",
        "kafka.connect:type=connect-worker-metrics",
        (
            *_numbers("connector-count task-count", "connectors"),
            *_numbers("connector-startup-attempts-total task-startup-attempts-total", "starts_total"),
            *_numbers("connector-startup-success-total task-startup-success-total", "started_total"),
            *_numbers("connector-startup-failure-total task-startup-failure-total", "start_failures_total"),
            *_numbers("connector-startup-success-percentage task-startup-success-percentage", "started_share"),
            *_numbers("connector-startup-failure-percentage task-startup-failure-percentage", "start_failures_share"),
        ),
    ),
    Bean(
        "member",
        "kafka.connect:type=connect-worker-rebalance-metrics",
        (
            *_texts(leader_name="NOTUSED", connect_protocol="SESSIONED"),
            *_numbers("completed-rebalances-total", "rebalance_total"),
            *_zeros("epoch rebalancing"),
            *_numbers("rebalance-avg-time-ms rebalance-max-time-ms time-since-last-rebalance-ms"),
        ),
    ),
    Bean(
        "connector",
        "kafka.connect:type=connect-worker-metrics,connector={connector}",
        (
            *_whole("connector-total-task-count", "tasks"),
            *_whole("connector-running-task-count", "running"),
            *_whole("connector-failed-task-count", "failed"),
            *_whole("connector-paused-task-count connector-unassigned-task-count"),
            *_whole("connector-destroyed-task-count connector-restarting-task-count"),
        ),
    ),
    Bean(
        "connector",
        "kafka.connect:type=connector-metrics,connector={connector}",
        (
            *_CONNECTOR,
            _STATUS,
        ),
    ),
    Bean(
        "connector",
        f"kafka.connect:type=connector-task-metrics,{_TASK}",
        (
            *_CONNECTOR,
            _STATUS,
            *_texts(task_class=f"{_PACKAGE}.mirror.{{task}}", task_version=_RELEASE),
            *_texts(key_converter_class=_CONVERTER, key_converter_version=_RELEASE),
            *_texts(value_converter_class=_CONVERTER, value_converter_version=_RELEASE),
            *_texts(header_converter_class=_CONVERTER, header_converter_version=_RELEASE),
            *_numbers("running-ratio", "running"),
            *_zeros("pause-ratio offset-commit-success-percentage offset-commit-failure-percentage"),
            *_numbers("batch-size-avg batch-size-max offset-commit-avg-time-ms offset-commit-max-time-ms"),
        ),
    ),
    Bean(
        "connector",
        f"kafka.connect:type=task-error-metrics,{_TASK}",
        (
            *_zeros("total-record-failures total-record-errors total-records-skipped total-retries"),
            *_zeros("total-errors-logged deadletterqueue-produce-requests deadletterqueue-produce-failures"),
            *_whole("last-error-timestamp"),
        ),
    ),
    Bean(
        "mirror",
        "kafka.connect:type=source-task-metrics,connector=MirrorSourceConnector,task=0",
        (
            *_numbers("source-record-poll-total source-record-write-total", "records_copied_total"),
            *_numbers("source-record-poll-rate source-record-write-rate", "records_copied_rate"),
            *_zeros("source-record-active-count"),
            *_numbers("source-record-active-count-avg source-record-active-count-max"),
            *_numbers("poll-batch-avg-time-ms poll-batch-max-time-ms"),
        ),
    ),
)
