"""`bin/bench --take-over`: two mirrors share a topic, one is killed, and its partitions move again some time later.

Rule: a committed reader decides, by records that were written after the kill. So the time holds the end of the dead
member's session, the rebalance, and with exactly once the claim of its bundles.
"""

from __future__ import annotations

import time
import uuid
from contextlib import ExitStack, closing
from functools import partial

from confluent_kafka import Consumer, Producer, TopicPartition

from compat.laboratory.bench_measure import FIRST_RECORD_TIMEOUT, STAMP, Site
from compat.laboratory.bench_profiles import OURS, OURS_ONCE
from compat.laboratory.bench_writer import writing
from compat.laboratory.tools import our_mirror_maker
from legacy_mm.audit.cluster_access import create_topic, members
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until

TAKE_OVER_TOOLS = (OURS, OURS_ONCE)
"""The legacy tool chooses partitions anew for records without keys, so that its partitions move by chance."""
SESSION_SECONDS = 10.0
_PARTITIONS = 24
_ROUND_SECONDS = 0.1
_LONGEST = 180.0


def measure_take_over(site: Site, tool: str) -> float:
    """Return the seconds from SIGKILL for one of two mirrors until every partition has moved again."""
    topic = f"take-over-{uuid.uuid4().hex[:8]}"
    for cluster in (site.source, site.target):
        create_topic(cluster.bootstrap, topic, _PARTITIONS)
    with ExitStack() as stack:
        _, dies = [stack.enter_context(_mirror(site, tool, topic, number)) for number in range(2)]
        wait_until(lambda: members(site.source.bootstrap, topic) == 2, FIRST_RECORD_TIMEOUT, "two members")
        stack.enter_context(writing(site.source.bootstrap, _ROUND_SECONDS, partial(_write_round, topic), linger_ms=0))
        with closing(_reader(site.target.bootstrap, topic)) as reader:
            _await_all(reader, 0.0)
            killed = time.time()
            dies.kill_tree()
            return _await_all(reader, killed) - killed


def _mirror(site: Site, tool: str, topic: str, number: int) -> ToolProcess:
    folder = site.folder / f"{tool}-{topic}-{number}"
    consumer = {
        "bootstrap.servers": site.source.bootstrap,
        "group.id": topic,
        "auto.offset.reset": "earliest",
        "session.timeout.ms": f"{SESSION_SECONDS * 1000:.0f}",
    }
    producer, words = {"bootstrap.servers": site.target.bootstrap}, ("--whitelist", topic)
    once = ("--exactly.once", "true") if tool == OURS_ONCE else ()
    return our_mirror_maker(folder, consumer, producer, *words, *once, *site.ours)


def _await_all(reader: Consumer, since: float) -> float:
    """Wait until each partition has a record that was written after this moment; return the time of the last one."""
    moved, end = set[int](), time.monotonic() + _LONGEST
    while len(moved) < _PARTITIONS:
        if time.monotonic() > end:
            raise TimeoutError(f"{_PARTITIONS - len(moved)} partitions do not move within {_LONGEST:g} s")
        message = reader.poll(0.2)
        if message is not None and not message.error():
            value = message.value()
            assert isinstance(value, bytes)
            if STAMP.unpack_from(value)[1] > since:
                moved.add(message.partition() or 0)
    return time.time()


def _reader(bootstrap: str, topic: str) -> Consumer:
    reader = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench-never-joined", "log_level": 0})
    reader.assign([TopicPartition(topic, number, 0) for number in range(_PARTITIONS)])
    return reader


def _write_round(topic: str, producer: Producer) -> None:
    """Write a stamped record to each partition."""
    for number in range(_PARTITIONS):
        producer.produce(topic, STAMP.pack(0, time.time()), partition=number)
    producer.poll(0)
