"""A real worker of Kafka Connect with its REST API on loopback. Rule: it ends with its context."""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from compat.laboratory.ports import LOOPBACK, Ports
from compat.laboratory.releases import CURRENT
from compat.laboratory.tools import connect_worker
from legacy_mm.audit.cluster_access import commit
from legacy_mm.audit.load import load
from legacy_mm.audit.tool_process import ToolProcess
from legacy_mm.audit.waiting import wait_until
from legacy_mm.base.errors import HostError

QUICK = {"offset.flush.interval.ms": "500", "scheduled.rebalance.max.delay.ms": "0"}
START_SECONDS = 120.0
TOPIC, GROUP = "orders", "readers"
RECORDS, PARTITIONS = 100, 2


class ConnectWorker:
    """One worker, which is its cluster; keywords as for `tools.connect_worker`."""

    def __init__(
        self,
        folder: Path,
        bootstrap: str,
        *,
        release: str = CURRENT,
        distributed: bool = False,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self._ports = Ports()
        port = self._ports.reserve()
        self.url = f"http://{LOOPBACK}:{port}"
        self._start = partial(
            connect_worker,
            folder,
            bootstrap,
            rest_port=port,
            release=release,
            distributed=distributed,
            properties={**QUICK, **(properties or {})},
        )
        self._process: ToolProcess | None = None

    def __enter__(self) -> Self:
        self._process = process = self._start()

        def healthy() -> bool:
            if not process.running():
                raise HostError(f"the Connect worker ended at its start: {process.output()[-2000:]}")
            with urllib.request.urlopen(f"{self.url}/health", timeout=10.0) as answer:
                return bool(answer.status == 200)

        try:
            wait_until(healthy, START_SECONDS, f"the Connect worker at {self.url}")
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def output(self) -> str:
        """Return what it has logged."""
        return self._process.output() if self._process else ""

    def _end(self) -> None:
        if self._process:
            self._process.kill_tree()
        self._ports.release()


def fill_source(bootstrap: str) -> None:
    """Write what the connectors of the script find: a topic, and a group that has read a part of it."""
    load(bootstrap, TOPIC, RECORDS, 20, partitions=PARTITIONS)
    commit(bootstrap, GROUP, {(TOPIC, number): 10 for number in range(PARTITIONS)})
