"""One broker process and its controls. Rule: a broker keeps its ports and its log folder for life.

`wait_ready` asks the broker itself: it is ready when its own answer to a Metadata request names it,
because Kafka lists a broker only once it is unfenced.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from compat.laboratory.ports import LOOPBACK
from compat.laboratory.raw_request import ask
from legacy_mm.audit.spawn import spawn
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import HostError

READY_TIMEOUT = 120.0  # 4 s were measured on two idle cores; a busy host may take much longer
STOP_TIMEOUT = 60.0
TAIL_LINES = 15
METADATA, METADATA_VERSION, METADATA_VERSION_0_10, METADATA_VERSION_0_9, ASK_SECONDS = 3, 4, 1, 0, 2.0


class Broker:
    """A broker, normally its controller as well; made by a cluster, used through it."""

    def __init__(
        self,
        node: int,
        *,
        folder: Path,
        ports: Mapping[str, int],
        command: Sequence[str],
        metadata_version: int = METADATA_VERSION,
    ) -> None:
        self.node = node
        self.folder = folder
        self.ports = dict(ports)  # listener name -> port that the broker itself listens on
        self.console = folder / "console.log"
        self.log = folder / "server.log"
        self.command = list(command)
        self._metadata_version = metadata_version
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        """The port of the listener PLAINTEXT."""
        return self.ports["PLAINTEXT"]

    @property
    def address(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    @property
    def pid(self) -> int:
        """The process id; HostError when the broker does not run."""
        if self._process is None:
            raise HostError(f"broker {self.node} is not running: start it first")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process; returns before it is ready."""
        if not self.running:
            self._process = spawn(self.command, folder=self.folder, output=self.console)

    def wait_ready(self, *, nodes: frozenset[int] = frozenset(), timeout: float = READY_TIMEOUT) -> None:
        """Wait until this broker answers and lists itself and all `nodes` as alive."""
        wanted = nodes | {self.node}
        wait_until(
            lambda: self._lists(wanted),
            timeout,
            f"broker {self.node} at {self.address} ({self.log})",
        )

    def kill(self) -> None:
        """Send SIGKILL, and wait until it is gone."""
        self._end(signal.SIGKILL)

    def terminate(self) -> None:
        """Send SIGTERM, Kafka's controlled shutdown, and wait until it is gone."""
        self._end(signal.SIGTERM)

    def suspend(self) -> None:
        """Send SIGSTOP: connections stay open, no request is answered."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Send SIGCONT after `suspend`."""
        os.kill(self.pid, signal.SIGCONT)

    def restart(self) -> None:
        """Start again with the same ports and logs, ending it hard first if it runs; wait until ready."""
        self.kill()
        self.start()
        self.wait_ready()

    def _lists(self, wanted: frozenset[int]) -> bool:
        if not self.running:
            raise HostError(f"broker {self.node} ended unexpectedly: {self.last_words()}")
        return wanted <= live_nodes(self.port, self._metadata_version)

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(number)
        self._process.wait(STOP_TIMEOUT)
        self._process = None

    def last_words(self) -> str:
        """Return the last lines of its log and console, for an error message."""
        lines: list[str] = []
        for path in (self.console, self.log):
            if path.is_file():
                lines += path.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
        return "\n".join(lines) or f"nothing was logged in {self.folder}"


def live_nodes(port: int, version: int = METADATA_VERSION) -> frozenset[int]:
    """Return the ids of the brokers that the broker at `port` calls alive, by one Metadata request; OSError if none."""
    since_0_11 = version >= METADATA_VERSION
    no_topics = struct.pack(">i?", 0, False) if since_0_11 else struct.pack(">i", 0)  # and no auto-creation
    answer = ask(LOOPBACK, port, METADATA, version, no_topics, ASK_SECONDS)
    at = 4 if since_0_11 else 0  # after throttle time
    (count,) = struct.unpack_from(">i", answer, at)
    at += 4
    nodes = set()
    for _ in range(count):
        node, length = struct.unpack_from(">ih", answer, at)
        at += 6 + length + 4  # host, port
        if version >= METADATA_VERSION_0_10:
            (rack,) = struct.unpack_from(">h", answer, at)
            at += 2 + max(rack, 0)
        nodes.add(node)
    return frozenset(nodes)
