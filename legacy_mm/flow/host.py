"""Services that a process has once, however many flows run in it: JVM, Spark application and control channel."""

from __future__ import annotations

import queue
import threading
from collections.abc import Container, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legacy_mm.base.clock import Deadline
from legacy_mm.base.errors import HostError, StreamFailure
from legacy_mm.base.settings import HandlerSettings, ListenerSettings, MetricsSettings, ProcessSettings
from legacy_mm.clients.group.member import AssignmentListener
from legacy_mm.controlplane.copy_processes import CopyProcesses
from legacy_mm.controlplane.receipts import Receipts
from legacy_mm.flow import key_stores, plugins
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.task_limit import usable_cores
from legacy_mm.logs import events
from legacy_mm.metrics.health import Phase, State
from legacy_mm.metrics.jmx import Bean, Publisher, beans_of
from legacy_mm.metrics.registry import Registry, Snapshot
from legacy_mm.protocol.kernels import WHY_UNCOMPILED
from legacy_mm.runtime.channel.certificate import channel_identity
from legacy_mm.runtime.channel.channel import ChannelServer
from legacy_mm.runtime.jvm.mbeans import MBeans
from legacy_mm.runtime.spark import task_entry
from legacy_mm.runtime.spark.runner import SparkRunner, one_element, reason_of
from legacy_mm.runtime.spark.session import SparkHost
from legacy_mm.runtime.spark.shipping import build_archive

if TYPE_CHECKING:
    from legacy_mm.clients.topics.shared_writers import SharedWriters
    from legacy_mm.metrics.prometheus import Endpoint

_CLOSE_TIMEOUT = 1.0


class Host:
    """JVM, Spark application, control channel and metrics of this process; they start while the caller continues."""

    def __init__(
        self,
        settings: ProcessSettings,
        spark: SparkHost,
        beans: Iterable[Bean],
        handler: HandlerSettings | None = None,
        *,
        outlives_flows: bool = False,
    ) -> None:
        """Take what all mirrors of the process share, and go on with the start of Spark.

        `spark` was begun for these settings, and is closed with the host. `handler`: the one with which mirrors begin.
        `outlives_flows`: an error of one flow leaves the host open for the others.
        """
        self.spark = spark
        self._outlives_flows = outlives_flows
        self.registries: list[Registry] = []
        self.exits: queue.SimpleQueue[int] = queue.SimpleQueue()
        """Exit codes of message handlers that end the program."""
        self.phase = Phase.STARTING
        self.failed_flows: dict[str, str] = {}
        """Flows that do not run while the others do, and why."""
        self._context: Future[Any] = Future()
        with ExitStack() as undo:
            undo.callback(lambda: spark.stop(Deadline.after(_CLOSE_TIMEOUT)))
            self.receipts = None if settings.receipts is None else Receipts(settings.receipts)
            if self.receipts is not None:
                undo.callback(self.receipts.close)
            if WHY_UNCOMPILED:
                events.emit(events.KERNELS_UNCOMPILED, reason=WHY_UNCOMPILED)
            self._endpoint = self._serve_metrics(settings.metrics)
            if self._endpoint is not None:
                undo.callback(self._endpoint.close)
            self.channel = ChannelServer(*channel_identity(embedded=settings.spark.embedded))
            undo.callback(self.channel.close)
            spark.preload(task_entry.TASK_MODULE)
            self.runner = SparkRunner(self._context, task_entry.copy, spark.make_folders)
            self.processes = CopyProcesses(self.channel, self.runner, usable_cores())
            self._publisher = Publisher(lambda: beans_of(self.snapshots(), beans), MBeans(spark.jvm))
            start = threading.Thread(target=self._start_spark, args=[handler], name="spark-start", daemon=True)
            start.start()
            undo.pop_all()

    def with_stores(self, settings: Settings) -> Settings:
        """Return the settings with the content of their Java key stores; close the host if one cannot be read."""
        with self.closed_on_error():
            return key_stores.with_stores(settings, lambda: self.spark.jvm)

    def with_plugins(self, settings: Settings) -> Settings:
        """Return the settings with a handler that can be made; close the host if it cannot."""
        if settings.handler is None:
            return settings
        with self.closed_on_error():
            ready = plugins.ready_handler(settings.handler, lambda: self.spark.jvm)
        return replace(settings, handler=ready if self.spark.embedded else plugins.on_workers(ready))

    def listener(self, settings: ListenerSettings | None) -> AssignmentListener | None:
        """Return the rebalance listener of all streams; close the host if it cannot be made."""
        if settings is None:
            return None
        with self.closed_on_error():
            return plugins.make_listener(settings, lambda: self.spark.jvm)

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close the host if anything raises inside, unless it outlives its flows."""
        try:
            yield
        except BaseException:
            if not self._outlives_flows:
                self.close(Deadline.after(_CLOSE_TIMEOUT))
            raise

    @cached_property
    def writers(self) -> SharedWriters:
        """The writers of internal topics that the flows share."""
        from legacy_mm.clients.topics.shared_writers import SharedWriters

        return SharedWriters()

    def failure(self) -> BaseException | None:
        """Return the reason why Spark cannot run any more, or None."""
        if self._context.done() and (error := self._context.exception()) is not None:
            return error
        return None if self.spark.jvm.alive() else StreamFailure("the Java process for Spark has ended")

    def close(self, deadline: Deadline) -> None:
        """End Spark, the channel and the metrics; kill what has not ended by the deadline."""
        self._publisher.stop()
        if self.receipts is not None:
            self.receipts.close()
        if self._endpoint is not None:
            self._endpoint.close()
        self.channel.close()
        self.spark.stop(deadline)

    def _start_spark(self, handler: HandlerSettings | None) -> None:
        try:
            context = self.spark.context(None if self.spark.embedded else self._archive(handler))
            self._context.set_result(context)
            if self.spark.embedded:
                if handler is None:  # with one, each flow begins with a process of its own
                    self.processes.warm_up()
            else:
                one_element(context, 0).foreach(task_entry.wake)
            self._publisher.start()
        except Exception as error:  # noqa: BLE001 - asked for by `failure`
            if not self._context.done():
                self._context.set_exception(HostError(f"Spark does not start: {reason_of(error)}"))

    def _archive(self, handler: HandlerSettings | None) -> Path:
        works, code = ([], {}) if handler is None else plugins.shipment(handler)
        return build_archive(self.spark.folder, ["copy", *works], code)

    def snapshots(self, only: Container[str] | None = None) -> list[Snapshot]:
        """Return the counts of all flows, or only the measures of these names."""
        return [registry.snapshot(only) for registry in self.registries]

    def _serve_metrics(self, settings: MetricsSettings) -> Endpoint | None:
        """Start the metrics server, only if it was asked for (invariant E)."""
        if settings.port is None:
            return None
        from legacy_mm.metrics.prometheus import Endpoint

        return Endpoint(settings.address, settings.port, self.snapshots, self.state)

    def state(self) -> State:
        """Return what probes ask about."""
        unwritable: dict[str, str] = {}
        for registry in self.registries:
            unwritable |= registry.unwritable()
        outside = frozenset().union(*(registry.without_assignment() for registry in self.registries))
        return State(self.phase, outside, unwritable, dict(self.failed_flows))
