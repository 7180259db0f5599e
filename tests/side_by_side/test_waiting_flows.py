"""Flows of MirrorMaker 2's file that must wait, or rename topics in their own cluster: the real MirrorMaker 2 and ours.

An open transaction before a committed reader, a record that is too large for its copy, and two aliases of one cluster.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat.laboratory.cluster import Cluster
from compat.laboratory.tools import java_driver, our_driver
from legacy_mm.audit.cluster_access import create_topic, end_offsets, list_topics, read_all
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from tests.fixtures.driver_files import driver_file

pytestmark = [pytest.mark.brokers, pytest.mark.side_by_side, pytest.mark.spark, pytest.mark.slow]
SECONDS = 120.0
RECORDS = 10
OF_TRANSACTION = 5
LIMIT = 1000
"""The most bytes of a record in the copy."""
OFF = ("emit.heartbeats.enabled", "heartbeats.replication.enabled", "emit.checkpoints.enabled")
ENDED = "Task is being killed and will not recover until manually restarted"
WAITS = "The target does not take big-0 at offset 1"
REFUSED = "Flow {}->T does not run until its configuration is changed"
BY_TOOL = pytest.mark.parametrize("which", ["theirs", "ours"])


@contextmanager
def running(
    which: str, folder: Path, clusters: Mapping[str, Cluster], lines: Mapping[str, str]
) -> Iterator[ToolProcess]:
    """Run a driver without heartbeats and checkpoints."""
    file = driver_file(clusters, **{**lines, **dict.fromkeys(OFF, "false")})
    with (our_driver if which == "ours" else java_driver)(folder / which, file) as tool:
        yield tool


@pytest.fixture(scope="module")
def source(module_clusters: Callable[..., Cluster]) -> Cluster:
    return module_clusters()


@pytest.fixture(scope="module")
def target(module_clusters: Callable[..., Cluster]) -> Cluster:
    return module_clusters()


@BY_TOOL
def test_an_open_transaction_before_a_committed_reader(
    source: Cluster, target: Cluster, tmp_path: Path, which: str
) -> None:
    """Both copy what is before it, and the rest once it ends. Only ours says why it waits, after a minute."""
    alias, topic = f"O{which}", "open"
    if topic not in list_topics(source.bootstrap):
        load(source.bootstrap, topic, RECORDS, 50, partitions=1)
    writer = Producer(
        {"bootstrap.servers": source.bootstrap, "transactional.id": which, "transaction.timeout.ms": 600_000}
    )
    begin = arrived(source, topic)
    writer.init_transactions(30)
    writer.begin_transaction()
    for number in range(OF_TRANSACTION):
        writer.produce(topic, value=b"%d" % number)
    assert writer.flush(30) == 0
    load(source.bootstrap, topic, RECORDS, 50, partitions=1, seed=2)
    before = len(read_all(source.bootstrap, topic, isolation="read_committed"))
    lines = {
        f"{alias}.consumer.isolation.level": "read_committed",
        f"{alias}->T.topics": topic,
        f"{alias}->T.enabled": "true",
    }
    copy = f"{alias}.{topic}"
    with running(which, tmp_path, {alias: source, "T": target}, lines) as tool:
        wait_until(lambda: arrived(target, copy) == before, SECONDS, "what is before the transaction")
        if which == "ours":
            told = f"Nothing of open-0 is read beyond offset {begin}, though its log ends at {arrived(source, topic)}"
            tool.wait_for_output(told, SECONDS)
        assert arrived(target, copy) == before
        writer.commit_transaction(30)
        wait_until(lambda: arrived(target, copy) == before + OF_TRANSACTION + RECORDS, SECONDS, "the rest")
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == 143, tool.output()
    assert ("open-0" in tool.output()) == (which == "ours")


@BY_TOOL
def test_a_record_that_is_too_large_for_its_copy(source: Cluster, target: Cluster, tmp_path: Path, which: str) -> None:
    """The real tool's task ends, with all partitions that it has, and may have sent what comes after the record. Here
    the record waits, and nothing overtakes it.
    """
    alias = f"B{which}"
    for name in ("big", "calm"):
        if name not in list_topics(source.bootstrap):
            create_topic(source.bootstrap, name, 1)
    create_topic(target.bootstrap, f"{alias}.big", 1, config={"max.message.bytes": str(LIMIT)})
    if not arrived(source, "big"):
        writer = Producer({"bootstrap.servers": source.bootstrap})
        for size in (10, 10 * LIMIT, 10):
            writer.produce("big", value=b"x" * size)
            assert writer.flush(30) == 0
    before = arrived(source, "calm")
    lines = {f"{alias}->T.topics": "big,calm", f"{alias}->T.enabled": "true", "sync.topic.configs.enabled": "false"}
    with running(which, tmp_path, {alias: source, "T": target}, lines) as tool:
        tool.wait_for_output(WAITS if which == "ours" else ENDED, SECONDS)
        load(source.bootstrap, "calm", RECORDS, 50, partitions=1)
        if which == "ours":
            wait_until(lambda: arrived(target, f"{alias}.calm") == before + RECORDS, SECONDS, "the neighbour")
        tool.signal(signal.SIGTERM)
        assert tool.wait(SECONDS) == 143, tool.output()
    there = [len(row.value or b"") for row in read_all(target.bootstrap, f"{alias}.big")]
    assert there == [10] if which == "ours" else there in ([10], [10, 10])
    assert (arrived(target, f"{alias}.calm") == before + RECORDS) == (which == "ours")


@BY_TOOL
def test_two_aliases_of_one_cluster_and_a_transform(
    own_clusters: Callable[..., Cluster], tmp_path: Path, which: str
) -> None:
    """A router renames one topic within its cluster, and gives another its own name again. The real tool copies the
    first once and the second without end; ours refuses both.
    """
    here = own_clusters()
    lines: dict[str, str] = {}
    for alias, topic, name in (("renames", "plain", "new-$1"), ("circles", "round", "$1")):
        load(here.bootstrap, topic, RECORDS, 50, partitions=1)
        lines |= {f"{alias}->T.enabled": "true", f"{alias}->T.topics": topic, f"{alias}->T.transforms": "r"}
        lines |= {f"{alias}->T.transforms.r.type": "org.apache.kafka.connect.transforms.RegexRouter"}
        lines |= {f"{alias}->T.transforms.r.regex": f"{alias}[.](.*)", f"{alias}->T.transforms.r.replacement": name}
    with running(which, tmp_path, dict.fromkeys(("renames", "circles", "T"), here), lines) as tool:
        if which == "ours":
            assert tool.wait(SECONDS) == 2, tool.output()
            assert all(REFUSED.format(alias) in tool.output() for alias in ("renames", "circles"))
        else:
            wait_until(lambda: arrived(here, "new-plain") == RECORDS, SECONDS, "the renamed topic")
            wait_until(lambda: arrived(here, "round") >= 100 * RECORDS, SECONDS, "round after round")
            tool.signal(signal.SIGTERM)
            assert tool.wait(SECONDS) == 143, tool.output()
    assert arrived(here, "plain") == RECORDS
    assert arrived(here, "new-plain") == (0 if which == "ours" else RECORDS)
    assert (arrived(here, "round") == RECORDS) == (which == "ours")


def arrived(cluster: Cluster, topic: str) -> int:
    return sum(end_offsets(cluster.bootstrap, topic).values()) if topic in list_topics(cluster.bootstrap) else 0
