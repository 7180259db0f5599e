"""Brokers of the releases that need a ZooKeeper, on loopback: one or three, and one ZooKeeper. Rule: it leaves nothing
behind.

They were made for Java 8; on a newer one they run with the jars that `releases.py` adds.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from compat.laboratory.broker import METADATA_VERSION_0_9, METADATA_VERSION_0_10, Broker
from compat.laboratory.cluster import DEFAULTS, MAIN, PROXIED, Advertise
from compat.laboratory.jars import kafka_jars
from compat.laboratory.ports import LOOPBACK, Ports
from compat.laboratory.releases import HANDLERS_0_9, OLDEST, find_release
from legacy_mm.audit.java_files import write_log_configuration, write_properties
from legacy_mm.audit.spawn import QUICK_JVM, spawn
from legacy_mm.audit.waiting import wait_until
from legacy_mm.runtime.jvm.java_home import find_java

START_TIMEOUT = 60.0
_NO_LOG_BEANS = "-Dzookeeper.jmx.log4j.disable=true"  # reload4j has none


class ZooKeeperCluster:
    """Brokers of an old release and their ZooKeeper; `properties` overrides server properties.

    `advertise` is that of `Cluster`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        release: str,
        brokers: int = 1,
        properties: Mapping[str, str] = {},
        advertise: Advertise | None = None,
        java: Path | None = None,
    ) -> None:
        self.folder = folder.resolve()
        self.release = find_release(release)
        self.brokers: list[Broker] = []
        self._count = brokers
        self._properties = dict(properties)
        self._advertise = advertise
        self._advertised: list[str] = []
        self._java = str(java or find_java())
        self._ports = Ports()
        self._keeper: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """Addresses of its brokers."""
        return ",".join(broker.address for broker in self.brokers)

    def bootstrap_of(self, listener: str) -> str:
        """Return the addresses that a listener advertises, for instance of PROXIED."""
        return ",".join(self._advertised) if listener == PROXIED else self.bootstrap

    @property
    def broker(self) -> Broker:
        """The first broker; it can be killed and started again."""
        return self.brokers[0]

    def start(self) -> Self:
        """Start ZooKeeper, then the brokers; HostError if one dies."""
        try:
            keeper = self._start_keeper()
            self.brokers = [self._make_broker(node, keeper) for node in range(1, self._count + 1)]
            for broker in self.brokers:
                broker.start()
            if self.release.version == OLDEST:  # without a topic it calls no broker alive
                wait_until(lambda: _is_open(self.broker), START_TIMEOUT, f"the broker ({self.folder})")
            else:
                self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def wait_ready(self) -> None:
        """Wait until every broker lists every other."""
        nodes = frozenset(broker.node for broker in self.brokers)
        for broker in self.brokers:
            broker.wait_ready(nodes=nodes)

    def stop(self) -> None:
        """End all hard. Logs stay in the folder."""
        for broker in self.brokers:
            broker.kill()
        if self._keeper is not None:
            self._keeper.kill()
            self._keeper.wait()
        self._ports.release()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _start_keeper(self) -> int:
        folder, port = self.folder / "zookeeper", self._ports.reserve()
        folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "dataDir": str(folder / "data"),
            "clientPort": str(port),
            "clientPortAddress": LOOPBACK,
            "admin.enableServer": "false",  # since 3.5: HTTP on port 8080
            "tickTime": "500",  # a session takes two at least
        }
        file = write_properties(folder / "zookeeper.properties", settings)
        command = self._command(folder, "128m", "org.apache.zookeeper.server.ZooKeeperServerMain", file)
        self._keeper = spawn(command, folder=folder, output=folder / "console.log")
        wait_until(lambda: _answers(port), START_TIMEOUT, f"ZooKeeper ({folder})")
        return port

    def _make_broker(self, node: int, keeper: int) -> Broker:
        folder, port = self.folder / f"broker-{node}", self._ports.reserve()
        folder.mkdir(parents=True, exist_ok=True)
        copies, in_sync = ("3", "2") if self._count >= 3 else ("1", "1")
        settings = {
            "broker.id": str(node),
            "zookeeper.connect": f"{LOOPBACK}:{keeper}",
            "listeners": f"{MAIN}://{LOOPBACK}:{port}",
            "log.dirs": str(folder / "logs"),
            "min.insync.replicas": in_sync,
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": in_sync,
            **self._proxied_settings(port),
            **DEFAULTS,
            **self._properties,
        }
        if self.release.version == OLDEST:
            settings |= {"port": str(port), "host.name": LOOPBACK, "log.retention.ms": str((1 << 31) - 1)}
        file = write_properties(folder / "server.properties", settings)
        command = self._command(folder, "512m", "kafka.Kafka", file)
        asked = METADATA_VERSION_0_9 if self.release.version == HANDLERS_0_9 else METADATA_VERSION_0_10
        return Broker(node, folder=folder, ports={MAIN: port}, command=command, metadata_version=asked)

    def _proxied_settings(self, port: int) -> dict[str, str]:
        if self._advertise is None:
            return {}
        own_port = self._ports.reserve()
        host, far_port = self._advertise(own_port)
        self._advertised.append(f"{host}:{far_port}")
        return {
            "listeners": f"{MAIN}://{LOOPBACK}:{port},{PROXIED}://{LOOPBACK}:{own_port}",
            "advertised.listeners": f"{MAIN}://{LOOPBACK}:{port},{PROXIED}://{host}:{far_port}",
            "listener.security.protocol.map": f"{MAIN}:PLAINTEXT,{PROXIED}:PLAINTEXT",
            "inter.broker.listener.name": MAIN,
            "zookeeper.session.timeout.ms": "2500",  # until then a killed broker cannot come back
        }

    def _command(self, folder: Path, heap: str, program: str, file: Path) -> list[str]:
        level, log = "INFO", folder / "server.log"
        logging = write_log_configuration(folder / "log4j.properties", generation=1, level=level, file=log)
        jars = f"{kafka_jars(self.release.version)}/*"
        flags = [f"-Xmx{heap}", "-Djava.awt.headless=true", *QUICK_JVM, _NO_LOG_BEANS, logging]
        return [self._java, *flags, "-cp", jars, program, str(file)]


def _is_open(broker: Broker) -> bool:
    with socket.create_connection((LOOPBACK, broker.port), timeout=2.0):
        return broker.running


def _answers(port: int) -> bool:
    with socket.create_connection((LOOPBACK, port), timeout=2.0) as connection:
        connection.sendall(b"srvr")  # the only four-letter word that 3.5 allows by default
        return connection.recv(64).startswith(b"Zookeeper version")
