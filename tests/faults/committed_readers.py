"""What readers and brokers say at the end of a schedule: contract 10.3.

A reader that read all the time, librdkafka, ours and Java's console consumer must see the same records, in the same
order; nothing may be open in any log or at any coordinator.
"""

from __future__ import annotations

import subprocess
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition
from kafka import TopicPartition as Place
from kafka.admin import KafkaAdminClient

from compat.laboratory.cluster import Cluster
from compat.laboratory.jars import kafka_jars
from compat.laboratory.releases import TOOLS
from compat.laboratory.zookeeper import ZooKeeperCluster
from legacy_mm.audit.cluster_access import list_topics, messages
from legacy_mm.audit.ledger import checksum
from legacy_mm.audit.spawn import QUICK_JVM
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.clock import Deadline
from legacy_mm.base.kafka_clients import ConnectionSettings
from legacy_mm.clients.topics.topic_reader import read_topic
from legacy_mm.runtime.jvm.java_home import find_java
from tests.fixtures.exactly_once import COMMITTED

Seen = Mapping[int, Sequence[tuple[int, int]]]
"""Partition -> offset and checksum of each record, in the order in which they came."""
SECONDS = 90.0
TAKEN = 1_000
JAVA_SILENCE_MS = "60000"
_NO_OFFSET = KafkaError._AUTO_OFFSET_RESET


class RunningReader:
    """A committed reader of topics, in a thread, that reads while everything happens."""

    def __init__(self, bootstrap: str, topics: Mapping[str, int]) -> None:
        """`topics`: each with its number of partitions; reads all from the beginning."""
        self.errors: list[str] = []
        self._seen: dict[str, dict[int, list[tuple[int, int]]]] = {topic: defaultdict(list) for topic in topics}
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "running-reader",
                "isolation.level": COMMITTED,
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "check.crcs": True,
                "log_level": 0,
            }
        )
        places = [TopicPartition(topic, number, 0) for topic, count in topics.items() for number in range(count)]
        self._consumer.assign(places)
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._read, name="running-reader")
        self._thread.start()

    def seen(self, topic: str) -> Seen:
        """Return what it has seen so far."""
        return dict(self._seen[topic])

    def close(self) -> None:
        """Read no more."""
        self._enough.set()
        self._thread.join()
        self._consumer.close()

    def _read(self) -> None:
        while not self._enough.is_set():
            for message in self._consumer.consume(TAKEN, 0.2):
                self._take(message)

    def _take(self, message: Any) -> None:
        error = message.error()
        if error is None:
            place = (message.offset(), checksum(message.key(), message.value()))
            self._seen[message.topic()][message.partition()].append(place)
        elif error.code() == _NO_OFFSET:
            self.errors.append(str(error))


@contextmanager
def reading(bootstrap: str, topics: Mapping[str, int]) -> Iterator[RunningReader]:
    """Read in the block."""
    reader = RunningReader(bootstrap, topics)
    try:
        yield reader
    finally:
        reader.close()


def disagreements(running: RunningReader, bootstrap: str, topic: str) -> list[str]:
    """Return what readers do not agree about."""
    wanted = by_librdkafka(bootstrap, topic)
    with suppress(TimeoutError):
        wait_until(lambda: running.seen(topic) == wanted, SECONDS, "the last records")
    readers: dict[str, Callable[[], Seen]] = {
        "the reader that ran all the time": lambda: running.seen(topic),
        "our reader": lambda: by_ours(bootstrap, topic),
        "Java's console consumer": lambda: by_java(bootstrap, topic, sum(map(len, wanted.values()))),
    }
    found = [f"{name}, {line}" for name, read in readers.items() for line in _compared(topic, read(), wanted)]
    return found + running.errors


def by_librdkafka(bootstrap: str, topic: str) -> Seen:
    """Read a topic to its end."""
    found = defaultdict[int, list[tuple[int, int]]](list)
    for message, partition, offset in messages({"bootstrap.servers": bootstrap}, topic, isolation=COMMITTED):
        found[partition].append((offset, checksum(message.key(), message.value())))
    return dict(found)


def by_ours(bootstrap: str, topic: str) -> Seen:
    """Read a topic to its end."""
    found = defaultdict[int, list[tuple[int, int]]](list)
    connection = ConnectionSettings(tuple(bootstrap.split(",")))
    with closing(read_topic(connection, topic, Deadline.after(SECONDS))) as records:
        for partition, record in records:
            found[partition].append((record.offset, checksum(record.key, record.value)))
    return dict(found)


def by_java(bootstrap: str, topic: str, count: int) -> Seen:
    """Read so many records of a topic, or until nothing comes any more."""
    shown = ("print.partition=true", "print.offset=true", "print.key=true")
    words = ["--topic", topic, "--from-beginning", "--isolation-level", COMMITTED, "--timeout-ms", JAVA_SILENCE_MS]
    words += ["--max-messages", str(count)]
    words += [word for each in shown for word in ("--formatter-property", each)]
    found = defaultdict[int, list[tuple[int, int]]](list)
    for line in _tool("consumer.ConsoleConsumer", bootstrap, *words):
        partition, offset, key, value = line.split(b"\t", 3)
        known = None if key == b"null" else key
        found[int(partition.rpartition(b":")[2])].append((int(offset.rpartition(b":")[2]), checksum(known, value)))
    return dict(found)


def hanging(cluster: Cluster | ZooKeeperCluster, *, since_3_0: bool) -> list[str]:
    """Return what is open in a log of the cluster, or hangs by the word of kafka-transactions.sh."""
    topics = list_topics(cluster.bootstrap)
    places = [Place(topic, number) for topic, count in topics.items() for number in range(count)]
    with closing(KafkaAdminClient(bootstrap_servers=cluster.bootstrap)) as admin:
        described = admin.describe_producers(places)
    found = [
        f"{place}: {producer} has an open transaction"
        for place, state in described.items()
        for producer in state.active_producers
        if producer.current_transaction_start_offset != -1
    ]
    for broker in cluster.brokers if since_3_0 else ():
        words = ("find-hanging", "--broker-id", str(broker.node), "--max-transaction-timeout", "0")
        _, *rows = _tool("TransactionsCommand", cluster.bootstrap, *words)
        found += [row.decode() for row in rows]
    return found


def _compared(topic: str, found: Seen, wanted: Seen) -> Iterator[str]:
    for partition in sorted(found.keys() | wanted.keys()):
        ours, other = wanted.get(partition, []), found.get(partition, [])
        if list(ours) != list(other):
            only = [sorted(set(one) - set(two))[:5] for one, two in ((other, ours), (ours, other))]
            yield f"{topic}-{partition}: {len(other)} records instead of {len(ours)}; more: {only[0]}; less: {only[1]}"


def _tool(name: str, bootstrap: str, *words: str) -> list[bytes]:
    """Run one of Kafka's tools, and return its lines."""
    java = [str(find_java()), "-Xmx256m", *QUICK_JVM, "-cp", f"{kafka_jars(TOOLS)}/*", f"org.apache.kafka.tools.{name}"]
    command = [*java, "--bootstrap-server", bootstrap, *words]
    done = subprocess.run(command, capture_output=True, timeout=2 * SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.splitlines()
