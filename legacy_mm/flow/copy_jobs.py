"""Copy jobs of one flow, and the task config of the next one."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from legacy_mm.base.errors import FailureKind
from legacy_mm.base.model import Offsets
from legacy_mm.base.settings import ExactlyOnceSettings, HandlerSettings
from legacy_mm.controlplane.copy_job import CopyJob, CopyTrouble
from legacy_mm.controlplane.copy_processes import CopyProcesses
from legacy_mm.controlplane.copy_worker import CopyWorker
from legacy_mm.controlplane.task_reports import TaskReports
from legacy_mm.features.topic_creation.feature import TOPIC_CREATION
from legacy_mm.flow.feature_work import FeatureWork
from legacy_mm.flow.flow_settings import Settings
from legacy_mm.flow.flow_topics import FlowTopics
from legacy_mm.flow.host import Host
from legacy_mm.flow.task_limit import usable_cores
from legacy_mm.flow.topic_steps import TopicSteps, move_whole_topics
from legacy_mm.handlers.held_code import HeldCode
from legacy_mm.handlers.loader import needs_java
from legacy_mm.logs import events
from legacy_mm.metrics.registry import StreamMetrics
from legacy_mm.runtime.channel.frames import LEASE_TIMEOUT, TaskConfig
from legacy_mm.runtime.spark.runner import SparkRunner


class CopyJobFactory:
    """Makes copy jobs, and remembers what an earlier job found out about the clusters."""

    def __init__(self, settings: Settings, host: Host, names: FlowTopics, work: FeatureWork) -> None:
        """Take the settings, and what all copy jobs of the flow share.

        The host gives a copy job a worker of its own; embedded, jobs share its processes, and those with a handler have
        others: as many for Java as there are cores, one for each job where Python handles the records. The work of the
        features may prepare the target, and take the offset pairs of what was copied.
        """
        self._settings = settings
        self._host = host
        self._names = names
        self._work = work
        self._target = settings.target.client
        self._lock = threading.Lock()
        self._moves_whole_topics = move_whole_topics(settings)
        self._steps: TopicSteps | None = None
        """The handler's, if it has any."""
        self._held: HeldCode | None = None
        """The handler's code, where its tasks run on this host."""
        self._handling: CopyProcesses | None = None
        handler = settings.handler
        if handler is not None and handler.steps:
            self._steps = TopicSteps(handler.steps, lambda: host.spark.jvm)
        if handler is not None and host.spark.embedded:
            self._held = HeldCode(handler, host.spark.folder / "code")
        if handler is not None and not self._moves_whole_topics:
            most = usable_cores() if needs_java(handler) else None
            self._handling = CopyProcesses(host.channel, host.runner, most, self._handler_now)

    def warm_up(self) -> None:
        """Start a process for the first copy job with a handler before there is one."""
        if self._handling is not None and self._settings.process.spark.embedded:
            self._handling.warm_up()

    def start(
        self,
        stream: int,
        generation: int,
        offsets: Offsets,
        metrics: StreamMetrics,
        exactly_once: ExactlyOnceSettings | None = None,
    ) -> CopyJob:
        """Start a copy job of this stream from these offsets."""
        settings, work, channel = self._settings, self._work, self._host.channel
        compacted = () if work.duties is None else work.duties.before_copying()
        pairs = None if work.offsets is None else work.offsets.pairs
        names = {partition.topic: self._names.at_target(partition.topic) for partition in offsets}
        keeps_partition = self._names.keeps_partition(names)
        handler = None if self._moves_whole_topics else self._handler(names)
        if self._moves_whole_topics and self._steps is not None:
            keeps_partition = list(names) if self._steps.keep_partition else keeps_partition
            names = self._named(names, self._steps)
        config = TaskConfig(
            offsets=offsets,
            names=names,
            source=settings.source.client.named(settings.client_id(stream)),
            target=self._target,
            report_interval=max(0.1, settings.commit_interval),
            api_timeout=settings.source.api_timeout,
            abort_on_send_failure=settings.target.abort_on_send_failure,
            synchronous=settings.target.synchronous,
            receipts=settings.process.receipts is not None,
            handler=handler,
            quarantine=settings.quarantine,
            keeps_partition=keeps_partition,
            topics_made=settings.features[TOPIC_CREATION] is not None,
            compacted=[topic for topic in compacted if topic in names],
            pairs=pairs is not None,
            exactly_once=exactly_once,
            records_may_wait=settings.target.records_may_wait and not settings.quarantine.refused,
            begins_unseen=not settings.features.concern_both_ends,
        )
        ticket = channel.new_ticket(settings.flow, stream, generation)
        worker = CopyWorker(ticket, self._runs(config), embedded=settings.process.spark.embedded)
        reports = TaskReports(metrics, pairs, self._host.exits.put)
        unattended_seconds = max(LEASE_TIMEOUT, settings.source.max_poll_interval - 2 * LEASE_TIMEOUT)
        job = CopyJob(worker, config, channel, reports, unattended_seconds)
        job.start(f"{settings.flow} stream {stream} generation {generation}: {len(offsets)} partitions")
        return job

    def _runs(self, config: TaskConfig) -> SparkRunner | CopyProcesses:
        """Return what runs the copy job with this task config."""
        if not self._settings.process.spark.embedded:
            return self._host.runner
        return self._host.processes if config.handler is None or self._handling is None else self._handling

    def _named(self, names: Mapping[str, str], steps: TopicSteps) -> dict[str, str]:
        """Return source topic -> its name behind the steps, without dropped topics; raises HandlerFailure."""
        assert self._settings.handler is not None
        seen = names if self._settings.handler.of_connect else {topic: topic for topic in names}
        made = steps.names({*seen.values()})
        return {topic: made[name] for topic, name in seen.items() if name in made}

    def _handler(self, names: Mapping[str, str]) -> HandlerSettings | None:
        """Return the handler settings for a task that sees these topics; raises HandlerFailure."""
        settings = self._settings.handler
        if settings is not None and settings.transforms is not None:
            return (self._handler_now() or settings).seeing(names)
        if settings is None or self._steps is None:
            return self._handler_now()
        steps = self._steps.behind(names) if settings.of_connect else self._steps.exact(names)
        return replace(settings, steps=steps)

    def _handler_now(self) -> HandlerSettings | None:
        """Return the handler settings for a process that begins now."""
        return self._settings.handler if self._held is None else self._held.settings()

    def adapt(self, trouble: CopyTrouble) -> bool:
        """Change the next task configs if that helps against this trouble; return False if it does not."""
        return trouble.kind is FailureKind.IDEMPOTENCE_REFUSED and self._without_idempotence(trouble.reason)

    def _without_idempotence(self, reason: str) -> bool:
        """Use one request in flight and no producer id from now on; return False if the user asked for idempotence by
        name.
        """
        if self._settings.target.idempotence_required:
            return False
        with self._lock:
            if self._target.produce.idempotent:
                events.emit(events.IDEMPOTENCE_REFUSED, reason=reason)
                self._target = self._target.without_idempotence()
        return True
