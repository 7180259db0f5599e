"""`bin/demo active-active`: two clusters, writers on both, one mirror for both directions, a group that moves.

Steps: (1) start the clusters west and east, and the mirror on the file of `samples/dedicated`, (2) write on both, and
let a group read in the west, (3) let it continue in the east with the offsets that were brought over, (4) and in the
west again, (5) stop, and compare what it has read with what was written. Rule: a record that the group never saw ends
the demo with 1.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from confluent_kafka import Consumer, Producer

from compat.laboratory.checkout import COMMANDS, SAMPLES
from compat.laboratory.cluster import Cluster
from compat.laboratory.demo_stage import STOPPED_BY_SIGTERM, fetch_kafka, point_to, say, start_clusters, tail_of
from legacy_mm.audit.cluster_access import all_ends, committed, create_topic, list_topics
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import LegacyMMError

TOPIC, GROUP, PARTITIONS = "orders", "billing", 3
SECONDS = 60.0
WRITE_PAUSE = 0.01
FILE = "mm2.properties"


class Writer(threading.Thread):
    """Writes numbered records to one cluster until it is told to stop."""

    def __init__(self, name: str, cluster: Cluster) -> None:
        super().__init__(name=f"writer-{name}", daemon=True)
        self._name = name
        self._producer = Producer({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
        self._stopping = threading.Event()
        self.written: set[str] = set()

    def run(self) -> None:
        number = 0
        while not self._stopping.wait(WRITE_PAUSE):
            text = f"{self._name}-{number}"
            self._producer.produce(TOPIC, key=text, value=text)
            self.written.add(text)
            number += 1
        self._producer.flush(SECONDS)

    def stop(self) -> None:
        self._stopping.set()
        self.join(SECONDS)


class ActiveActive:
    """One run in a temporary folder; the stack undoes the steps, last first."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._west, self._east = Cluster(folder / "west"), Cluster(folder / "east")
        self._seen: list[str] = []

    def run(self) -> bool:
        """Return True if the group has seen every record of both clusters, wherever it was read."""
        fetch_kafka()
        start_clusters(self._stack, self._west, self._east, ("west", "east"))  # 1
        for cluster in (self._west, self._east):
            create_topic(cluster.bootstrap, TOPIC, PARTITIONS)
        mirror = self._start_mirror()
        try:
            return self._fail_over(mirror)
        except TimeoutError as error:
            raise LegacyMMError(f"{error}; the mirror said:\n{tail_of(mirror)}") from error

    def _fail_over(self, mirror: ToolProcess) -> bool:
        """Perform steps 2 to 5 while the mirror runs; raises TimeoutError."""
        with self._writers() as writers:  # 2
            self._read("west", self._west, "east.orders")
            self._wait_for_offsets(self._east, "west.orders")
            self._read("east", self._east, "west.orders")  # 3
            self._wait_for_offsets(self._west, "east.orders")
            self._read("west", self._west, "east.orders")  # 4
        written = set().union(*(writer.written for writer in writers))
        self._wait_for_copies()
        self._read("west", self._west, "east.orders", until=written)
        mirror.signal(signal.SIGTERM)  # 5
        status = mirror.wait(SECONDS)
        say(f"Stopped the mirror by SIGTERM: exit status {status}")
        return self._judge(written) and status == STOPPED_BY_SIGTERM

    def _start_mirror(self) -> ToolProcess:
        text = (SAMPLES / "dedicated" / FILE).read_text(encoding="ascii")
        path = self._folder / FILE
        path.write_text(text, encoding="ascii")
        for alias, cluster in (("west", self._west), ("east", self._east)):
            point_to(path, cluster.bootstrap, f"{alias}.bootstrap.servers")
        mirror = ToolProcess([str(COMMANDS / "connect-mirror-maker.sh"), str(path)], self._folder / "mirror")
        self._stack.callback(mirror.kill_tree)
        say(f"  $ connect-mirror-maker.sh {FILE}")
        return mirror

    @contextmanager
    def _writers(self) -> Iterator[list[Writer]]:
        writers = [Writer("west", self._west), Writer("east", self._east)]
        for writer in writers:
            writer.start()
        try:
            yield writers
        finally:
            for writer in writers:
                writer.stop()

    def _read(self, name: str, cluster: Cluster, copy: str, until: set[str] | None = None) -> None:
        """Let the group read both topics of a cluster for a while, or until it has seen these records; then commit."""
        wait_until(lambda: copy in list_topics(cluster.bootstrap), SECONDS, f"topic {copy} in the {name}")
        reader = Consumer({
            "bootstrap.servers": cluster.bootstrap, "group.id": GROUP, "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        })  # fmt: skip
        reader.subscribe([TOPIC, copy])
        before = len(self._seen)
        topics: set[str | None] = set()

        def enough() -> bool:
            found = [message for message in reader.consume(100, 0.2) if message.error() is None]
            self._seen += [(message.value() or b"").decode() for message in found]
            topics.update(message.topic() for message in found)
            return until <= set(self._seen) if until is not None else topics == {TOPIC, copy}

        try:
            wait_until(enough, SECONDS, f"group {GROUP} to read in the {name}")
            reader.commit(asynchronous=False)
        finally:
            reader.close()
        say(f"Group {GROUP} has read {len(self._seen) - before:,} records of {TOPIC} and {copy} in the {name}")

    def _wait_for_offsets(self, cluster: Cluster, copy: str) -> None:
        wait_until(lambda: committed(cluster.bootstrap, GROUP, [copy]), SECONDS, f"offsets of {GROUP} for {copy}")

    def _wait_for_copies(self) -> None:
        for here, there, copy in ((self._west, self._east, "west.orders"), (self._east, self._west, "east.orders")):
            wanted = sum(all_ends(here.bootstrap, [TOPIC])[TOPIC].values())

            def all_there(there: Cluster = there, copy: str = copy, wanted: int = wanted) -> bool:
                return sum(all_ends(there.bootstrap, [copy])[copy].values()) >= wanted

            wait_until(all_there, SECONDS, f"{wanted} records in {copy}")

    def _judge(self, written: set[str]) -> bool:
        lost, again = written - set(self._seen), len(self._seen) - len(set(self._seen))
        say(f"Written {len(written):,}, read {len(set(self._seen)):,}, lost {len(lost):,}, read again {again:,}")
        return not lost


def active_active(folder: Path, stack: ExitStack) -> bool:
    """Run the demo; raises LegacyMMError if something does not come in time."""
    try:
        return ActiveActive(folder, stack).run()
    except TimeoutError as error:
        raise LegacyMMError(str(error)) from error
