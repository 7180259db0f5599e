"""The text that Prometheus gets."""

from __future__ import annotations

import socket
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from legacy_mm.copyjob import Progress
from legacy_mm.errors import HostError
from legacy_mm.metrics.prometheus import Endpoint
from legacy_mm.metrics.registry import Registry
from legacy_mm.model import TopicPartition
from legacy_mm.testbed.ports import LOOPBACK, Ports


def test_samples_have_flow_and_scope_and_no_value_is_made_up() -> None:
    registry, ports = Registry("x->y", "producer-1", {}), Ports()
    stream = registry.stream(0, "g-0")
    stream.assigned(frozenset({TopicPartition("a", 0)}))
    stream.progress(Progress({}, 7, 3, False))
    port = ports.reserve()
    endpoint = Endpoint(LOOPBACK, port, lambda: [registry.snapshot()])
    try:
        with urllib.request.urlopen(f"http://{LOOPBACK}:{port}/metrics", timeout=10) as answer:
            families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    finally:
        endpoint.close()
        ports.release()
    copied = families["legacy_mm_records_copied"]
    assert [(sample.name, sample.labels, sample.value) for sample in copied.samples] == [
        ("legacy_mm_records_copied_total", {"flow": "x->y"}, 7.0)
    ]
    assigned = families["legacy_mm_consumer_assigned_partitions"]
    assert [(sample.labels, sample.value) for sample in assigned.samples] == [({"flow": "x->y", "client_id": "g-0"}, 1)]
    assert families["legacy_mm_producer_request_latency_avg"].samples == []
    assert not [name for name in families if name.endswith("_rate")]


def test_an_address_that_cannot_be_used() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HostError, match=f"--metrics.port: cannot listen on {LOOPBACK}:{port}: Address already"):
            Endpoint(LOOPBACK, port, list)
