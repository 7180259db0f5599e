"""Real Kafka on loopback: a KRaft cluster of one or three brokers. Rule: it leaves nothing behind.

Brokers die with their parent, and everything they write is under the folder that was given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from compat.laboratory.broker import Broker
from compat.laboratory.class_archives import ClassArchive
from compat.laboratory.formatted_folders import FormattedFolders, new_id
from compat.laboratory.jars import kafka_jars
from compat.laboratory.ports import LOOPBACK, Ports
from compat.laboratory.releases import CURRENT, find_release
from legacy_mm.audit.java_files import write_log_configuration, write_properties
from legacy_mm.audit.spawn import QUICK_JVM, spawn
from legacy_mm.base.errors import HostError
from legacy_mm.runtime.jvm.java_home import find_java

MAIN, CONTROLLER, PROXIED = "PLAINTEXT", "CONTROLLER", "PROXIED"
PROGRAM = "kafka.Kafka"
FORMAT_TIMEOUT = 120
_LOGS = "logs"
"""The folder of a broker's logs, in its own folder."""

DEFAULTS: Mapping[str, str] = {
    "num.partitions": "4",
    "auto.create.topics.enable": "true",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
    "log.segment.bytes": "268435456",
    "log.retention.ms": "-1",  # records with old timestamps must not vanish under a test
    "broker.session.timeout.ms": "4000",  # 9 s by default: a killed broker cannot come back sooner
    "broker.heartbeat.interval.ms": "500",
    "log.cleaner.backoff.ms": "1000",  # 15 s by default: tests would wait for compaction
    "log.cleaner.dedupe.buffer.size": "8388608",  # 128 MB by default, a quarter of the heap
}

Advertise = Callable[[int], tuple[str, int]]


class Cluster:
    """A KRaft cluster of combined brokers and controllers on free loopback ports.

    `properties` overrides server properties, `format_options` are words for the storage tool.
    `listeners` adds listeners (name -> security protocol), `lacking` takes some away (broker -> names).
    `advertise` adds the listener PROXIED: it is called once per broker with the port that the broker
    listens on and answers the (host, port) to advertise, normally a `Proxy` that it has put in front.
    """

    def __init__(
        self,
        folder: Path,
        *,
        release: str = CURRENT,
        brokers: int = 1,
        properties: Mapping[str, str] = {},
        listeners: Mapping[str, str] = {},
        lacking: Mapping[int, Collection[str]] = {},
        advertise: Advertise | None = None,
        heap: str = "512m",
        jvm: Sequence[str] = QUICK_JVM,
        format_options: Sequence[str] = (),
    ) -> None:
        self.folder = folder.resolve()
        self.release = find_release(release)
        self.brokers: list[Broker] = []
        self._count = brokers
        self._properties = dict(properties)
        self._protocols = {MAIN: "PLAINTEXT", **listeners, CONTROLLER: "PLAINTEXT"}
        if advertise is not None:
            self._protocols[PROXIED] = "PLAINTEXT"
        self._lacking = lacking
        self._advertise = advertise
        self._advertised: dict[str, list[str]] = {}
        self._jvm = [f"-Xmx{heap}", "-Djava.awt.headless=true", *jvm]
        self._format_options = format_options
        self._ports = Ports()

    @property
    def bootstrap(self) -> str:
        """Addresses of the listener PLAINTEXT."""
        return self.bootstrap_of(MAIN)

    def bootstrap_of(self, listener: str) -> str:
        """Return the addresses that a listener advertises, for instance of PROXIED."""
        if listener not in self._advertised:
            raise HostError(f"the cluster in {self.folder} has no listener {listener}, or is not started")
        return ",".join(self._advertised[listener])

    def start(self) -> Self:
        """Format, start, and wait until every broker lists every other; HostError when one dies."""
        try:
            if not self.brokers:
                self._make_brokers()
            for broker in self.brokers:
                broker.start()
            self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def wait_ready(self) -> None:
        """Wait until every running broker lists every running broker."""
        running = [broker for broker in self.brokers if broker.running] or self.brokers
        nodes = frozenset(broker.node for broker in running)
        for broker in running:
            broker.wait_ready(nodes=nodes)

    def stop(self) -> None:
        """End all brokers hard: nothing of a test cluster is kept. Logs stay in the folder."""
        for broker in self.brokers:
            broker.kill()
        self._ports.release()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _make_brokers(self) -> None:
        jars = kafka_jars(self.release.version)
        nodes = range(1, self._count + 1)
        ports = {node: {name: self._ports.reserve() for name in self._names(node)} for node in nodes}
        voters = ",".join(f"{node}@{LOOPBACK}:{ports[node][CONTROLLER]}" for node in nodes)
        made = [self._make_broker(node, ports=ports[node], voters=voters, jars=jars) for node in nodes]
        folders, cluster_id = FormattedFolders(self.release, self._format_options), new_id()
        for broker in made:
            by_tool = partial(self._format, broker, cluster_id, jars)
            folders.format(broker.folder / _LOGS, broker.node, cluster_id, by_tool)
        self.brokers = made

    def _names(self, node: int) -> list[str]:
        """Return the names of a broker's listeners."""
        return [name for name in self._protocols if name not in self._lacking.get(node, ())]

    def _make_broker(self, node: int, *, ports: Mapping[str, int], voters: str, jars: Path) -> Broker:
        folder = self.folder / f"broker-{node}"
        folder.mkdir(parents=True, exist_ok=True)
        logging = write_log_configuration(
            folder / "log4j.properties",
            generation=self.release.log4j,
            level="INFO",
            file=folder / "server.log",
        )
        settings = write_properties(
            folder / "server.properties", self._settings(node, folder, ports=ports, voters=voters)
        )
        command = [
            str(find_java()),
            *self._jvm,
            *ClassArchive(self.release, PROGRAM).options(),
            logging,
            "-cp",
            f"{jars}/*",
            PROGRAM,
            str(settings),
        ]
        return Broker(node, folder=folder, ports=ports, command=command)

    def _settings(self, node: int, folder: Path, *, ports: Mapping[str, int], voters: str) -> dict[str, str]:
        advertised = {name: (LOOPBACK, port) for name, port in ports.items() if name != CONTROLLER}
        if self._advertise is not None:
            advertised[PROXIED] = self._advertise(ports[PROXIED])
        for name, (host, port) in advertised.items():
            self._advertised.setdefault(name, []).append(f"{host}:{port}")
        copies, in_sync = ("3", "2") if self._count >= 3 else ("1", "1")
        return {
            "process.roles": "broker,controller",
            "node.id": str(node),
            "controller.quorum.voters": voters,
            "controller.listener.names": CONTROLLER,
            "inter.broker.listener.name": MAIN,
            "listeners": ",".join(f"{name}://{LOOPBACK}:{port}" for name, port in ports.items()),
            "advertised.listeners": ",".join(f"{name}://{host}:{port}" for name, (host, port) in advertised.items()),
            "listener.security.protocol.map": ",".join(
                f"{name}:{protocol}" for name, protocol in self._protocols.items()
            ),
            "log.dirs": str(folder / _LOGS),
            "default.replication.factor": copies,
            "min.insync.replicas": in_sync,
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": in_sync,
            "share.coordinator.state.topic.replication.factor": copies,
            "share.coordinator.state.topic.min.isr": in_sync,
            **DEFAULTS,
            **self._properties,
        }

    def _format(self, broker: Broker, cluster_id: str, jars: Path) -> None:
        arguments = ["format", f"--cluster-id={cluster_id}", "-c", str(broker.folder / "server.properties")]
        arguments += self._format_options
        logging = next(word for word in broker.command if word.startswith("-Dlog4j"))
        command = [str(find_java()), "-Xmx128m", *QUICK_JVM, logging, "-cp", f"{jars}/*", "kafka.tools.StorageTool"]
        tool = spawn([*command, *arguments], folder=broker.folder, output=broker.console)
        if tool.wait(FORMAT_TIMEOUT) != 0:
            raise HostError(f"broker {broker.node} cannot be formatted: {broker.last_words()}")
