"""The text that Prometheus gets."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from compat.laboratory.ports import LOOPBACK, Ports
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import HostError
from legacy_mm.base.model import TopicPartition
from legacy_mm.base.reports import Progress
from legacy_mm.metrics import prometheus
from legacy_mm.metrics.health import Phase, State
from legacy_mm.metrics.prometheus import Endpoint, Snapshots
from legacy_mm.metrics.registry import Registry
from tests.fixtures.scrape import probe


class Served:
    """An endpoint that all tests ask: to close one takes half a second."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.snapshots: Snapshots = list
        self.state = State(Phase.RUNNING, (), {})
        self.endpoint = Endpoint(LOOPBACK, port, lambda: self.snapshots(), lambda: self.state)


@pytest.fixture(scope="module")
def one() -> Iterator[Served]:
    ports = Ports()
    made = Served(ports.reserve())
    yield made
    made.endpoint.close()
    ports.release()


@pytest.fixture
def served(one: Served) -> Served:
    """It runs, and has no numbers."""
    one.snapshots, one.state = list, State(Phase.RUNNING, (), {})
    return one


def test_samples_have_flow_and_scope_and_no_value_is_made_up(served: Served) -> None:
    registry = Registry("x->y", "producer-1", {})
    stream = registry.stream(0, "g-0")
    stream.assigned(frozenset({TopicPartition("a", 0)}))
    stream.progress(Progress({}, 7, {"t": 3}, False))
    served.snapshots = lambda: [registry.snapshot()]
    text = probe(served.port, "metrics")[1]
    families = {family.name: family for family in text_string_to_metric_families(text)}
    copied = families["legacy_mm_records_copied"]
    assert [(sample.name, sample.labels, sample.value) for sample in copied.samples] == [
        ("legacy_mm_records_copied_total", {"flow": "x->y"}, 7.0)
    ]
    assigned = families["legacy_mm_consumer_assigned_partitions"]
    assert [(sample.labels, sample.value) for sample in assigned.samples] == [({"flow": "x->y", "client_id": "g-0"}, 1)]
    assert families["legacy_mm_producer_request_latency_avg"].samples == []
    assert not [name for name in families if name.endswith("_rate")]


@pytest.mark.parametrize(
    ("group", "written"),
    [
        *((text, text) for text in ("a:b", "a,b", "a=b", "a*b", "a?b", "a b", "a\tb", "{a}", "é", "日本", "😀")),
        ('a"b', r"a\"b"),
        ("a\\b", r"a\\b"),
        ("a\\nb", r"a\\nb"),
        ("a\nb", r"a\nb"),
    ],
)
def test_a_label_is_escaped_by_prometheus_rules(served: Served, group: str, written: str) -> None:
    """Only a backslash, a quotation mark and a line feed are; what a bean's name quotes besides stands as it is."""
    registry = Registry("x->y", "producer-1", {})
    registry.stream(0, group)
    served.snapshots = lambda: [registry.snapshot()]
    text = probe(served.port, "metrics")[1]
    assert f'legacy_mm_consumer_assigned_partitions{{client_id="{written}",flow="x->y"}} 0.0\n' in text
    families = {family.name: family for family in text_string_to_metric_families(text)}
    labels = [sample.labels["client_id"] for sample in families["legacy_mm_consumer_assigned_partitions"].samples]
    assert labels == [group]


def test_an_address_that_cannot_be_used() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(HostError, match=f"--metrics.port: cannot listen on {LOOPBACK}:{port}: Address already"):
            Endpoint(LOOPBACK, port, list, lambda: State(Phase.STARTING, (), {}))


Answer = tuple[int, str]


OK, ALONE = (200, "ok\n"), (503, "without an assignment: g-0, g-1\n")


@pytest.mark.parametrize(
    ("phase", "outside", "unwritable", "alive", "ready"),
    [
        (Phase.STARTING, [], {}, OK, (503, "is starting\n")),
        (Phase.RUNNING, ["g-1", "g-0"], {"t": "why"}, OK, ALONE),
        (Phase.RUNNING, [], {}, OK, OK),
        (Phase.RUNNING, [], {"u": "so", "t": "why"}, OK, (503, "cannot write to: t (why), u (so)\n")),
        (Phase.STOPPING, [], {}, OK, (503, "is stopping, as a signal asked\n")),
        (Phase.FAILED, [], {}, (503, "has failed and is ending\n"), (503, "has failed and is ending\n")),
    ],
)
def test_probes(
    served: Served, phase: Phase, outside: list[str], unwritable: dict[str, str], alive: Answer, ready: Answer
) -> None:
    served.state = State(phase, outside, unwritable)
    assert probe(served.port, "healthz") == alive
    assert probe(served.port, "readyz") == ready
    assert probe(served.port, "metrics")[0] == 200


@pytest.mark.parametrize("path", ["/healthz/", "/health", "/nope"])
def test_a_probe_that_is_misspelt_does_not_succeed(served: Served, path: str) -> None:
    served.state = State(Phase.FAILED, (), {})
    assert probe(served.port, path.removeprefix("/")) == (404, "not found\n")
    assert probe(served.port, "")[0] == 200


def test_a_health_check_that_hangs_up_is_no_news(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    """HAProxy's ends with a reset."""
    with socket.create_connection((LOOPBACK, served.port)) as caller:
        caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert probe(served.port, "healthz") == OK
    wait_until(lambda: not handlers(), 10, "both callers to be dealt with")
    assert capsys.readouterr().err == ""


def handlers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if "process_request_thread" in thread.name]


def is_hung_up(port: int) -> bool:
    """Whether a caller who says nothing is left without an answer."""
    with socket.create_connection((LOOPBACK, port), timeout=10) as caller:
        return caller.recv(1) == b""


def test_whoever_says_nothing_is_left(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert prometheus._Silent.timeout == 30
    monkeypatch.setattr(prometheus._Silent, "timeout", 0.01)
    assert is_hung_up(served.port)


def test_a_request_that_breaks_the_handler_is_one_line(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        raise ValueError("x")

    monkeypatch.setattr(prometheus._Silent, "handle", fail)
    assert is_hung_up(served.port)
    wait_until(lambda: not handlers(), 10, "the caller to be dealt with")
    assert caplog.messages == ["A request to the port of the metrics failed (ValueError)"]


def test_a_scrape_that_fails_is_one_line(
    served: Served, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    def snapshots() -> list[Any]:
        raise ValueError("hush")

    served.snapshots = snapshots
    assert probe(served.port, "metrics")[0] == 500
    wait_until(lambda: not handlers(), 10, "the caller to be dealt with")
    assert caplog.messages == ["A request to the port of the metrics failed (ValueError)"]
    assert capfd.readouterr().err == ""


def test_a_stream_is_outside_until_it_is_assigned_and_when_it_is_lost() -> None:
    """An empty assignment counts, and partitions that go to another member change nothing."""
    registry = Registry("x->y", "producer-1", {})
    first, second = registry.stream(0, "g-0"), registry.stream(1, "g-1")
    assert registry.without_assignment() == {"g-0", "g-1"}
    first.assigned(frozenset({TopicPartition("a", 0)}))
    second.assigned(frozenset())
    first.owns(frozenset())
    assert registry.without_assignment() == frozenset()
    second.left_group()
    assert registry.without_assignment() == {"g-1"}
    second.assigned(frozenset())
    assert registry.without_assignment() == frozenset()
